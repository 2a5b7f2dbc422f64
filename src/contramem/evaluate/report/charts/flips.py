"""Flip chart: a square for each lost task on the left, and for each gained task on the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from contramem.evaluate.report.cells import number
from contramem.evaluate.report.charts.bars import MAX_ROWS, cap_caption
from contramem.evaluate.report.charts.svg import WIDTH, drawing, fit_text, gutter, line, rect, text
from contramem.evaluate.report.figure import Figure
from contramem.evaluate.report.table import ReportTable, Row

SQUARE, SMALLEST = 15, 4.5
ROW, TOP = 26, 24


class FlipRow(NamedTuple):
    """The gained and lost tasks of one group, by name."""

    label: str
    gained: Sequence[str]
    lost: Sequence[str]


def flip_chart(title: str, rows: Sequence[FlipRow], *, name: str = "", caption: str = "") -> Figure:
    """Hovering over a square shows the name of its task. Too many squares are replaced by a bar."""
    drawn = rows[:MAX_ROWS]
    left = gutter([row.label for row in drawn])
    most_lost = max((len(row.lost) for row in drawn), default=0)
    most_gained = max((len(row.gained) for row in drawn), default=0)
    room = WIDTH - left - 2 * 44
    unit = min(SQUARE, room / max(1, most_lost + most_gained))
    zero = left + 44 + max(unit * most_lost, 60)
    bottom = TOP + ROW * len(drawn)
    parts = [text(zero - 10, 10, "lost", anchor="end", kind="tick"), text(zero + 10, 10, "gained", kind="tick")]
    for place, row in enumerate(drawn):
        parts += _row(row, TOP + ROW * (place + 0.5), left, zero, unit)
    parts.append(line(zero, TOP - 2, zero, bottom, "axis"))
    total = f"{sum(len(row.gained) for row in rows)} gained, {sum(len(row.lost) for row in rows)} lost"
    return Figure(
        title,
        drawing(f"{title}: {total}", bottom + 6, *parts),
        _table(title, rows, name),
        cap_caption(caption, len(rows)),
    )


def _row(row: FlipRow, y: float, left: float, zero: float, unit: float) -> Iterator[Markup]:
    yield fit_text(left - 10, y, row.label, left - 14, anchor="end")
    for tasks, way, kind in ((row.lost, -1, "bad"), (row.gained, 1, "good")):
        yield from _squares(tasks, y, zero, way * unit, kind)
        end = zero + way * (unit * len(tasks) + 8)
        yield text(end, y, str(len(tasks)), anchor="end" if way < 0 else "start", kind="value" if tasks else "tick")


def _squares(tasks: Sequence[str], y: float, zero: float, step: float, kind: str) -> Iterator[Markup]:
    size = abs(step)
    if size < SMALLEST:
        if tasks:
            whole = size * len(tasks)
            yield rect(zero if step > 0 else zero - whole, y - 7, whole, 14, f"fill {kind}", f"{len(tasks)} tasks")
        return
    for place, task in enumerate(tasks):
        at = zero + step * place if step > 0 else zero + step * (place + 1)
        yield rect(at + 1, y - 7, size - 2, 14, f"fill {kind}", task)


def _table(title: str, rows: Sequence[FlipRow], name: str) -> ReportTable:
    cells: list[Row] = [[row.label, number(len(row.gained)), number(len(row.lost))] for row in rows]
    return ReportTable(title, (name, "Gained", "Lost"), cells)
