"""What memory did: where cards were shown and how those runs ended, and two sources compared task by task."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from starlette.responses import Response

from contramem.errors import ContramemError
from contramem.evaluate.compare import Comparison, compare
from contramem.inject.injections import Injections, read_log, summarize
from contramem.inject.log import Line
from contramem.server.cards import card_row
from contramem.server.pages import Visit
from contramem.server.run_index import GroupKind, RunIndex, TaskQuery
from contramem.traces.task_key import TaskKey

LISTED = 100
SEED = 0
COLLECTION = "runs:"
"""Prefix, in an address, of the name of a file or folder of runs; without it, the name is that of a source."""


class ShownIn(NamedTuple):
    """A run that was shown a card."""

    run: str
    task: str
    time: str
    passed: bool | None


def injections(visit: Visit) -> Response:
    """What the inject log says, and for one card the runs that saw it."""
    path = visit.project.options.log
    if path is None or not path.exists():
        return visit.page("injections.html", summary=None, path=path, card_id="", runs=[], titles={})
    stamp = path.stat()
    lines, summary = _read(path, stamp.st_mtime_ns, stamp.st_size)
    bank, card_id = visit.project.current().bank, visit.query("card")
    titles = {
        use.card_id: card_row(bank.entries[use.card_id]).title for use in summary.cards if use.card_id in bank.entries
    }
    runs = _find_shown(lines, card_id) if card_id else []
    return visit.page("injections.html", summary=summary, path=path, card_id=card_id, runs=runs, titles=titles)


@lru_cache(maxsize=8)
def _read(path: Path, _changed: int, _size: int) -> tuple[tuple[Line, ...], Injections]:
    """Read again only if the file has changed."""
    lines, unreadable = read_log(path)
    return tuple(lines), summarize(lines, unreadable)


def _find_shown(lines: tuple[Line, ...], card_id: str) -> list[ShownIn]:
    ended = {line.run: line.passed for line in lines if line.where == "finish" and line.passed is not None}
    lines_with_card = {line.run: line for line in lines if card_id in line.cards}
    return [
        ShownIn(run, line.task, line.time[:19], ended.get(run)) for run, line in list(lines_with_card.items())[-LISTED:]
    ]


class Side(NamedTuple):
    """One side of a comparison: the runs of a source, or of one `--runs` path."""

    kind: GroupKind
    name: str

    @classmethod
    def parse(cls, text: str) -> Side:
        is_collection = text.startswith(COLLECTION)
        return cls("collection" if is_collection else "source", text.removeprefix(COLLECTION))


class ComparedTask(NamedTuple):
    """A task whose outcome differs between the sides."""

    name: str
    key: str
    """Empty if it cannot be opened here."""
    base: tuple[int, int]
    """Runs that passed, and runs whose outcome is known."""
    memory: tuple[int, int]


def comparison(visit: Visit) -> Response:
    """The same tasks run both ways, those that got worse first."""
    index = visit.project.runs
    base, memory = visit.query("base"), visit.query("memory")
    result: Comparison | None = None
    problem, changed = "", {}
    if base and memory:
        sides = Side.parse(base), Side.parse(memory)
        try:
            result = compare(*(index.of_group(*side) for side in sides), rng=Random(SEED), drop_unpaired=True)
            changed = {"Harmed": _find_tasks(index, result.harmed_tasks, *sides),
                       "Gained": _find_tasks(index, result.gained_tasks, *sides)}  # fmt: skip
        except ContramemError as error:
            problem = str(error)
    collections = [row for row in index.collections() if row.name]
    return visit.page(
        "compare.html", sources=index.sources(), collections=collections if len(collections) > 1 else [], base=base,
        memory=memory, result=result, problem=problem, changed=changed, prefix=COLLECTION,
    )  # fmt: skip


def _find_tasks(index: RunIndex, names: Iterable[str], base: Side, memory: Side) -> list[ComparedTask]:
    found = []
    for name in list(names)[:LISTED]:
        key = _find_key(index, name)
        rates = [index.rates([key], side.kind).get((key, side.name), (0, 0)) for side in (base, memory)]
        found.append(ComparedTask(name, key, *rates))
    return found


def _find_key(index: RunIndex, name: str) -> str:
    """The key of a task in a comparison, which abbreviates names."""
    keys = [row.task for row in index.tasks(TaskQuery(name), limit=20)]
    return next((key for key in keys if TaskKey.parse(key).is_named(name)), "")
