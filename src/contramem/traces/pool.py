"""A pool of trajectories, grouped by task. Beyond a few megabytes it is stored on disk, so it may be larger than
memory."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
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
    """A run in the form in which it is added to a pool, perhaps by another process."""

    task_key: str
    source: str
    run: str
    content: bytes
    """Its `content_digest`."""
    row: bytes
    sketch: RunSketch

    @classmethod
    def of(cls, run: Trajectory) -> EncodedRun:
        """Of a run that is sanitized."""
        encoded = _encode_run(run)
        row = _encode((run.origin, msgspec.Raw(encoded)))
        content = content_digest(run) if run.system else _digest(encoded)
        return cls(run.task_key, run.source, run.run, content, row, RunSketch.of(run))


class _Entry(NamedTuple):
    """Sorts the runs of a task independently of the order in which they were read. Small, because it stays in
    memory."""

    source: str
    run: str
    content: bytes
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

    def digest(self) -> bytes:
        """Of all that the runs hold, their origin too."""
        hasher = hashlib.blake2b(digest_size=16)
        for run, row in self.rows:
            hasher.update(f"{run} {len(row)} ".encode("utf-8", "replace"))
            hasher.update(row)
        return hasher.digest()


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
        self._end = 0
        self._is_at_end = True
        for trajectory in trajectories:
            self.add(trajectory)

    def add(self, trajectory: Trajectory, *, is_sanitized: bool = False) -> bool:
        """Take a run in. False: an identical one is here already, and this one is left out. Runs that `read_traces`
        reads are sanitized already."""
        return self.put(EncodedRun.of(trajectory if is_sanitized else sanitize(trajectory)))

    def put(self, encoded: EncodedRun) -> bool:
        """`add` for a run that is already encoded."""
        if encoded.content in self._seen:
            return False
        self._seen.add(encoded.content)
        if not self._is_at_end:
            self._spool.seek(self._end)
            self._is_at_end = True
        self._spool.write(encoded.row)
        source, run, sketch = (
            self._shared.setdefault(part, part) for part in (encoded.source, encoded.run, encoded.sketch)
        )
        entry = _Entry(source, run, encoded.content, self._end, len(encoded.row), sketch)
        self._entries[encoded.task_key].append(entry)
        self._end += len(encoded.row)
        return True

    def __len__(self) -> int:
        return len(self._seen)

    def tasks(self) -> list[str]:
        """Task keys, sorted."""
        return sorted(self._entries)

    @property
    def size(self) -> int:
        """Size in bytes, without the index."""
        return self._end

    def functions(self, task_key: str) -> frozenset[str]:
        """The functions called in some run of a task."""
        return frozenset(function for entry in self._entries[task_key] for function in entry.sketch.functions)

    def groups(self) -> Iterator[TaskBatch]:
        """All tasks, some at a time, in the order in which they were read. The keys of tasks decide where to cut, so
        that runs which are read later, or between, leave most groups as they were."""
        keys: list[str] = []
        size = 0
        for key, entries in self._entries.items():
            keys.append(key)
            size += sum(entry.length for entry in entries)
            if crc32(key.encode("utf-8", "replace")) % TASKS_PER_GROUP == 0 or size >= self._shard_bytes:
                yield TaskBatch(keys, self._digest_contents(keys))
                keys, size = [], 0
        if keys:
            yield TaskBatch(keys, self._digest_contents(keys))

    def _digest_contents(self, task_keys: Iterable[str]) -> bytes:
        hasher = hashlib.blake2b(digest_size=16)
        for key in task_keys:
            for entry in sorted(self._entries[key]):
                hasher.update(entry.content)
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
        for (_, run), claiming in groupby(sorted(self._entries.get(task_key, ())), lambda entry: entry[:2]):
            for number, entry in enumerate(claiming, 1):
                self._spool.seek(entry.offset)
                self._is_at_end = False
                rows.append((run if number == 1 else f"{run}~{number}", self._spool.read(entry.length)))
        return EncodedTask(rows)

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

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_RANK = {True: 0, False: 1, None: 2}


def _sketch_task(task_key: str, entries: list[_Entry]) -> TaskSketch:
    """The ability is that of the first run, passing ones before failing ones, as in the packet of the task."""
    first = min(entries, key=lambda entry: (_RANK[entry.sketch.passed], entry.source, entry.run, entry.content))
    counting = [entry.sketch.passed for entry in entries if entry.sketch.counts]
    evidence = set(counting)
    called = {function for sketch in {entry.sketch for entry in entries} for function in sketch.called}
    return TaskSketch(
        task_key, first.sketch.ability, True in evidence, False in evidence, tuple(sorted(called)), len(counting)
    )
