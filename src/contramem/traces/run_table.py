"""RunTable: the runs in some files as columns of numbers. JoinedRuns joins the tables of a collection.

A build that adds a few runs to a million asks which tasks to select and where their runs are. Columns answer that
without an object for each run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, TypeAlias, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from contramem.traces.run_content import DIGEST_BYTES
from contramem.traces.trajectory import Trajectory

_HEAD_BYTES = 8
"""Of a digest: as many as fit into one number."""
TASKS_PER_GROUP = 64
"""On average, unless their runs are long."""

Numbers: TypeAlias = NDArray[np.int64]
Digests: TypeAlias = NDArray[np.uint8]
"""One digest per row."""
Value = TypeVar("Value", bound=Hashable)


class RunSketch(NamedTuple):
    """What a build uses to select tasks without reading their runs again. Many runs share one."""

    ability: str
    passed: bool | None
    counts: bool
    """Is the run evidence?"""
    called: tuple[str, ...]
    """The distinct functions that the agent called."""
    functions: tuple[str, ...]
    """All functions that anybody called."""

    @classmethod
    def of(cls, run: Trajectory) -> RunSketch:
        called = {event.function for event in run.events if event.function and event.actor == "agent"}
        functions = {event.function for event in run.events if event.function}
        outcome = run.outcome
        counts = outcome.passed is not None and outcome.ended != "interrupted"
        ability = run.ability or "general"
        return cls(ability, outcome.passed, counts, tuple(sorted(called)), tuple(sorted(functions)))


class TaskSketch(NamedTuple):
    """A task as its runs sketch it."""

    task_key: str
    ability: str
    passes: bool
    """Some run that is evidence passed."""
    fails: bool
    called: tuple[str, ...]
    runs: int = 1
    """Those that are evidence."""


class RunName(NamedTuple):
    """How a run is told from the others of its task. Many runs of different tasks share one."""

    source: str
    trial: str


class ListedRun(NamedTuple):
    """One run on its way into a table."""

    task_key: str
    name: RunName
    sketch: RunSketch
    content: bytes
    """A digest of all of it but where it was read."""
    row: bytes
    """A digest of its row, the run as a pool stores it."""
    length: int
    """Of the row."""


class RunTable(NamedTuple):
    """Runs whose rows are stored one after the other. Each column has one number or digest per run."""

    task_keys: list[str]
    names: list[RunName]
    sketches: list[RunSketch]
    tasks: Numbers
    """Where the key of the run's task is in `task_keys`. The next two columns are of the same kind."""
    run_names: Numbers
    run_sketches: Numbers
    lengths: Numbers
    contents: Digests
    rows: Digests

    @classmethod
    def of(cls, runs: Sequence[ListedRun]) -> RunTable:
        task_keys, names, sketches = dict[str, int](), dict[RunName, int](), dict[RunSketch, int]()
        tasks = _number((run.task_key for run in runs), task_keys)
        run_names = _number((run.name for run in runs), names)
        run_sketches = _number((run.sketch for run in runs), sketches)
        lengths = np.array([run.length for run in runs], dtype=np.int64)
        contents, rows = (_stack(digests) for digests in ([run.content for run in runs], [run.row for run in runs]))
        return cls(
            list(task_keys), list(names), list(sketches), tasks, run_names, run_sketches, lengths, contents, rows
        )


def _number(values: Iterable[Value], numbers: dict[Value, int]) -> Numbers:
    """A number for each value, the same for equal ones. New values are added to `numbers`."""
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _stack(digests: Iterable[bytes]) -> Digests:
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, DIGEST_BYTES)


class StoredRun(NamedTuple):
    """Where a run is."""

    name: RunName
    row: bytes
    """A digest of its row."""
    table: int
    """The number of its table."""
    offset: int
    """Of its row among those of the table."""
    length: int


class TaskBatch(NamedTuple):
    """Some tasks that are processed together."""

    keys: list[str]
    contents: bytes
    """A digest of their runs, whatever files these are in."""


