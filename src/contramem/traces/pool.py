"""A pool of trajectories, grouped by task. Beyond a few megabytes it is stored on disk, so it may be larger than
memory."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from tempfile import SpooledTemporaryFile
from typing import Any, NamedTuple
from zlib import crc32

import msgspec

from contramem.traces.sanitize import sanitize
from contramem.traces.secrets import mask_secrets
from contramem.traces.trajectory import Origin, Trajectory

IN_MEMORY_BYTES = 8 << 20
SHARD_BYTES = 1 << 20
"""Size of the runs that a worker gets at a time: about a second of work."""
TASKS_PER_GROUP = 64
"""On average, unless their runs are long."""

_NOWHERE = Origin("")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[Origin, msgspec.Raw]).decode
_decode_run = msgspec.msgpack.Decoder(Trajectory).decode


def content_digest(trajectory: Trajectory) -> bytes:
    """What makes a run the same run wherever it was read: all of it but its origin and its system prompt, which the
    first versions did not keep: a run that they numbered keeps its number."""
    return _digest(_encode_run(msgspec.structs.replace(trajectory, system="") if trajectory.system else trajectory))


def _encode_run(trajectory: Trajectory) -> bytes:
    placeless = msgspec.structs.replace(trajectory, origin=_NOWHERE)
    try:
        return _encode(placeless)
    except (UnicodeEncodeError, OverflowError):
        return _encode(_storable(msgspec.to_builtins(placeless)))


def _storable(value: Any) -> Any:
    """Replace what JSON can express and the pool's format cannot: half of a surrogate pair, an integer beyond 64
    bits."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    if isinstance(value, dict):
        return {_storable(key): _storable(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_storable(child) for child in value]
    return value


def _digest(row: bytes) -> bytes:
    return hashlib.blake2b(row, digest_size=12).digest()


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


class EncodedRun(NamedTuple):
    """A run as a pool lists it. Its row is in a batch."""

    task_key: str
    source: str
    run: str
    content: bytes
    """Its `content_digest`."""
    row: bytes
    """A digest of its row."""
    offset: int
    length: int
    sketch: RunSketch


class RunBatch(NamedTuple):
    """Runs in the form in which they are added to a pool, perhaps by another process."""

    runs: list[EncodedRun]
    rows: bytes | Callable[[], bytes]
    """The rows of all runs, one after the other. They may be loaded when they are needed: of a large collection that
    was read before, hardly any are."""


def encode_runs(trajectories: Iterable[Trajectory]) -> tuple[list[EncodedRun], bytes]:
    """Runs that are sanitized, and their rows."""
    runs, rows = list[EncodedRun](), bytearray()
    sketches: dict[RunSketch, RunSketch] = {}
    for run in trajectories:
        encoded = _encode_run(run)
        row = _encode((run.origin, msgspec.Raw(encoded)))
        content = content_digest(run) if run.system else _digest(encoded)
        sketch = RunSketch.of(run)
        sketch = sketches.setdefault(sketch, sketch)
        runs.append(EncodedRun(run.task_key, run.source, run.run, content, _digest(row), len(rows), len(row), sketch))
        rows += row
    return runs, bytes(rows)


class _Entry(NamedTuple):
    """Sorts the runs of a task independently of the order in which they were read. Small, because it stays in
    memory."""

    source: str
    run: str
    content: bytes
    row: bytes
    """A digest of its row."""
    batch: int
    """The number of its batch. 0: its row is in the pool's file, at `offset`."""
    offset: int
    length: int
    sketch: RunSketch


class EncodedTask(NamedTuple):
    """The runs of one task as stored in the pool, each with its trial."""

    rows: list[tuple[str, bytes]]

    def decode(self) -> list[Trajectory]:
        runs = []
        for run, row in self.rows:
            origin, encoded = _decode(row)
            runs.append(msgspec.structs.replace(_decode_run(encoded), origin=origin, run=run))
        return mask_secrets(runs)


class PoolShard(NamedTuple):
    """Some tasks of a pool."""

    tasks: list[EncodedTask]

    def decode(self) -> Iterator[list[Trajectory]]:
        """The runs of each task."""
        return (task.decode() for task in self.tasks)


class TaskBatch(NamedTuple):
    """Some tasks of a pool that are processed together."""

    keys: list[str]
    contents: bytes
    """A digest of their runs, whatever files these are in."""


class Pool:
    """Every run once, by task. The same run read from two places counts once."""

    def __init__(
        self,
        trajectories: Iterable[Trajectory] = (),
        in_memory_bytes: int = IN_MEMORY_BYTES,
        shard_bytes: int = SHARD_BYTES,
    ) -> None:
        self._shard_bytes = shard_bytes
        self._spool = SpooledTemporaryFile(max_size=in_memory_bytes)  # noqa: SIM115  (lives as long as the pool)
        self._entries: dict[str, list[_Entry]] = defaultdict(list)
        self._seen: set[bytes] = set()
        self._shared: dict[Any, Any] = {}
        """Sources, trials and sketches, each stored once however many runs share it."""
        self._batches: list[int | Callable[[], bytes]] = [0]
        """Where the rows of a batch begin in the pool's file; how to load them, if they are not there yet."""
        self._end = 0
        self._is_at_end = True
        for trajectory in trajectories:
            self.add(trajectory)

    def add(self, trajectory: Trajectory, *, is_sanitized: bool = False) -> bool:
        """Take a run in. False: an identical one is here already, and this one is left out. Runs that `read_traces`
        reads are sanitized already."""
        return self.put(RunBatch(*encode_runs([trajectory if is_sanitized else sanitize(trajectory)]))) == 1

    def put(self, batch: RunBatch) -> int:
        """Take in the runs of a batch that are not here already, and say how many these are."""
        new = [run for run in batch.runs if run.content not in self._seen]
        if not new:
            return 0
        before, share = len(self._seen), self._shared.setdefault
        sketches = {id(run.sketch): run.sketch for run in new}  # few, each of many runs
        sketches = {number: share(sketch, sketch) for number, sketch in sketches.items()}
        number, start = self._place(batch.rows)
        for task_key, source, run, content, row, offset, length, sketch in new:
            if content in self._seen:  # twice in the batch
                continue
            self._seen.add(content)
            source, run, sketch = share(source, source), share(run, run), sketches[id(sketch)]
            self._entries[task_key].append(_Entry(source, run, content, row, number, start + offset, length, sketch))
        return len(self._seen) - before

    def _place(self, rows: bytes | Callable[[], bytes]) -> tuple[int, int]:
        """The number of a batch, and where its rows begin in the pool's file if they are there."""
        if isinstance(rows, bytes):
            return 0, self._write(rows)
        self._batches.append(rows)
        return len(self._batches) - 1, 0

    def _write(self, rows: bytes) -> int:
        """Write rows at the end of the pool's file, and say where they begin."""
        if not self._is_at_end:
            self._spool.seek(self._end)
            self._is_at_end = True
        self._spool.write(rows)
        start, self._end = self._end, self._end + len(rows)
        return start

    def _find_rows(self, number: int) -> int:
        """Where the rows of a batch begin in the pool's file."""
        rows = self._batches[number]
        if not isinstance(rows, int):
            rows = self._batches[number] = self._write(rows())
        return rows

    def __len__(self) -> int:
        return len(self._seen)

    def tasks(self) -> list[str]:
        """Task keys, sorted."""
        return sorted(self._entries)

    def functions(self, task_key: str) -> frozenset[str]:
        """The functions called in some run of a task."""
        return frozenset(function for entry in self._entries[task_key] for function in entry.sketch.functions)

    def groups(self, *, lasting: bool = True) -> Iterator[TaskBatch]:
        """All tasks, some at a time, in the order in which they were read. The keys of tasks decide where `lasting`
        groups are cut, so that runs which are read later, or between, leave most of them as they were."""
        keys: list[str] = []
        size = 0
        for key, entries in self._entries.items():
            keys.append(key)
            size += sum(entry.length for entry in entries)
            is_cut = lasting and crc32(key.encode("utf-8", "replace")) % TASKS_PER_GROUP == 0
            if is_cut or size >= self._shard_bytes:
                yield TaskBatch(keys, self._digest_contents(keys))
                keys, size = [], 0
        if keys:
            yield TaskBatch(keys, self._digest_contents(keys))

    def _digest_contents(self, task_keys: Iterable[str]) -> bytes:
        hasher = hashlib.blake2b(digest_size=16)
        for key in task_keys:
            for content in sorted([entry.content for entry in self._entries[key]]):
                hasher.update(content)
        return hasher.digest()

    def read_tasks(self, task_keys: Iterable[str]) -> PoolShard:
        """The runs of these tasks, to be sent to a worker."""
        return PoolShard([self.read_encoded(key) for key in task_keys])

    def sketches(self) -> Iterator[TaskSketch]:
        """The sketch of each task, ordered by task key."""
        return (_sketch_task(key, self._entries[key]) for key in self.tasks())

    def runs(self, task_key: str) -> list[Trajectory]:
        """All runs of one task, ordered by source and trial, secrets masked. Runs that claim one trial are numbered by
        content."""
        return self.read_encoded(task_key).decode()

    def read_encoded(self, task_key: str) -> EncodedTask:
        """The runs of a task as stored in the pool."""
        rows = []
        for run, entry in self._number_runs(task_key):
            place = self._find_rows(entry.batch) + entry.offset
            self._spool.seek(place)
            self._is_at_end = False
            rows.append((run, self._spool.read(entry.length)))
        return EncodedTask(rows)

    def digest(self, task_key: str) -> bytes:
        """Of all that the runs of a task hold, their origin too. No run is read for it."""
        hasher = hashlib.blake2b(digest_size=16)
        for run, entry in self._number_runs(task_key):
            hasher.update(f"{run} {entry.length} ".encode("utf-8", "replace"))
            hasher.update(entry.row)
        return hasher.digest()

    def _number_runs(self, task_key: str) -> Iterator[tuple[str, _Entry]]:
        """The runs of a task in order, with their trials: those that claim one trial are numbered."""
        for (_, run), claiming in groupby(sorted(self._entries.get(task_key, ())), lambda entry: entry[:2]):
            for number, entry in enumerate(claiming, 1):
                yield (run if number == 1 else f"{run}~{number}"), entry

    def shards(self, task_keys: Iterable[str] | None = None) -> Iterator[PoolShard]:
        """Yield tasks (by default all, ordered by key), some at a time, to be sent to a worker."""
        tasks: list[EncodedTask] = []
        size = 0
        for task_key in self.tasks() if task_keys is None else task_keys:
            tasks.append(self.read_encoded(task_key))
            size += sum(len(row) for _, row in tasks[-1].rows)
            if size >= self._shard_bytes:
                yield PoolShard(tasks)
                tasks, size = [], 0
        if tasks:
            yield PoolShard(tasks)

    def __iter__(self) -> Iterator[list[Trajectory]]:
        """The runs of each task, ordered by task key."""
        return (self.runs(key) for key in self.tasks())

    def close(self) -> None:
        """Give the space back, in memory too: of a million runs the index is the larger part."""
        self._spool.close()
        self._entries.clear()
        self._seen.clear()
        self._batches = [0]

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_RANK = {True: 0, False: 1, None: 2}


def _sketch_task(task_key: str, entries: list[_Entry]) -> TaskSketch:
    sketches = {id(entry.sketch): entry.sketch for entry in entries}.values()
    abilities = {sketch.ability for sketch in sketches}
    ability = abilities.pop() if len(abilities) == 1 else _find_ability(entries)
    counting = [entry.sketch.passed for entry in entries if entry.sketch.counts]
    called = {function for sketch in sketches for function in sketch.called}
    return TaskSketch(task_key, ability, True in counting, False in counting, tuple(sorted(called)), len(counting))


def _find_ability(entries: list[_Entry]) -> str:
    """That of the first run, passing ones before failing ones, as in the packet of the task."""
    first = min(entries, key=lambda entry: (_RANK[entry.sketch.passed], entry.source, entry.run, entry.content))
    return first.sketch.ability
