"""Charts: plain data in, a Figure out. Each draws SVG and makes the table that says the same."""
