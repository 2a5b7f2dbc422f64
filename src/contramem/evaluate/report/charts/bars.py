"""Bars: one number for each thing, longest names first in sight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from contramem.evaluate.report.cells import between, number, unknown
from contramem.evaluate.report.charts.svg import (
    WIDTH,
    Scale,
    across,
    drawing,
    fit_text,
    gutter,
    line,
    rect,
    round_up,
    text,
)
from contramem.evaluate.report.figure import Figure
from contramem.evaluate.report.table import ReportTable, Row
from contramem.evaluate.report.text import width

MOST_ROWS = 60
"""A chart with more rows is a wall; the table below it has all."""
ROW, TOP = 28, 6


class Bar(NamedTuple):
    """One thing and its number."""

    label: str
    value: float | None
    """None is written `n/a` and has no bar."""
    low: float | None = None
    high: float | None = None
    kind: str = "memory"
    """Its colour: `base`, `memory`, `good`, `bad`, `plain`, or `series-0` to `series-5`."""
    note: str = ""
    """What to write at its end in place of the number."""


def bar_chart(
    title: str, bars: Sequence[Bar], *, measure: str, name: str = "", digits: int = 0, caption: str = ""
) -> Figure:
    """Horizontal bars from zero, with intervals where they are known. `measure` says what the number is."""
    drawn = bars[:MOST_ROWS]
    left = gutter([bar.label for bar in drawn])
    right = max((width(_label(bar, digits)) for bar in drawn), default=0) + 14
    top_value = max((max(bar.value or 0, bar.high or 0) for bar in drawn), default=0)
    scale = Scale(0, round_up(top_value), left, WIDTH - right)
    bottom = TOP + ROW * len(drawn)
    rows = [
        part for place, bar in enumerate(drawn) for part in _row(bar, TOP + ROW * (place + 0.5), scale, left, digits)
    ]
    axis_title = text((left + WIDTH - right) / 2, bottom + 30, measure, anchor="middle", kind="axis-title")
    svg = drawing(f"{title}: {measure}", bottom + 42, *across(scale, TOP, bottom), *rows, axis_title)
    return Figure(title, svg, _table(title, bars, measure, name, digits), cap_caption(caption, len(bars)))


def _row(bar: Bar, y: float, scale: Scale, left: float, digits: int) -> Iterator[Markup]:
    yield fit_text(left - 10, y, bar.label, left - 14, anchor="end")
    if bar.value is None:
        yield text(left + 6, y, "n/a", kind="tick")
        return
    yield rect(left, y - 8, scale(bar.value) - left, 16, f"fill {bar.kind}", f"{bar.label}: {_label(bar, digits)}")
    end = scale(bar.value)
    if bar.low is not None and bar.high is not None:
        yield line(scale(bar.low), y, scale(bar.high), y, "whisker")
        end = max(end, scale(bar.high))
    yield text(end + 8, y, _label(bar, digits), kind="value")


def _label(bar: Bar, digits: int) -> str:
    return bar.note or number(bar.value, digits).text


def cap_caption(caption: str, rows: int) -> str:
    """`caption`, and how many rows it was too much to draw."""
    return (
        f"{caption} The first {MOST_ROWS} of {rows} rows are drawn; the table has all.".strip()
        if rows > MOST_ROWS
        else caption
    )


def _table(title: str, bars: Sequence[Bar], measure: str, name: str, digits: int) -> ReportTable:
    intervals = any(bar.low is not None for bar in bars)
    header = (name, measure, *(["95 % interval"] if intervals else []))
    rows: list[Row] = []
    for bar in bars:
        interval = None if bar.low is None or bar.high is None else (bar.low, bar.high)
        ends = between(interval, scale=1, digits=digits, sign=False) if interval else unknown()
        rows.append([bar.label, number(bar.value, digits), *([ends] if intervals else [])])
    return ReportTable(title, header, rows)
