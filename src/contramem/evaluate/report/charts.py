"""Charts as SVG: bars, intervals, flips. Each is a `Figure` with its caption and the same numbers as a table.

All text is escaped. Colours are CSS classes, defined by the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup, escape

from contramem.evaluate.report.table import Cell, ReportTable, Row, between, fit, number, plain, unknown, width


@dataclass(frozen=True)
class Figure:
    """A picture and a table with the same numbers, for readers who cannot see the picture."""

    title: str
    svg: Markup
    table: ReportTable
    caption: str = ""
    """How to read it, in a sentence or two."""


# Bars

MAX_ROWS = 60
"""How many rows are drawn; the table below the chart has all."""
BAR_ROW, BAR_TOP = 28, 6


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
    right = max((width(_bar_label(bar, digits)) for bar in drawn), default=0) + 14
    top_value = max((max(bar.value or 0, bar.high or 0) for bar in drawn), default=0)
    scale = Scale(0, round_up(top_value), left, WIDTH - right)
    bottom = BAR_TOP + BAR_ROW * len(drawn)
    rows = [
        part
        for place, bar in enumerate(drawn)
        for part in _bar_row(bar, BAR_TOP + BAR_ROW * (place + 0.5), scale, left, digits)
    ]
    axis_title = text((left + WIDTH - right) / 2, bottom + 30, measure, anchor="middle", kind="axis-title")
    svg = drawing(f"{title}: {measure}", bottom + 42, *across(scale, BAR_TOP, bottom), *rows, axis_title)
    return Figure(title, svg, _bar_table(title, bars, measure, name, digits), cap_caption(caption, len(bars)))


def _bar_row(bar: Bar, y: float, scale: Scale, left: float, digits: int) -> Iterator[Markup]:
    yield fit_text(left - 10, y, bar.label, left - 14, anchor="end")
    if bar.value is None:
        yield text(left + 6, y, "n/a", kind="tick")
        return
    yield rect(left, y - 8, scale(bar.value) - left, 16, f"fill {bar.kind}", f"{bar.label}: {_bar_label(bar, digits)}")
    end = scale(bar.value)
    if bar.low is not None and bar.high is not None:
        yield line(scale(bar.low), y, scale(bar.high), y, "whisker")
        end = max(end, scale(bar.high))
    yield text(end + 8, y, _bar_label(bar, digits), kind="value")


def _bar_label(bar: Bar, digits: int) -> str:
    return bar.note or number(bar.value, digits).text


def cap_caption(caption: str, rows: int) -> str:
    """`caption`, with a note if not all rows are drawn."""
    return (
        f"{caption} The first {MAX_ROWS} of {rows} rows are drawn; the table has all.".strip()
        if rows > MAX_ROWS
        else caption
    )


def _bar_table(title: str, bars: Sequence[Bar], measure: str, name: str, digits: int) -> ReportTable:
    intervals = any(bar.low is not None for bar in bars)
    header = (name, measure, *(["95 % interval"] if intervals else []))
    rows: list[Row] = []
    for bar in bars:
        interval = None if bar.low is None or bar.high is None else (bar.low, bar.high)
        ends = between(interval, scale=1, digits=digits, sign=False) if interval else unknown()
        rows.append([bar.label, number(bar.value, digits), *([ends] if intervals else [])])
    return ReportTable(title, header, rows)


# Intervals

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
        parts += _interval_row(row, top + high * (place + 0.5), scale, left, kinds, digits, series)
    parts.append(text((left + WIDTH - right) / 2, bottom + 30, measure, anchor="middle", kind="axis-title"))
    svg = drawing(f"{title}: {measure}", bottom + 42, *parts)
    return Figure(
        title,
        svg,
        _interval_table(title, rows, series or (measure,), name, digits, notes),
        cap_caption(caption, len(rows)),
    )


def _span(rows: Sequence[IntervalRow], reference: float | None) -> tuple[float, float]:
    ends = [end for row in rows for estimate in row.estimates for end in estimate if end is not None]
    ends += [] if reference is None else [reference]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    margin = (high - low or abs(high) or 1.0) * 0.06
    return low - margin, high + margin


def _interval_row(
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


def _interval_table(
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


# Flips: a square for each lost task on the left, and for each gained task on the right

SQUARE, SMALLEST = 15, 4.5
FLIP_ROW, FLIP_TOP = 26, 24


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
    bottom = FLIP_TOP + FLIP_ROW * len(drawn)
    parts = [text(zero - 10, 10, "lost", anchor="end", kind="tick"), text(zero + 10, 10, "gained", kind="tick")]
    for place, row in enumerate(drawn):
        parts += _flip_row(row, FLIP_TOP + FLIP_ROW * (place + 0.5), left, zero, unit)
    parts.append(line(zero, FLIP_TOP - 2, zero, bottom, "axis"))
    total = f"{sum(len(row.gained) for row in rows)} gained, {sum(len(row.lost) for row in rows)} lost"
    return Figure(
        title,
        drawing(f"{title}: {total}", bottom + 6, *parts),
        _flip_table(title, rows, name),
        cap_caption(caption, len(rows)),
    )


def _flip_row(row: FlipRow, y: float, left: float, zero: float, unit: float) -> Iterator[Markup]:
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


def _flip_table(title: str, rows: Sequence[FlipRow], name: str) -> ReportTable:
    cells: list[Row] = [[row.label, number(len(row.gained)), number(len(row.lost))] for row in rows]
    return ReportTable(title, (name, "Gained", "Lost"), cells)


# SVG elements with all text escaped, scales and axes

WIDTH = 760
"""The width of every chart, in SVG units; at this width, labels print at the size of the body text."""
LEGEND = 26
"""Height of the legend."""


def tag(name: str, *children: Markup | str, **attributes: float | str | None) -> Markup:
    """One element. `class_` becomes `class`, `text_anchor` becomes `text-anchor`; None omits an attribute."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = Markup("").join(child if isinstance(child, Markup) else escape(plain(child)) for child in children)
    return Markup(f"<{name}{written}>{content}</{name}>") if content else Markup(f"<{name}{written}/>")


