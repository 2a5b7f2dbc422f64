"""What memory did: where cards were shown and how those runs ended, and two sides compared task by task.

The comparison is that of `contramem evaluate compare --drop-unpaired`: its words, its tests, its tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from starlette.responses import Response

from contramem.collection.browse import InMemory
from contramem.errors import ContramemError
from contramem.evaluate.cards import CardEffect, card_effects
from contramem.evaluate.compare import Compared, Comparison, PairRow, compare_both
from contramem.evaluate.pairs import Attempt
from contramem.evaluate.report.comparison import NOT_COMPARED
from contramem.evaluate.report.table import ReportTable
from contramem.evaluate.report.tables import effort_table, finding, flips_table, success_table, verdict
from contramem.inject.log import Injections, Line, read_log, summarize
from contramem.server.listing import Listing
from contramem.server.pages import Visit
from contramem.server.project import Project
from contramem.traces.trajectory import Trajectory

SEED = 0
MAX_COMPARED = 8
"""How many comparisons are kept."""
COLLECTION = "runs:"
"""Prefix, in an address, of the name of a file or folder of runs; without it, the name is that of a source."""
_CHANGES = ("harmed", "gained", "unpaired")


# Where cards were shown


class CardShown(NamedTuple):
    """A card in the inject log."""

    card_id: str
    title: str
    times: int
    runs: int
    passed: int
    failed: int
    tokens: int


INJECTIONS = Listing("injections", ())


def injections(visit: Visit) -> Response:
    """What the inject log says, and for one card the runs that saw it."""
    path = visit.project.options.log
    lines, summary = logged(path)
    card_id = visit.query("card")
    rows = [
        CardShown(use.card_id, visit.card_title(use.card_id), use.times, use.runs.runs, use.runs.passed,
                  use.runs.failed, use.tokens)
        for use in summary.cards
    ]  # fmt: skip
    orders = {
        name: lambda row, name=name: (-getattr(row, name), row.card_id)
        for name in ("times", "runs", "passed", "failed", "tokens")
    }
    return INJECTIONS.page(
        visit, InMemory(rows, orders), summary=summary if lines else None, path=path, card_id=card_id,
        shown_in={line.run: line for line in lines if card_id in line.cards},
        ended={line.run: line.passed for line in lines if line.where == "finish"},
    )  # fmt: skip


def logged(path: Path | None) -> tuple[tuple[Line, ...], Injections]:
    """The lines of an inject log, and their summary."""
    if path is None or not path.exists():
        return (), summarize(())
    stamp = path.stat()
    return _read(path, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=8)
def _read(path: Path, _changed: int, _size: int) -> tuple[tuple[Line, ...], Injections]:
    """Read again only if the file has changed."""
    lines, unreadable = read_log(path)
    return tuple(lines), summarize(lines, unreadable)


# Two sides

COMPARE = Listing("compare", ("change", "ability"))


def comparison(visit: Visit) -> Response:
    """The same tasks run on both sides, those that got worse first."""
    index, sides = visit.project.runs, (visit.query("base"), visit.query("memory"))
    compared, problem = None, ""
    if all(sides):
        try:
            compared = _compare(visit.project, sides)
        except ContramemError as error:
            problem = str(error)
    collections = [row for row in index.groups("collection") if row.name]
    orders = {"change": _worst_first, "task": lambda row: (row.task, row.trial)}
    shown = compared.comparison if compared else None
    return COMPARE.page(
        visit, InMemory(compared.rows() if compared else [], orders), sources=index.groups("source"),
        collections=collections if len(collections) > 1 else [], base=sides[0], memory=sides[1], result=shown,
        problem=problem, prefix=COLLECTION, verdict=verdict(shown) if shown else "", not_compared=NOT_COMPARED,
        finding=finding(shown) if shown else "",
        tables=[table(shown) for table in (_success, flips_table, effort_table)] if shown else [],
        effects=effects_of(visit.project, compared),
    )  # fmt: skip


def _success(comparison: Comparison) -> ReportTable:
    return success_table(comparison, abilities=len(comparison.by_ability) > 1)


def _worst_first(row: PairRow) -> tuple[int, str, str, str]:
    place = _CHANGES.index(row.change) if row.change in _CHANGES else len(_CHANGES)
    return place, row.change, row.task, row.trial


def _compare(project: Project, sides: tuple[str, str]) -> Compared:
    if sides not in project.compared:
        both = (map(Attempt.of, _runs_of(project, side)) for side in sides)
        found = compare_both(*both, rng=Random(SEED), drop_unpaired=True)
        if len(project.compared) >= MAX_COMPARED:
            project.compared.pop(next(iter(project.compared)))
        project.compared[sides] = found
    return project.compared[sides]


def _runs_of(project: Project, side: str) -> Iterator[Trajectory]:
    is_collection = side.startswith(COLLECTION)
    return project.runs.of_group("collection" if is_collection else "source", side.removeprefix(COLLECTION))


def effects_of(project: Project, compared: Compared | None) -> tuple[CardEffect, ...]:
    """Tasks gained and lost by runs that were shown each card, if the inject log says which were."""
    lines, _ = logged(project.options.log)
    return card_effects(compared.pairing, lines).effects if compared and lines else ()
