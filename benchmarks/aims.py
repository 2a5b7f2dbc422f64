"""What a benchmark aims at. One that misses an aim says so and ends with exit code 1."""

from __future__ import annotations

from collections.abc import Iterable


def tell_missed(missed: Iterable[str]) -> None:
    """Name the aims that were missed, and end with exit code 1 if there are any."""
    lines = list(missed)
    for line in lines:
        print(f"missed: {line}")
    raise SystemExit(bool(lines))
