"""Page: sections with figures and tables, written as one self-contained HTML file.

It contains no script and loads nothing, and its content security policy forbids both, so text from traces is harmless.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, TypeAlias

from contramem.evaluate.report.figure import Figure
from contramem.evaluate.report.manifest import Manifest
from contramem.evaluate.report.table import ReportTable
from contramem.evaluate.report.text import plain

if TYPE_CHECKING:
    from jinja2 import Template

Tone: TypeAlias = Literal["good", "bad", "open"]


@dataclass(frozen=True)
class Tile:
    """A headline number: its label, its value and a detail."""

    label: str
    value: str
    detail: str = ""
    tone: Literal["", "good", "bad"] = ""


@dataclass(frozen=True)
class Item:
    """A named thing, such as a harmed task, with the files to look at."""

    name: str
    detail: str = ""
    places: tuple[str, ...] = ()
    """Files, one per line."""


@dataclass(frozen=True)
class Listing:
    """A list of names. The rest of a long list is collapsed on screen, and complete in print."""

    title: str
    items: Sequence[Item]
    tone: Literal["", "good", "bad"] = ""
    empty: str = "None."
    open_up_to: int = 30
    """How many items are shown before the rest is collapsed."""


@dataclass(frozen=True)
class Section:
    """One question and its answer; the fields are shown in this order."""

    title: str
    lede: str = ""
    """An introduction of one or two sentences."""
    listings: Sequence[Listing] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[ReportTable] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Page:
    """The whole report. The verdict comes first."""

    title: str
    verdict: str
    """The result in one sentence."""
    sections: Sequence[Section]
    manifest: Manifest
    tone: Tone = "open"
    subtitle: str = ""
    """What was compared."""
    tiles: Sequence[Tile] = ()
    not_known: Sequence[str] = ()
    """What the data don't show, and why."""


def as_html(page: Page) -> str:
    """The page as HTML. The same page gives the same text."""
    sections = list(zip(_anchors(page.sections), page.sections, strict=True))
    return _template().render(page=page, sections=sections, plain=plain, style=_file("page.css"))


def _anchors(sections: Sequence[Section]) -> list[str]:
    """An anchor for each section, made from its title; repeated titles get a number."""
    counts = Counter({"report": 1, "manifest": 1})
    anchors = []
    for section in sections:
        anchor = re.sub(r"\W+", "-", plain(section.title).lower()).strip("-") or "section"
        counts[anchor] += 1
        anchors.append(f"{anchor}-{counts[anchor]}" if counts[anchor] > 1 else anchor)
    return anchors


def _file(name: str) -> str:
    return (files("contramem.evaluate.report") / name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=True)
    return environment.from_string(_file("page.html.jinja"))