def _value(value: float | str) -> str:
    if isinstance(value, str):
        return escape(plain(value))
    return f"{value:.2f}".rstrip("0").rstrip(".")


def drawing(label: str, height: float, *parts: Markup) -> Markup:
    """The whole picture. `label` is for screen readers."""
    box = f"0 0 {WIDTH} {math.ceil(height)}"
    return tag(
        "svg", *parts, class_="chart", viewBox=box, role="img", aria_label=label, xmlns="http://www.w3.org/2000/svg"
    )


def text(x: float, y: float, content: str, *, anchor: str = "start", kind: str = "label") -> Markup:
    """A text; `y` is the middle of the line."""
    return tag("text", content, class_=kind, x=x, y=y, dy="0.35em", text_anchor=None if anchor == "start" else anchor)


def fit_text(x: float, y: float, content: str, pixels: float, *, anchor: str = "start", kind: str = "label") -> Markup:
    """A text shortened to `pixels`; hovering shows the whole text."""
    short = fit(content, pixels)
    if short == plain(content):
        return text(x, y, content, anchor=anchor, kind=kind)
    return tag("g", tag("title", content), text(x, y, short, anchor=anchor, kind=kind))


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def rect(x: float, y: float, wide: float, high: float, kind: str, title: str = "") -> Markup:
    named = (tag("title", title),) if title else ()
    return tag("rect", *named, x=x, y=y, width=max(0.0, wide), height=max(0.0, high), rx=1.5, class_=kind)


def mark(x: float, y: float, series: int, kind: str, title: str = "") -> Markup:
    """A dot whose shape also identifies the series: ring, disc, diamond, square, triangle."""
    named = (tag("title", title),) if title else ()
    s, form = 5, series % 5
    if form == 0:
        return tag("circle", *named, cx=x, cy=y, r=s - 0.75, class_=f"{kind} hollow")
    if form == 1:
        return tag("circle", *named, cx=x, cy=y, r=s, class_=kind)
    corners = {
        2: f"M{x:.1f},{y - s - 1:.1f}l{s + 1},{s + 1}l-{s + 1},{s + 1}l-{s + 1},-{s + 1}z",
        3: f"M{x - s + 0.5:.1f},{y - s + 0.5:.1f}h{2 * s - 1}v{2 * s - 1}h-{2 * s - 1}z",
        4: f"M{x:.1f},{y - s - 0.5:.1f}l{s + 0.5},{2 * s}h-{2 * s + 1}z",
    }
    return tag("path", *named, d=corners[form], class_=kind)


@dataclass(frozen=True)
class Scale:
    """Maps values to positions."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low or 1.0
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / span * (self.end - self.start)

    def ticks(self, about: int = 5) -> list[float]:
        return nice(self.low, self.high, about)


def nice(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between `low` and `high`, for ticks."""
    if high - low <= max(1e-300, 1e-12 * max(abs(low), abs(high))):
        return [low]
    rough = (high - low) / max(1, about)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first + 1
    return [float(f"{(first + number) * step:.10g}") for number in range(count)]


def round_up(value: float) -> float:
    """A round end for an axis that starts at 0 and includes `value`."""
    if value <= 0:
        return 1.0
    step = nice(0, value)[1] if len(nice(0, value)) > 1 else value
    return step * math.ceil(value / step - 1e-9)


def short(value: float) -> str:
    """A short number for an axis: `1.2k`, `0.05`, `40`."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if suffix == 'k' else size):.3g}{suffix}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")


def legend(names: Sequence[str], kinds: Sequence[str], left: float) -> Iterator[Markup]:
    """The names of the series, on one line at the top."""
    x = left + 6
    for place, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        yield mark(x, 10, place, kind)
        yield text(x + 12, 10, name)
        x += 12 + width(name) + 30


def across(scale: Scale, top: float, bottom: float) -> Iterator[Markup]:
    """Vertical grid lines with their values below."""
    for tick in scale.ticks():
        yield line(scale(tick), top, scale(tick), bottom, "axis" if tick == 0 else "grid")
        yield text(scale(tick), bottom + 12, short(tick), anchor="middle", kind="tick")


def gutter(labels: Sequence[str], most: float = 230) -> float:
    """The width needed for the labels of rows."""
    return min(most, max((width(plain(label)) for label in labels), default=0)) + 14
