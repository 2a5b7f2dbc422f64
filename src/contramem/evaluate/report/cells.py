"""Cells: numbers of a table, as text for people and as values for CSV. An unknown number is `n/a`, never 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["", "good", "bad", "dim", "strong"]
"""What a cell means. Each format renders it in its own way: a terminal in colour, LaTeX `strong` in bold, CSV not."""

NOT_KNOWN = "n/a"


@dataclass(frozen=True)
class Cell:
    """One entry of a table."""

    text: str
    value: float | tuple[float, float] | None = None
    """The unrounded number in the same unit, for CSV. An interval fills two columns there."""
    tone: Tone = ""

    def __str__(self) -> str:
        return self.text


def unknown() -> Cell:
    """A value that was not measured, or that there is too little data for. Empty in CSV."""
    return Cell(NOT_KNOWN, tone="dim")


def number(value: float | None, digits: int = 0, tone: Tone = "") -> Cell:
    """A number with thousands separators: `1,234.5`."""
    return unknown() if value is None else Cell(_minus(f"{value:,.{digits}f}"), value, tone)


def percent(share: float | None, tone: Tone = "") -> Cell:
    """A share in percent, without the percent sign (`40.6`), which belongs in the header."""
    return unknown() if share is None else Cell(_minus(f"{100 * share:.1f}"), 100 * share, tone)


def difference_cell(value: float | None, digits: int = 0, tone: Tone = "") -> Cell:
    """A difference with its sign; zero has none."""
    return unknown() if value is None else Cell(with_sign(value, digits), value, tone)


def points(share: float | None, *, good: Literal["up", "down", ""] = "up") -> Cell:
    """A difference of shares in percentage points. `good` says which direction is better, if any."""
    return unknown() if share is None else Cell(with_sign(100 * share, 1), 100 * share, better(share, good))


def between(interval: tuple[float, float] | None, *, scale: float = 100, digits: int = 1, sign: bool = True) -> Cell:
    """An interval: `−30.0 to +30.0`."""
    if interval is None:
        return unknown()
    low, high = (scale * end for end in interval)
    written = (with_sign(end, digits) if sign else _minus(f"{end:,.{digits}f}") for end in (low, high))
    return Cell(" to ".join(written), (low, high))


def better(difference: float, good: Literal["up", "down", ""]) -> Tone:
    """The tone of a difference: good, bad or neutral."""
    if not good or not difference:
        return ""
    return "good" if (difference > 0) == (good == "up") else "bad"


def with_sign(value: float, digits: int = 0) -> str:
    """A number with its sign and a typographic minus; zero has no sign."""
    text = f"{value:+,.{digits}f}"
    return _minus(text) if text.strip("+-0.,") else text[1:]


def _minus(text: str) -> str:
    return text.replace("-", "−")
