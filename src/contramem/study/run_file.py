"""RunFile: the runs of a study on disk, with an index in memory. A run is loaded when its actions are needed.

A hundred thousand runs as objects take tens of gigabytes. The index has what most questions need: task, source, outcome
and the functions called; and for each task what determines its kind.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import msgspec

from contramem.collection.runs import Collection
from contramem.progress import Progress, no_progress
from contramem.study.recorded_actions import RecordedActions
from contramem.study.run_outline import RunOutline
from contramem.study.run_set import RunSet, StudyRun, profile_task, study_run
from contramem.study.task_groups import TaskProfile
from contramem.traces.trajectory import Trajectory

MAX_LOADED_BYTES = 32 << 20
"""Size of the runs kept as objects, measured on disk. Objects take about ten times as much."""
RUNS, INDEX = "runs.msgpack", "index.msgpack"
_FORMAT = 1


class _Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    task: int
    source: str
    trial: str
    passed: bool | None
    ability: str | None
    called: tuple[int, ...]
    offset: int
    length: int


class _Index(msgspec.Struct, frozen=True):
    format: int
    functions: tuple[str, ...]
    profiles: tuple[TaskProfile, ...]
    """One per task, in the order of task keys."""
    rows: tuple[_Row, ...]


class _StoredRun(msgspec.Struct, frozen=True, array_like=True, gc=False):
    run: Trajectory
    tainted: tuple[int, ...]
    """Positions of calls that follow from planted text."""


_encode = msgspec.msgpack.Encoder().encode
_decode_run = msgspec.msgpack.Decoder(_StoredRun).decode


def write_run_file(collection: Collection, folder: Path, on_progress: Progress = no_progress) -> int:
    """Write all runs, task by task, into `folder`. Returns the size of the runs in bytes."""
    functions: dict[str, int] = {}
    profiles, rows, end = [], [], 0
    tasks = collection.tasks()
    with (folder / RUNS).open("wb") as file:
        for number, task in enumerate(tasks):
            runs = [study_run(trajectory) for trajectory in collection.runs(task)]
            profiles.append(profile_task(task, runs))
            for run in runs:
                called = tuple(functions.setdefault(function, len(functions)) for function in sorted(run.called))
                stored = _encode(_store_run(run.recorded))
                place = (end, len(stored))
                rows.append(_Row(number, run.source, run.trial, run.passed, run.ability, called, *place))
                end += file.write(stored)
            on_progress("studying", number + 1, len(tasks))
    index = _Index(_FORMAT, tuple(functions), tuple(profiles), tuple(rows))
    (folder / INDEX).write_bytes(_encode(index))
    return end


def _store_run(actions: RecordedActions) -> _StoredRun:
    # Tool descriptions are large, the same in most runs, and no study needs them.
    return _StoredRun(msgspec.structs.replace(actions.run, tools=()), tuple(sorted(actions.tainted)))


class RunFile:
    """Loads runs by position. Recently used ones stay in memory."""

    answers = None

    def __init__(self, file: IO[bytes], rows: Sequence[_Row]) -> None:
        self._file, self._rows = file, rows
        self._loaded: OrderedDict[int, RecordedActions] = OrderedDict()
        self._loaded_bytes = 0

    def trajectory(self, place: int) -> Trajectory:
        """The run as recorded."""
        if place in self._loaded:
            return self._loaded[place].run
        return self._read(place).run

    def load(self, place: int) -> RecordedActions:
        """What the run did."""
        if place in self._loaded:
            self._loaded.move_to_end(place)
            return self._loaded[place]
        stored = self._read(place)
        self._loaded[place] = actions = RecordedActions(stored.run, frozenset(stored.tainted))
        self._loaded_bytes += self._rows[place].length
        while self._loaded_bytes > MAX_LOADED_BYTES and len(self._loaded) > 1:
            oldest, _ = self._loaded.popitem(last=False)
            self._loaded_bytes -= self._rows[oldest].length
        return actions

    def outline(self, place: int) -> RunOutline:
        return self.load(place).outline

    def _read(self, place: int) -> _StoredRun:
        row = self._rows[place]
        self._file.seek(row.offset)
        return _decode_run(self._file.read(row.length))

    def close(self) -> None:
        self._file.close()


def open_run_file(folder: Path) -> tuple[RunSet, RunFile]:
    """The runs that `write_run_file` wrote."""
    index = msgspec.msgpack.decode((folder / INDEX).read_bytes(), type=_Index)
    file = RunFile((folder / RUNS).open("rb"), index.rows)
    names: dict[str, str] = {}
    called: dict[tuple[int, ...], frozenset[str]] = {}
    runs = []
    for place, row in enumerate(index.rows):
        source, trial = (names.setdefault(name, name) for name in (row.source, row.trial))
        if row.called not in called:
            called[row.called] = frozenset(index.functions[number] for number in row.called)
        task = index.profiles[row.task].task
        runs.append(StudyRun(task, source, trial, row.passed, row.ability, called[row.called], file, place))
    return RunSet(tuple(runs), index.profiles), file
