"""Scatter plot of two measures, optionally with arrows from the side without memory to the side with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from contramem.evaluate.report.cells import number
from contramem.evaluate.report.charts.svg import (
    LEGEND,
    SMALL,
    WIDTH,
    Scale,
    across,
    drawing,
    legend,
    line,
    mark,
    round_up,
    tag,
    text,
    upward,
    y_title,
)  # fmt: skip
from contramem.evaluate.report.figure import Figure
from contramem.evaluate.report.table import ReportTable, Row
from contramem.evaluate.report.text import fit, width

HEIGHT, LEFT, RIGHT = 340, 64, 20
NAMED = 24
"""With more dots than this, names are shown only on hover, because they would cover the picture."""


class Dot(NamedTuple):
    """One dot."""

    label: str
    x: float
    y: float
    series: int = 0


def scatter(
    title: str,
    dots: Sequence[Dot],
    *,
    x_measure: str,
    y_measure: str,
    series: Sequence[str] = (),
    kinds: Sequence[str] = ("base", "memory"),
    arrows: bool = False,
    y_span: tuple[float, float] | None = None,
    name: str = "",
    digits: tuple[int, int] = (0, 1),
    caption: str = "",
) -> Figure:
    """Named dots. With `arrows`, dots with the same label are joined, from the first series to the next."""
    top = LEGEND + 4 if series else 10
    bottom = top + HEIGHT
    low, high = y_span or (0, round_up(max((dot.y for dot in dots), default=1.0)))
    x = Scale(0, round_up(max((dot.x for dot in dots), default=1.0) * 1.02), LEFT, WIDTH - RIGHT)
    y = Scale(low, high, bottom, top)
    parts = [*legend(series, kinds[: len(series)], LEFT), *across(x, top, bottom), *upward(y, LEFT, WIDTH - RIGHT)]
    if arrows:
        parts += _arrows(dots, x, y)
    parts += [
        mark(x(dot.x), y(dot.y), dot.series if series else 1, kinds[dot.series % len(kinds)], _describe(dot, digits))
        for dot in dots
    ]
    parts += _names(dots, x, y, arrows)
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, bottom + 32, x_measure, anchor="middle", kind="axis-title"))
    parts.append(y_title(y_measure, top, bottom))
    svg = drawing(f"{title}: {y_measure} against {x_measure}", bottom + 44, *parts)
    return Figure(title, svg, _table(title, dots, series, (x_measure, y_measure), name, digits), caption)


def _describe(dot: Dot, digits: tuple[int, int]) -> str:
    return f"{dot.label}: {number(dot.x, digits[0])}, {number(dot.y, digits[1])}"


def _arrows(dots: Sequence[Dot], x: Scale, y: Scale) -> Iterator[Markup]:
    last: dict[str, Dot] = {}
    for dot in sorted(dots, key=lambda dot: dot.series):
        if (before := last.get(dot.label)) is not None:
            yield from _arrow((x(before.x), y(before.y)), (x(dot.x), y(dot.y)))
        last[dot.label] = dot


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> Iterator[Markup]:
    length = math.dist(start, end)
    if length < 16:
        return
    dx, dy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    (x1, y1), (x2, y2) = (start[0] + 6 * dx, start[1] + 6 * dy), (end[0] - 8 * dx, end[1] - 8 * dy)
    yield line(x1, y1, x2, y2, "arrow")
    wings = (f"{x2 - 6 * dx + side * 3.5 * dy:.1f},{y2 - 6 * dy - side * 3.5 * dx:.1f}" for side in (1, -1))
    yield tag("path", class_="arrow-head", d=f"M{x2:.1f},{y2:.1f}L{'L'.join(wings)}z")


def _names(dots: Sequence[Dot], x: Scale, y: Scale, arrows: bool) -> Iterator[Markup]:
    """The names, each at the last dot with that label, on the first side that is free."""
    last = {dot.label: dot for dot in sorted(dots, key=lambda dot: dot.series)} if arrows else dict(enumerate(dots))
    if len(last) > NAMED:
        return
    taken = [(x(dot.x) - 6, y(dot.y) - 6, x(dot.x) + 6, y(dot.y) + 6) for dot in dots]
    for dot in last.values():
        name = fit(dot.label, 180, SMALL)
        wide, cx, cy = width(name, SMALL), x(dot.x), y(dot.y)
        for left, middle in ((cx + 10, cy), (cx - 10 - wide, cy), (cx - wide / 2, cy - 14), (cx - wide / 2, cy + 15)):
            box = (left, middle - 7, left + wide, middle + 7)
            if box[0] >= LEFT and box[2] <= WIDTH and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                yield text(left, middle, name, kind="tick")
                break


_Box = tuple[float, float, float, float]


def _overlap(box: _Box, other: _Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def _table(
    title: str,
    dots: Sequence[Dot],
    series: Sequence[str],
    measures: tuple[str, str],
    name: str,
    digits: tuple[int, int],
) -> ReportTable:
    rows: list[Row] = []
    for dot in dots:
        of = [series[dot.series]] if series else []
        rows.append([dot.label, *of, number(dot.x, digits[0]), number(dot.y, digits[1])])
    return ReportTable(title, (name, *([""] if series else []), *measures), rows, align="ll" + "rr" if series else "")
