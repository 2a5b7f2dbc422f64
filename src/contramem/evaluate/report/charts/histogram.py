"""Histogram: the distribution of changes, stacked by kind of run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from contramem.evaluate.report.cells import number
from contramem.evaluate.report.charts.svg import (
    LEGEND,
    WIDTH,
    Scale,
    across,
    drawing,
    legend,
    line,
    nice,
    rect,
    round_up,
    short,
    text,
    upward,
    y_title,
)  # fmt: skip
from contramem.evaluate.report.figure import Figure
from contramem.evaluate.report.table import ReportTable, Row

HEIGHT, LEFT, RIGHT = 200, 56, 16
BINS = 40


class Values(NamedTuple):
    """The values of one series."""

    label: str
    values: Sequence[float]
    kind: str


class _Bin(NamedTuple):
    low: float
    high: float
    counts: tuple[int, ...]


def histogram(title: str, series: Sequence[Values], *, measure: str, counted: str, caption: str = "") -> Figure:
    """Bars of equal width, one of them centred on zero. Values are integers, so no bar is narrower than 1."""
    bins = _bins(series)
    top, bottom = LEGEND + 4, LEGEND + 4 + HEIGHT
    x = Scale(bins[0].low, bins[-1].high, LEFT, WIDTH - RIGHT)
    y = Scale(0, round_up(max(sum(bin_.counts) for bin_ in bins)), bottom, top)
    parts = [*legend([s.label for s in series], [f"fill {s.kind}" for s in series], LEFT, boxes=True)]
    parts += [*upward(y, LEFT, WIDTH - RIGHT), *across(x, bottom, bottom)]
    parts += [part for bin_ in bins for part in _stack(bin_, series, x, y)]
    if x.low < 0 < x.high:
        parts.append(line(x(0), top, x(0), bottom, "reference"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, bottom + 32, measure, anchor="middle", kind="axis-title"))
    parts.append(y_title(counted, top, bottom))
    return Figure(
        title,
        drawing(f"{title}: {counted} by {measure}", bottom + 44, *parts),
        _table(title, bins, series, measure),
        caption,
    )


def _bins(series: Sequence[Values]) -> list[_Bin]:
    every = [value for values in series for value in values.values] or [0.0]
    low, high = min(every), max(every)
    step = _step(low, high)
    first, last = math.floor(low / step + 0.5), math.floor(high / step + 0.5)
    bins = []
    for place in range(first, last + 1):
        inside = [sum(math.floor(value / step + 0.5) == place for value in values.values) for values in series]
        bins.append(_Bin((place - 0.5) * step, (place + 0.5) * step, tuple(inside)))
    return bins


def _step(low: float, high: float) -> float:
    """The width of a bar: at least 1, because values are integers."""
    ticks = nice(low, high, BINS) if high > low else []
    return max(1.0, ticks[1] - ticks[0]) if len(ticks) > 1 else 1.0


def _stack(bin_: _Bin, series: Sequence[Values], x: Scale, y: Scale) -> Iterator[Markup]:
    below = 0
    for count, of in zip(bin_.counts, series, strict=True):
        if count:
            title = f"{_span(bin_)}: {count} ({of.label})"
            left, wide = x(bin_.low) + 0.75, x(bin_.high) - x(bin_.low) - 1.5
            yield rect(left, y(below + count), wide, y(below) - y(below + count), f"fill {of.kind}", title)
            below += count


def _span(bin_: _Bin) -> str:
    low, high = math.ceil(bin_.low), math.ceil(bin_.high) - 1
    return short(low) if high <= low else f"{short(low)} to {short(high)}"


def _table(title: str, bins: Sequence[_Bin], series: Sequence[Values], measure: str) -> ReportTable:
    rows: list[Row] = [[_span(bin_), *(number(count) for count in bin_.counts)] for bin_ in bins if any(bin_.counts)]
    return ReportTable(title, (measure, *(values.label for values in series)), rows)
