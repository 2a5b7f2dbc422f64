"""Figure: a picture, what it shows in words, and the same numbers as a table."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from contramem.evaluate.report.table import ReportTable


@dataclass(frozen=True)
class Figure:
    """Nobody has to see the picture: the table has all of it."""

    title: str
    svg: Markup
    table: ReportTable
    caption: str = ""
    """How to read it, in a sentence or two."""
