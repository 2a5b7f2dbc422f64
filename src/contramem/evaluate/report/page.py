"""Page: sections with figures and tables, written as one self-contained HTML file, and tables in files of their own.

It contains no script and loads nothing, and its content security policy forbids both, so text from traces is harmless.
A manifest says what it was made from, so that somebody else can reproduce it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from contramem.errors import UsageError
from contramem.evaluate.report.charts import Figure
from contramem.evaluate.report.table import ReportTable, in_latex, in_markdown, plain
from contramem.whole_file import replacing

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


# The manifest

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Input:
    """A file or folder that was read."""

    role: str
    """`base`, `memory`, `outcomes`, `bank` ..."""
    path: str
    files: int
    size: int
    """Bytes."""
    sha256: str
    """The digest of the file or, for a folder, of the sorted names and digests of its files."""


@dataclass(frozen=True)
class Manifest:
    """The footer of a report."""

    command: str
    inputs: tuple[Input, ...] = ()
    seed: int | None = None
    made: str = ""
    """When it was made, in UTC. Without it, reports of the same data have the same bytes."""
    more: tuple[tuple[str, str], ...] = ()
    """Other values that determine the result: a split, a model, a bank's content hash."""
    version: str = ""
    """The version of contramem; by default the running one."""

    @property
    def contramem(self) -> str:
        return self.version or version("contramem")


def inputs_of(role: str, paths: Iterable[Path]) -> tuple[Input, ...]:
    """Each path with its digest. Moving a folder does not change the digest; renaming a file in it does."""
    return tuple(_input(role, path) for path in paths)


def _input(role: str, path: Path) -> Input:
    if path.is_file():
        return Input(role, str(path), 1, path.stat().st_size, _digest(path))
    files = sorted(file for file in path.rglob("*") if file.is_file())
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file.relative_to(path).as_posix()}\0{_digest(file)}\n".encode("utf-8", "surrogateescape"))
    return Input(role, str(path), len(files), sum(file.stat().st_size for file in files), whole.hexdigest())


def _digest(path: Path) -> str:
    hasher = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            hasher.update(block)
    return hasher.hexdigest()


# Files

MAX_ROWS = 45
"""A longer table does not fit on a page or into a comment, so it is written as CSV only."""


def write_html(page: Page, path: Path) -> None:
    write_text(as_html(page), path)


def write_tables(tables: Sequence[ReportTable], folder: Path, verdict: str = "") -> None:
    """Write all tables with the verdict to `tables.md` and `tables.tex`, and each to a CSV file named by its label."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made ({error.strerror or error}).") from None
    short = [table for table in tables if len(table.rows) <= MAX_ROWS]
    long = [f"{table.title}: {len(table.rows):,} rows, in {table.label}.csv" for table in tables if table not in short]
    lines = [*([verdict] if verdict else []), *long]
    paragraphs = [f"{in_markdown(line)}\n" for line in lines]
    write_text("\n".join([*paragraphs, *(table.as_markdown() for table in short)]), folder / "tables.md")
    opening = [r"% Needs \usepackage{booktabs}.", *(f"% {in_latex(line)}" for line in lines), ""]
    write_text("\n".join([*opening, *(table.as_latex() for table in short)]), folder / "tables.tex")
    for table in tables:
        write_text(table.as_csv(), folder / f"{table.label}.csv")


def write_text(text: str, path: Path) -> None:
    """Write a file atomically."""
    try:
        with replacing(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror or error}).") from None
