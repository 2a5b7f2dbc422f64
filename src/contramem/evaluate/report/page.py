"""Page: sections with figures and tables, written as one HTML file that needs nothing else, now or in ten years.

There is no script in it and nothing to load, and its own policy forbids both, so a text from a trace can do nothing.
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
    """One figure that is worth a glance: what it is, the number, and what to know about it."""

    label: str
    value: str
    detail: str = ""
    tone: Literal["", "good", "bad"] = ""


@dataclass(frozen=True)
class Item:
    """One thing by name, such as a harmed task, with where to look."""

    name: str
    detail: str = ""
    places: tuple[str, ...] = ()
    """Files, each on a line of its own."""


@dataclass(frozen=True)
class Listing:
    """Things by name. The rest of a long list is folded on a screen, and there in print."""

    title: str
    items: Sequence[Item]
    tone: Literal["", "good", "bad"] = ""
    empty: str = "None."
    open_up_to: int = 30
    """What comes after so many is folded."""


@dataclass(frozen=True)
class Section:
    """One question, and what answers it, in this order."""

    title: str
    lede: str = ""
    """What there is to see, in a sentence or two."""
    listings: Sequence[Listing] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[ReportTable] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Page:
    """The whole report. It says first what was found."""

    title: str
    verdict: str
    """The finding, in one sentence."""
    sections: Sequence[Section]
    manifest: Manifest
    tone: Tone = "open"
    subtitle: str = ""
    """What was compared with what."""
    tiles: Sequence[Tile] = ()
    not_known: Sequence[str] = ()
    """What the data could not tell, and why."""


def as_html(page: Page) -> str:
    """The page as one file. The same page gives the same text."""
    sections = list(zip(_anchors(page.sections), page.sections, strict=True))
    return _template().render(page=page, sections=sections, plain=plain, style=_file("page.css"))


def _anchors(sections: Sequence[Section]) -> list[str]:
    """What to link to, from the titles; the second of one title gets a number."""
    taken = Counter({"report": 1, "manifest": 1})
    anchors = []
    for section in sections:
        anchor = re.sub(r"\W+", "-", plain(section.title).lower()).strip("-") or "section"
        taken[anchor] += 1
        anchors.append(f"{anchor}-{taken[anchor]}" if taken[anchor] > 1 else anchor)
    return anchors


def _file(name: str) -> str:
    return (files("contramem.evaluate.report") / name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=True)
    return environment.from_string(_file("page.html.jinja"))