class JoinedRuns:
    """The runs of all tables by task, each run once: of runs with equal content, the first."""

    def __init__(self, tables: Sequence[RunTable]) -> None:
        self._numbers = dict[str, int]()
        """Tasks, in the order in which they were read."""
        names, sketches = dict[RunName, int](), dict[RunSketch, int]()
        tasks, run_names, run_sketches = (
            _concatenate(columns)
            for columns in (
                [_number(table.task_keys, self._numbers)[table.tasks] for table in tables],
                [_number(table.names, names)[table.run_names] for table in tables],
                [_number(table.sketches, sketches)[table.run_sketches] for table in tables],
            )
        )
        self._names, self._sketches = list(names), list(sketches)
        lengths = _concatenate([table.lengths for table in tables])
        offsets = _concatenate([np.cumsum(table.lengths) - table.lengths for table in tables])
        numbers = _concatenate([np.full(len(table.tasks), number) for number, table in enumerate(tables)])
        contents = np.concatenate([_stack(()), *(table.contents for table in tables)])
        rows = np.concatenate([_stack(()), *(table.rows for table in tables)])
        order = _sort_by_task(tasks, contents)
        self._run_names, self._run_sketches = run_names[order], run_sketches[order]
        self._lengths, self._offsets, self._tables = lengths[order], offsets[order], numbers[order]
        self._contents, self._rows = contents[order], rows[order]
        self._starts = np.searchsorted(tasks[order], np.arange(len(self._numbers) + 1)).tolist()
        """The runs of the task n are those from the n-th start to the next, ordered by content."""

    def __len__(self) -> int:
        return len(self._run_names)

    @cached_property
    def tasks(self) -> list[str]:
        """Task keys, sorted."""
        return sorted(self._numbers)

    def _places(self, task_key: str) -> slice:
        number = self._numbers.get(task_key)
        return slice(0, 0) if number is None else slice(*self._starts[number : number + 2])

    def runs(self, task_key: str) -> Iterator[tuple[str, StoredRun]]:
        """The runs of a task in order, with their trials: those that claim one trial are numbered."""
        places = self._places(task_key)
        stored = [
            StoredRun(self._names[name], row, table, offset, length)
            for name, row, table, offset, length in zip(
                self._run_names[places].tolist(),
                map(bytes, self._rows[places]),
                self._tables[places].tolist(),
                self._offsets[places].tolist(),
                self._lengths[places].tolist(),
                strict=True,
            )
        ]
        for (_, trial), claiming in groupby(sorted(stored, key=lambda run: run.name), lambda run: run.name):
            for number, run in enumerate(claiming, 1):
                yield (trial if number == 1 else f"{trial}~{number}"), run

    def functions(self, task_key: str) -> frozenset[str]:
        """The functions called in some run of a task."""
        sketches = set(self._run_sketches[self._places(task_key)].tolist())
        return frozenset(function for sketch in sketches for function in self._sketches[sketch].functions)

    def groups(self, most_bytes: int, *, lasting: bool) -> Iterator[TaskBatch]:
        """All tasks, some at a time, in the order in which they were read. The keys of tasks decide where `lasting`
        groups are cut, so that runs which are read later, or between, leave most of them as they were."""
        ends = np.concatenate([[0], np.cumsum(self._lengths)])[self._starts].tolist()
        """Of the rows of each task, if they were stored in this order."""
        keys = list(self._numbers)
        first = 0
        for number, key in enumerate(keys):
            is_cut = lasting and crc32(key.encode("utf-8", "replace")) % TASKS_PER_GROUP == 0
            if is_cut or ends[number + 1] - ends[first] >= most_bytes or number == len(keys) - 1:
                contents = self._contents[self._starts[first] : self._starts[number + 1]]
                yield TaskBatch(keys[first : number + 1], hashlib.blake2b(contents.tobytes(), digest_size=16).digest())
                first = number + 1

    def sketches(self) -> Iterator[TaskSketch]:
        """The sketch of each task, ordered by task key."""
        numbers = self._run_sketches.tolist()
        known = dict[tuple[int, ...], TaskSketch]()
        for key in self.tasks:
            places = self._places(key)
            alike = tuple(numbers[places])
            if alike not in known:
                known[alike] = _sketch_task([self._sketches[number] for number in alike])
            _, ability, passes, fails, called, runs = known[alike]
            yield TaskSketch(key, ability or self._find_ability(places), passes, fails, called, runs)

    def _find_ability(self, places: slice) -> str:
        """That of the first run, passing ones before failing ones, as in the packet of the task."""
        numbers = zip(self._run_names[places], self._run_sketches[places], strict=True)
        runs: list[tuple[RunName, RunSketch]] = [
            (self._names[name], self._sketches[sketch]) for name, sketch in numbers
        ]
        _, first = min(runs, key=lambda run: (_RANK[run[1].passed], run[0]))
        return first.ability


_RANK: dict[bool | None, int] = {True: 0, False: 1, None: 2}


def _sketch_task(runs: Sequence[RunSketch]) -> TaskSketch:
    """A task with such runs. Its ability is empty if they have several."""
    abilities = {run.ability for run in runs}
    counting = [run.passed for run in runs if run.counts]
    called = {function for run in runs for function in run.called}
    ability = abilities.pop() if len(abilities) == 1 else ""
    return TaskSketch("", ability, True in counting, False in counting, tuple(sorted(called)), len(counting))


def _concatenate(columns: Sequence[Numbers]) -> Numbers:
    return np.concatenate([np.empty(0, dtype=np.int64), *columns])


def _sort_by_task(tasks: Numbers, contents: Digests) -> Numbers:
    """The places of all runs, by task and content; of runs with equal content, only the first."""
    head, tail = (
        np.ascontiguousarray(part).view(form).ravel().astype(np.uint64)
        for part, form in ((contents[:, :_HEAD_BYTES], ">u8"), (contents[:, _HEAD_BYTES:], ">u4"))
    )
    order = np.lexsort((tail, head, tasks))
    repeats = np.zeros(len(order), dtype=np.bool_)
    repeats[1:] = np.logical_and.reduce([np.diff(column[order]) == 0 for column in (tail, head, tasks)])
    return order[~repeats]
