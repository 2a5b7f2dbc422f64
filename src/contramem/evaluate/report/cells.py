"""Cells: how a number is written in a table, for people and for machines. What is unknown is `n/a`, never 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["", "good", "bad", "dim", "strong"]
"""What a cell means, not how it looks: a terminal colours it, LaTeX sets `strong` in bold, CSV knows nothing of it."""

NOT_KNOWN = "n/a"


@dataclass(frozen=True)
class Cell:
    """One entry of a table."""

    text: str
    value: float | tuple[float, float] | None = None
    """The number behind the text, unrounded and in the same unit, for CSV. An interval fills two columns there."""
    tone: Tone = ""

    def __str__(self) -> str:
        return self.text


def unknown() -> Cell:
    """Nobody measured it, or there is too little data. CSV leaves it empty."""
    return Cell(NOT_KNOWN, tone="dim")


def number(value: float | None, digits: int = 0, tone: Tone = "") -> Cell:
    """With thousands separated: `1,234.5`."""
    return unknown() if value is None else Cell(_minus(f"{value:,.{digits}f}"), value, tone)


def percent(share: float | None, tone: Tone = "") -> Cell:
    """A share in per cent, without the sign: `40.6`. The header says what it is."""
    return unknown() if share is None else Cell(_minus(f"{100 * share:.1f}"), 100 * share, tone)


def difference_cell(value: float | None, digits: int = 0, tone: Tone = "") -> Cell:
    """A difference with its sign; nothing has no sign."""
    return unknown() if value is None else Cell(with_sign(value, digits), value, tone)


def points(share: float | None, *, good: Literal["up", "down", ""] = "up") -> Cell:
    """A difference of shares in percentage points. `good` says which way is better, if either is."""
    return unknown() if share is None else Cell(with_sign(100 * share, 1), 100 * share, better(share, good))


def between(interval: tuple[float, float] | None, *, scale: float = 100, digits: int = 1, sign: bool = True) -> Cell:
    """An interval: `−30.0 to +30.0`."""
    if interval is None:
        return unknown()
    low, high = (scale * end for end in interval)
    written = (with_sign(end, digits) if sign else _minus(f"{end:,.{digits}f}") for end in (low, high))
    return Cell(" to ".join(written), (low, high))


def better(difference: float, good: Literal["up", "down", ""]) -> Tone:
    """Is a difference a gain or a loss?"""
    if not good or not difference:
        return ""
    return "good" if (difference > 0) == (good == "up") else "bad"


def with_sign(value: float, digits: int = 0) -> str:
    """With its sign, and a real minus; nothing has no sign."""
    text = f"{value:+,.{digits}f}"
    return _minus(text) if text.strip("+-0.,") else text[1:]


def _minus(text: str) -> str:
    return text.replace("-", "−")
