"""A pool of trajectories, grouped by task. Beyond a few megabytes it is stored on disk, so it may be larger than
memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from tempfile import SpooledTemporaryFile
from typing import NamedTuple

import msgspec

from contramem.traces.run_content import content_digest, digest_row, encode_run
from contramem.traces.run_table import (
    JoinedRuns,
    ListedRun,
    RunName,
    RunSketch,
    RunTable,
    TaskBatch,
    TaskSketch,
)
from contramem.traces.sanitize import sanitize
from contramem.traces.secrets import mask_secrets
from contramem.traces.trajectory import Origin, Trajectory

IN_MEMORY_BYTES = 8 << 20
SHARD_BYTES = 1 << 20
"""Size of the runs that a worker gets at a time: about a second of work."""
BATCH_BYTES = 256 << 10
"""Size of the rows that are written at a time."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[Origin, msgspec.Raw]).decode
_decode_run = msgspec.msgpack.Decoder(Trajectory).decode


class RunBatch(NamedTuple):
    """Runs in the form in which they are added to a pool, perhaps by another process."""

    table: RunTable
    rows: bytes | Callable[[], bytes]
    """The rows of all runs, one after the other. They may be loaded when they are needed: of a large collection that
    was read before, hardly any are."""


def encode_runs(trajectories: Iterable[Trajectory]) -> tuple[RunTable, bytes]:
    """Runs that are sanitized, and their rows."""
    return _put_together([_encode_row(run) for run in trajectories])


def encode_batches(trajectories: Iterable[Trajectory]) -> Iterator[RunBatch]:
    """Runs that are sanitized, as many at a time as may be held in memory."""
    encoded, size = list[tuple[ListedRun, bytes]](), 0
    for run in trajectories:
        encoded.append(_encode_row(run))
        size += encoded[-1][0].length
        if size >= BATCH_BYTES:
            yield RunBatch(*_put_together(encoded))
            encoded, size = [], 0
    if encoded:
        yield RunBatch(*_put_together(encoded))


def _put_together(encoded: Sequence[tuple[ListedRun, bytes]]) -> tuple[RunTable, bytes]:
    return RunTable.of([run for run, _ in encoded]), b"".join(row for _, row in encoded)


def _encode_row(run: Trajectory) -> tuple[ListedRun, bytes]:
    encoded = encode_run(run)
    row = _encode((run.origin, msgspec.Raw(encoded)))
    content = content_digest(run) if run.system else digest_row(encoded)
    name = RunName(run.source, run.run)
    return ListedRun(run.task_key, name, RunSketch.of(run), content, digest_row(row), len(row)), row


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
        self._tables: list[RunTable] = []
        self._rows: list[int | Callable[[], bytes]] = []
        """Where the rows of a table begin in the pool's file; how to load them, if they are not there yet."""
        self._joined: JoinedRuns | None = None
        self._end = 0
        self._is_at_end = True
        for batch in encode_batches(map(sanitize, trajectories)):
            self.put(batch)

    def add(self, trajectory: Trajectory) -> None:
        """Take in a run."""
        self.put(RunBatch(*encode_runs([sanitize(trajectory)])))

    def put(self, batch: RunBatch) -> None:
        """Take in runs that are sanitized, as `read_traces` reads them."""
        self._tables.append(batch.table)
        self._rows.append(self._write(batch.rows) if isinstance(batch.rows, bytes) else batch.rows)
        self._joined = None

    @property
    def _index(self) -> JoinedRuns:
        if self._joined is None:
            self._joined = JoinedRuns(self._tables)
        return self._joined

    def _write(self, rows: bytes) -> int:
        """Write rows at the end of the pool's file, and say where they begin."""
        if not self._is_at_end:
            self._spool.seek(self._end)
            self._is_at_end = True
        self._spool.write(rows)
        start, self._end = self._end, self._end + len(rows)
        return start

    def _find_rows(self, table: int) -> int:
        """Where the rows of a table begin in the pool's file."""
        rows = self._rows[table]
        if not isinstance(rows, int):
            rows = self._rows[table] = self._write(rows())
        return rows

    def __len__(self) -> int:
        return len(self._index)

    def tasks(self) -> list[str]:
        """Task keys, sorted."""
        return list(self._index.tasks)

    def functions(self, task_key: str) -> frozenset[str]:
        """The functions called in some run of a task."""
        return self._index.functions(task_key)

    def groups(self, *, lasting: bool = True) -> Iterator[TaskBatch]:
        """All tasks, some at a time, in the order in which they were read. If the groups are `lasting`, most of them
        stay as they are when runs are read later, or between."""
        return self._index.groups(self._shard_bytes, lasting=lasting)

    def read_tasks(self, task_keys: Iterable[str]) -> PoolShard:
        """The runs of these tasks, to be sent to a worker."""
        return PoolShard([self.read_encoded(key) for key in task_keys])

    def sketches(self) -> Iterator[TaskSketch]:
        """The sketch of each task, ordered by task key."""
        return self._index.sketches()

    def runs(self, task_key: str) -> list[Trajectory]:
        """All runs of one task, ordered by source and trial, secrets masked. Runs that claim one trial are numbered by
        content."""
        return self.read_encoded(task_key).decode()

    def read_encoded(self, task_key: str) -> EncodedTask:
        """The runs of a task as stored in the pool."""
        rows = []
        for trial, run in self._index.runs(task_key):
            place = self._find_rows(run.table) + run.offset
            self._spool.seek(place)
            self._is_at_end = False
            rows.append((trial, self._spool.read(run.length)))
        return EncodedTask(rows)

    def digest(self, task_key: str) -> bytes:
        """Of all that the runs of a task hold, their origin too. No run is read for it."""
        hasher = hashlib.blake2b(digest_size=16)
        for trial, run in self._index.runs(task_key):
            hasher.update(f"{trial} {run.length} ".encode("utf-8", "replace"))
            hasher.update(run.row)
        return hasher.digest()

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
        self._tables, self._rows, self._joined = [], [], None

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
