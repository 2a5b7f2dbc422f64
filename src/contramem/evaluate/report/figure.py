"""Figure: a picture, its caption, and the same numbers as a table."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from contramem.evaluate.report.table import ReportTable


@dataclass(frozen=True)
class Figure:
    """A picture and a table with the same numbers, for readers who cannot see the picture."""

    title: str
    svg: Markup
    table: ReportTable
    caption: str = ""
    """How to read it, in a sentence or two."""
