"""Bar chart: one number per bar."""

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

MAX_ROWS = 60
"""How many rows are drawn; the table below the chart has all."""
ROW, TOP = 28, 6


class Bar(NamedTuple):
    """One bar."""

    label: str
    value: float | None
    """None is written `n/a` and has no bar."""
    low: float | None = None
    high: float | None = None
    kind: str = "memory"
    """The colour: `base`, `memory`, `good`, `bad`, `plain`, or `series-0` to `series-5`."""
    note: str = ""
    """Text at the end of the bar, instead of the number."""


def bar_chart(
    title: str, bars: Sequence[Bar], *, measure: str, name: str = "", digits: int = 0, caption: str = ""
) -> Figure:
    """Horizontal bars from zero, with intervals if known. `measure` names the quantity."""
    drawn = bars[:MAX_ROWS]
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
    """`caption`, with a note if not all rows are drawn."""
    return (
        f"{caption} The first {MAX_ROWS} of {rows} rows are drawn; the table has all.".strip()
        if rows > MAX_ROWS
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
