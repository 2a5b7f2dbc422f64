"""SVG elements with all text escaped, scales and axes. Colours are CSS classes, defined by the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from contramem.evaluate.report.text import fit, plain, width

WIDTH = 760
"""The width of every chart, in SVG units; at this width, labels print at the size of the body text."""
TEXT, SMALL = 12, 11
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


def mark(x: float, y: float, series: int, kind: str, title: str = "", size: float = 5) -> Markup:
    """A dot whose shape also identifies the series: ring, disc, diamond, square, triangle."""
    named = (tag("title", title),) if title else ()
    s, form = size, series % 5
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


def legend(names: Sequence[str], kinds: Sequence[str], left: float = 0, *, boxes: bool = False) -> Iterator[Markup]:
    """The names of the series, on one line at the top."""
    x = left + 6
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        yield rect(x - 5, 5, 10, 10, kind) if boxes else mark(x, 10, number, kind)
        yield text(x + 12, 10, name)
        x += 12 + width(name) + 30


def across(scale: Scale, top: float, bottom: float, unit: str = "") -> Iterator[Markup]:
    """Vertical grid lines with their values below."""
    for tick in scale.ticks():
        yield line(scale(tick), top, scale(tick), bottom, "axis" if tick == 0 else "grid")
        yield text(scale(tick), bottom + 12, f"{short(tick)}{unit}", anchor="middle", kind="tick")


def upward(scale: Scale, left: float, right: float, unit: str = "") -> Iterator[Markup]:
    """Horizontal grid lines with their values on the left."""
    for tick in scale.ticks():
        yield line(left, scale(tick), right, scale(tick), "axis" if tick == 0 else "grid")
        yield text(left - 8, scale(tick), f"{short(tick)}{unit}", anchor="end", kind="tick")


def y_title(measure: str, top: float, bottom: float) -> Markup:
    """The rotated title of the vertical axis."""
    middle = (top + bottom) / 2
    turned = f"rotate(-90 13 {middle:.0f})"
    return tag("text", measure, class_="axis-title", x=13, y=middle, text_anchor="middle", transform=turned)


def gutter(labels: Sequence[str], most: float = 230) -> float:
    """The width needed for the labels of rows."""
    return min(most, max((width(plain(label)) for label in labels), default=0)) + 14
