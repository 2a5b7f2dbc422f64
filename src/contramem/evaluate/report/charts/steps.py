"""Step chart: numbers that change with each decision and stay constant in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from contramem.evaluate.report.cells import number
from contramem.evaluate.report.charts.svg import WIDTH, Scale, across, drawing, round_up, tag, text, upward, y_title
from contramem.evaluate.report.figure import Figure
from contramem.evaluate.report.table import ReportTable, Row
from contramem.evaluate.report.text import width

HEIGHT, LEFT, TOP = 260, 56, 12
TABLE_ROWS = 12
"""How many points of the lines the table lists, including the end."""


class Steps(NamedTuple):
    """One line: x values in ascending order, each with the value from there on."""

    label: str
    points: Sequence[tuple[float, float]]

    def at(self, place: float) -> float | None:
        """The value at a place; None before the line begins."""
        before = [value for x, value in self.points if x <= place]
        return before[-1] if before else None


def step_chart(
    title: str, lines: Sequence[Steps], *, x_measure: str, y_measure: str, name: str = "", caption: str = ""
) -> Figure:
    """Step lines, each labelled at its end."""
    end = max((x for steps in lines for x, _ in steps.points), default=1.0)
    top_value = max((y for steps in lines for _, y in steps.points), default=1.0)
    right = WIDTH - max((width(_ending(steps)) for steps in lines), default=0) - 14
    bottom = TOP + HEIGHT
    x, y = Scale(0, end, LEFT, right), Scale(0, round_up(top_value), bottom, TOP)
    parts = [*across(x, TOP, bottom), *upward(y, LEFT, right)]
    parts += [_path(steps, x, y, f"step series-{place % 6}") for place, steps in enumerate(lines)]
    parts += _endings(lines, right + 8, y)
    parts.append(text((LEFT + right) / 2, bottom + 32, x_measure, anchor="middle", kind="axis-title"))
    parts.append(y_title(y_measure, TOP, bottom))
    svg = drawing(f"{title}: {y_measure} over {x_measure}", bottom + 44, *parts)
    return Figure(title, svg, _table(title, lines, end, name or x_measure), caption)


def _path(steps: Steps, x: Scale, y: Scale, kind: str) -> Markup:
    if not steps.points:
        return Markup("")
    (first_x, first_y), *rest = steps.points
    moves = "".join(f"H{x(place):.1f}V{y(value):.1f}" for place, value in rest)
    return tag("path", d=f"M{x(first_x):.1f},{y(first_y):.1f}{moves}H{x.end:.1f}", class_=kind)


def _ending(steps: Steps) -> str:
    return f"{steps.label} {steps.points[-1][1]:,.0f}" if steps.points else steps.label


def _endings(lines: Sequence[Steps], left: float, y: Scale) -> Iterator[Markup]:
    """The labels at the ends of the lines, moved apart if they would overlap."""
    lowest = -float("inf")
    ends = [(y(steps.points[-1][1]), place, steps) for place, steps in enumerate(lines) if steps.points]
    for height, place, steps in sorted(ends, key=lambda end: end[:2]):
        lowest = max(height, lowest + 15)
        yield text(left, lowest, _ending(steps), kind=f"value series-{place % 6}")


def _table(title: str, lines: Sequence[Steps], end: float, name: str) -> ReportTable:
    places = sorted({round(end * part / TABLE_ROWS) for part in range(1, TABLE_ROWS + 1)})
    rows: list[Row] = [[number(place), *(number(steps.at(place)) for steps in lines)] for place in places]
    return ReportTable(title, (name, *(steps.label for steps in lines)), rows, align="r" * (len(lines) + 1))
