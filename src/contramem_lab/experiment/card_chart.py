"""Card panels: the text of cards as an agent reads it, one panel per card."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from contramem.evaluate.report.charts import WIDTH, Figure, drawing, tag, text
from contramem.evaluate.report.table import ReportTable

LINE, MARGIN, CHARACTERS = 17, 14, 96


def card_panels(title: str, cards: Mapping[str, Sequence[str]]) -> Figure:
    """A figure with a panel for each card; `cards` maps names to lines."""
    parts: list[Markup] = []
    top = 0
    for place, (name, lines) in enumerate(cards.items()):
        written = [name, *(part for line in lines for part in textwrap.wrap(line, CHARACTERS) or [""])]
        height = LINE * len(written) + 2 * MARGIN
        parts += _panel(written, top, height, f"series-{place % 2}")
        top += height + MARGIN
    rows = [[name, line] for name, lines in cards.items() for line in lines]
    table = ReportTable(title, ("Card", "Line"), rows, align="ll")
    return Figure(
        title, drawing(title, top, *parts), table, "The cards of contramem that agents were shown most often."
    )


def _panel(written: Sequence[str], top: float, height: float, kind: str) -> Iterator[Markup]:
    yield tag(
        "rect", x="1", y=f"{top + 1}", width=f"{WIDTH - 2}", height=f"{height - 2}", rx="6", class_=f"panel {kind}"
    )
    for number, line in enumerate(written):
        style = "value" if number == 0 else "label"
        yield text(MARGIN, top + MARGIN + LINE * (number + 0.8), line, kind=style)
