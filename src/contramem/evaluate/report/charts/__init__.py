"""Charts: each takes plain data and returns a Figure with an SVG drawing and the same numbers as a table."""
