"""What memory did: where cards were shown and how those runs ended, and two sources compared task by task."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from starlette.responses import Response

from contramem.errors import ContramemError
from contramem.evaluate.compare import Comparison, compare
from contramem.inject.injections import Injections, read_log, summarize
from contramem.inject.log import Line
from contramem.server.pages import Visit
from contramem.traces.task_key import TaskKey

LISTED = 100
SEED = 0


class ShownIn(NamedTuple):
    """A run that was shown a card."""

    run: str
    task: str
    time: str
    passed: bool | None


def injections(visit: Visit) -> Response:
    """What the inject log tells, and for one card the runs that saw it."""
    path = visit.project.options.log
    if path is None or not path.exists():
        return visit.page("injections.html", summary=None, path=path, card_id="", runs=[], titles={})
    stamp = path.stat()
    lines, summary = _read(path, stamp.st_mtime_ns, stamp.st_size)
    bank, card_id = visit.project.current().bank, visit.query("card")
    titles = {
        use.card_id: getattr(bank.entries[use.card_id].card, "title", use.card_id)
        for use in summary.cards if use.card_id in bank.entries
    }  # fmt: skip
    runs = _find_shown(lines, card_id) if card_id else []
    return visit.page("injections.html", summary=summary, path=path, card_id=card_id, runs=runs, titles=titles)


@lru_cache(maxsize=8)
def _read(path: Path, _changed: int, _size: int) -> tuple[tuple[Line, ...], Injections]:
    """Read again only when the file has changed."""
    lines, unreadable = read_log(path)
    return tuple(lines), summarize(lines, unreadable)


def _find_shown(lines: tuple[Line, ...], card_id: str) -> list[ShownIn]:
    ended = {line.run: line.passed for line in lines if line.where == "finish" and line.passed is not None}
    shown = {line.run: line for line in lines if card_id in line.cards}
    return [ShownIn(run, line.task, line.time[:19], ended.get(run)) for run, line in list(shown.items())[-LISTED:]]


def comparison(visit: Visit) -> Response:
    """Two sources at the same tasks, with what one of them lost first."""
    index = visit.project.runs
    base, memory = visit.query("base"), visit.query("memory")
    result: Comparison | None = None
    problem = ""
    if base and memory:
        try:
            sides = index.of_source(base), index.of_source(memory)
            result = compare(*sides, rng=Random(SEED), drop_unpaired=True)
        except ContramemError as error:
            problem = str(error)
    return visit.page(
        "compare.html", sources=index.sources(), base=base, memory=memory, result=result, problem=problem,
        keys=_task_keys(visit, result) if result else {},
    )  # fmt: skip


def _task_keys(visit: Visit, result: Comparison) -> dict[str, str]:
    """The key of each task that a comparison names: it names them as short as can be."""
    names = {*result.harmed_tasks, *result.gained_tasks}
    keys = {}
    for name in names:
        rows = visit.project.runs.tasks(name, limit=20)
        match = [row.task for row in rows if TaskKey.parse(row.task).is_named(name)]
        if match:
            keys[name] = match[0]
    return keys
