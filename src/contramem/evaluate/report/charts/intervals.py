"""Interval chart: one or more values per row, with their confidence intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from contramem.evaluate.report.cells import Cell, between, number
from contramem.evaluate.report.charts.bars import MAX_ROWS, cap_caption
from contramem.evaluate.report.charts.svg import (
    LEGEND,
    WIDTH,
    Scale,
    across,
    drawing,
    fit_text,
    gutter,
    legend,
    line,
    mark,
    text,
)  # fmt: skip
from contramem.evaluate.report.figure import Figure
from contramem.evaluate.report.table import ReportTable, Row
from contramem.evaluate.report.text import width

BETWEEN_SERIES, BETWEEN_ROWS = 14, 20


class Estimate(NamedTuple):
    """A value and its interval, if known."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


class IntervalRow(NamedTuple):
    """One row, with an estimate for each series."""

    label: str
    estimates: Sequence[Estimate]
    note: str = ""
    """Text at the end of the row, such as the difference."""


def interval_chart(
    title: str,
    rows: Sequence[IntervalRow],
    *,
    series: Sequence[str] = (),
    kinds: Sequence[str] = ("base", "memory"),
    measure: str,
    name: str = "",
    span: tuple[float, float] | None = None,
    reference: float | None = None,
    digits: int = 1,
    notes: str = "",
    caption: str = "",
) -> Figure:
    """Dots with whiskers. `span` is the range of the axis; `reference` draws a line to compare with, such as 0.5 for
    chance; `notes` is the header of the notes. `series` can be omitted if there is only one."""
    drawn = rows[:MAX_ROWS]
    count = max((len(row.estimates) for row in drawn), default=1)
    top = LEGEND if series else 8
    high = BETWEEN_SERIES * (count - 1) + BETWEEN_ROWS + 6
    left, right = gutter([row.label for row in drawn]), max((width(row.note) for row in drawn), default=0) + 26
    scale = Scale(*(span or _span(drawn, reference)), left + 6, WIDTH - right)
    bottom = top + high * len(drawn)
    parts = [*legend(series, kinds[: len(series)], left), *across(scale, top, bottom)]
    if reference is not None:
        parts.append(line(scale(reference), top, scale(reference), bottom, "reference"))
    for place, row in enumerate(drawn):
        parts += _row(row, top + high * (place + 0.5), scale, left, kinds, digits, series)
    parts.append(text((left + WIDTH - right) / 2, bottom + 30, measure, anchor="middle", kind="axis-title"))
    svg = drawing(f"{title}: {measure}", bottom + 42, *parts)
    return Figure(
        title, svg, _table(title, rows, series or (measure,), name, digits, notes), cap_caption(caption, len(rows))
    )


def _span(rows: Sequence[IntervalRow], reference: float | None) -> tuple[float, float]:
    ends = [end for row in rows for estimate in row.estimates for end in estimate if end is not None]
    ends += [] if reference is None else [reference]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    margin = (high - low or abs(high) or 1.0) * 0.06
    return low - margin, high + margin


def _row(
    row: IntervalRow, y: float, scale: Scale, left: float, kinds: Sequence[str], digits: int, series: Sequence[str]
) -> Iterator[Markup]:
    yield fit_text(left - 10, y, row.label, left - 14, anchor="end")
    first = y - BETWEEN_SERIES * (len(row.estimates) - 1) / 2
    for place, estimate in enumerate(row.estimates):
        at = first + BETWEEN_SERIES * place
        kind = kinds[place % len(kinds)]
        if estimate.value is None:
            yield text(scale.start, at, "n/a", kind="tick")
            continue
        if estimate.low is not None and estimate.high is not None:
            yield line(scale(estimate.low), at, scale(estimate.high), at, f"interval {kind}")
        title = ", ".join(
            filter(None, [row.label, series[place] if place < len(series) else "", _describe(estimate, digits)])
        )
        yield mark(scale(estimate.value), at, place if len(row.estimates) > 1 else 1, kind, title)
    if row.note:
        yield text(WIDTH, y, row.note, anchor="end", kind="value")


def _describe(estimate: Estimate, digits: int) -> str:
    around = f" ({between(estimate.interval, scale=1, digits=digits, sign=False)})" if estimate.interval else ""
    return f"{number(estimate.value, digits)}{around}"


def _table(
    title: str, rows: Sequence[IntervalRow], series: Sequence[str], name: str, digits: int, notes: str
) -> ReportTable:
    header = [name]
    for of in series:
        header += [of, "95 % interval"]
    cells: list[Row] = []
    for row in rows:
        numbers: list[Cell | str] = [row.label]
        for estimate in row.estimates:
            numbers += [number(estimate.value, digits), between(estimate.interval, scale=1, digits=digits, sign=False)]
        cells.append([*numbers, *([row.note] if notes else [])])
    return ReportTable(title, (*header, *([notes] if notes else [])), cells)
