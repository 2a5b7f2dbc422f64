"""Collection: every run once, by task, in one SQLite file that may be larger than memory.

Without a path the file is temporary. With one, it keeps what was read: the next command reads only files that changed.
Its owner alone may read it, and no secret is written to it.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import msgspec

from contramem.collection.cache import Cache
from contramem.collection.masking import TaskMasks, has_secrets, number_secrets
from contramem.errors import UsageError
from contramem.file_lock import sole_holder
from contramem.traces.run_content import content_digest, digest_row, encode_run
from contramem.traces.sanitize import sanitize
from contramem.traces.trajectory import Origin, Trajectory

SHARD_BYTES = 1 << 20
"""Size of the runs that a worker gets at a time: about a second of work."""
BATCH_BYTES = 256 << 10
"""Size of the runs that are written at a time."""
TASKS_PER_GROUP = 64
"""On average, unless their runs are long."""
CACHE_KIB = 8 << 10
"""How much of the file is held in memory."""
BUSY_S = 10.0
"""How long to wait for another process that is writing."""
VERSION = 1
ENDING = ".runs"
"""Of the collection beside a store: `bank.db.runs`."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS reads (id INTEGER PRIMARY KEY, key BLOB UNIQUE, lasting INTEGER);
CREATE TABLE IF NOT EXISTS called (id INTEGER PRIMARY KEY, agent TEXT, anybody TEXT, UNIQUE (agent, anybody));
CREATE TABLE IF NOT EXISTS runs (
  task TEXT, source TEXT, trial TEXT, content BLOB, origin TEXT, id INTEGER, read INTEGER, ability TEXT,
  passed INTEGER, counts INTEGER, called INTEGER, masked INTEGER, digest BLOB, size INTEGER,
  PRIMARY KEY (task, source, trial, content, origin, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blobs (id INTEGER PRIMARY KEY, run BLOB);
"""
_ADD_RUN = f"INSERT INTO runs VALUES ({','.join('?' * 14)})"
_ONCE = "FROM (SELECT *, min(origin) FROM runs {where} GROUP BY task, source, trial, content)"
"""Runs with equal content are one run; it counts as read at the first of its places."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[Origin, msgspec.Raw]).decode
_decode_run = msgspec.msgpack.Decoder(Trajectory).decode
_encode_names = msgspec.json.Encoder().encode
_decode_names = msgspec.json.Decoder(tuple[str, ...]).decode


class EncodedRun(NamedTuple):
    """A sanitized run on its way into a collection, perhaps from another process."""

    task: str
    source: str
    trial: str
    content: bytes
    """A digest of all of it but where it was read."""
    origin: str
    ability: str
    passed: bool | None
    counts: bool
    """Is it evidence?"""
    called: tuple[str, ...]
    """The functions that the agent called."""
    functions: tuple[str, ...]
    """The functions that anybody called."""
    has_secrets: bool
    blob: bytes

    @classmethod
    def of(cls, run: Trajectory) -> EncodedRun:
        encoded = encode_run(run)
        outcome = run.outcome
        return cls(
            task=run.task_key,
            source=run.source,
            trial=run.run,
            content=content_digest(run) if run.system else digest_row(encoded),
            origin=str(run.origin),
            ability=run.ability or "general",
            passed=outcome.passed,
            counts=outcome.passed is not None and outcome.ended != "interrupted",
            called=tuple(sorted({event.function for event in run.events if event.function and event.actor == "agent"})),
            functions=tuple(sorted({event.function for event in run.events if event.function})),
            has_secrets=has_secrets(run),
            blob=_encode((run.origin, msgspec.Raw(encoded))),
        )


def _decode_blob(blob: bytes) -> Trajectory:
    origin, run = _decode(blob)
    return msgspec.structs.replace(_decode_run(run), origin=origin)


class TaskSketch(NamedTuple):
    """A task as its runs sketch it: what a build uses to select tasks without reading their runs again."""

    task_key: str
    ability: str
    passes: bool
    """Some run that is evidence passed."""
    fails: bool
    called: tuple[str, ...]
    runs: int = 1
    """Those that are evidence."""


class TaskGroup(NamedTuple):
    """Some tasks that are processed together."""

    keys: list[str]
    content: bytes
    """A digest of their runs, whatever files these are in."""


class EncodedTask(NamedTuple):
    """The runs of one task as stored, each with its trial."""

    rows: list[tuple[str, bytes]]
    masked: bool
    """Were secrets masked in them?"""

    def decode(self) -> list[Trajectory]:
        runs = [msgspec.structs.replace(_decode_blob(blob), run=trial) for trial, blob in self.rows]
        return number_secrets(runs) if self.masked else runs


class Shard(NamedTuple):
    """Some tasks, on their way to a worker."""

    tasks: list[EncodedTask]

    def decode(self) -> Iterator[list[Trajectory]]:
        """The runs of each task."""
        return (task.decode() for task in self.tasks)


class Collection:
    """Iterate over it for the runs of each task, ordered by task key. One process writes at a time."""

    def __init__(
        self, runs: Iterable[Trajectory] = (), path: Path | None = None, shard_bytes: int = SHARD_BYTES
    ) -> None:
        self.path = path
        self._shard_bytes = shard_bytes
        self._called: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        self._masks = TaskMasks()
        self._unmasked: set[str] = set()
        """Tasks with runs in which a secret may stand that a later run showed."""
        self._connection = _connect(path)
        try:
            self.cache = Cache(self._connection, lasting=path is not None)
            self._next = self._ask("SELECT coalesce(max(id), 0) + 1 FROM blobs")[0][0]
            self.add_all(runs)
        except BaseException:
            self.close()
            raise

    # Taking in

    def add(self, run: Trajectory) -> None:
        """Take in a run."""
        self.add_all([run])

    def add_all(self, runs: Iterable[Trajectory]) -> None:
        """Take in runs, however many."""
        self.put(EncodedRun.of(sanitize(run)) for run in runs)

    def put(self, runs: Iterable[EncodedRun], key: bytes = b"", is_lasting: Callable[[], bool] = lambda: True) -> None:
        """Take in what was read together. With a `key`, it replaces what was read under the same key before, and need
        not be read again, if it `is_lasting`: that is asked when all runs are there."""
        with self._writing():
            if key:
                self._forget([row[0] for row in self._ask("SELECT id FROM reads WHERE key = ?", (key,))])
            read = self._execute("INSERT INTO reads (key, lasting) VALUES (?, ?)", (key or None, bool(key))).lastrowid
            assert read is not None
            rows, blobs, size = list[tuple[Any, ...]](), list[tuple[int, bytes]](), 0
            for run in runs:
                is_masked, blob = self._mask(run)
                if is_masked:  # what is to be masked is known only while its file is read
                    self._execute("UPDATE reads SET lasting = 0 WHERE id = ?", (read,))
                rows.append(self._row(run, blob, is_masked, read))
                blobs.append((self._next, blob))
                self._next, size = self._next + 1, size + len(blob)
                if size >= BATCH_BYTES:
                    self._write(rows, blobs)
                    rows, blobs, size = [], [], 0
            self._write(rows, blobs)
            if not is_lasting():
                self._execute("UPDATE reads SET lasting = 0 WHERE id = ?", (read,))

    def has_read(self, key: bytes) -> bool:
        """Is what was read under this key still there, and as it would be read again?"""
        return bool(key and self._ask("SELECT 1 FROM reads WHERE key = ? AND lasting", (key,)))

    def keep_only(self, keys: Iterable[bytes], after: int) -> None:
        """Forget all that was read before the read number `after` under other keys."""
        kept = set(keys)
        rows = self._ask("SELECT id, key FROM reads WHERE id <= ?", (after,))
        with self._writing():
            self._forget([number for number, key in rows if key not in kept])

    @property
    def last_read(self) -> int:
        """The number of what was read last."""
        return int(self._ask("SELECT coalesce(max(id), 0) FROM reads")[0][0])

    def _forget(self, reads: Sequence[int]) -> None:
        for number in reads:
            self._execute("DELETE FROM blobs WHERE id IN (SELECT id FROM runs WHERE read = ?)", (number,))
            self._execute("DELETE FROM runs WHERE read = ?", (number,))
            self._execute("DELETE FROM reads WHERE id = ?", (number,))

    def _mask(self, run: EncodedRun) -> tuple[bool, bytes]:
        if not run.has_secrets and run.task not in self._masks:
            return False, run.blob
        self._unmasked.add(run.task)
        masked = self._masks.mask(run.task, _decode_blob(run.blob))
        return True, _encode((masked.origin, msgspec.Raw(encode_run(masked))))

    def _row(self, run: EncodedRun, blob: bytes, is_masked: bool, read: int) -> tuple[Any, ...]:
        names = run.called, run.functions
        if names not in self._called:
            written = tuple(_encode_names(each).decode() for each in names)
            self._execute("INSERT OR IGNORE INTO called (agent, anybody) VALUES (?, ?)", written)
            found = self._ask("SELECT id FROM called WHERE agent = ? AND anybody = ?", written)
            self._called[names] = found[0][0]
        return (
            run.task, run.source, run.trial, run.content, run.origin, self._next, read, run.ability,
            run.passed, run.counts, self._called[names], is_masked, digest_row(blob), len(blob),
        )  # fmt: skip

    def _write(self, rows: Sequence[tuple[Any, ...]], blobs: Sequence[tuple[int, bytes]]) -> None:
        self._connection.executemany(_ADD_RUN, rows)
        self._connection.executemany("INSERT INTO blobs VALUES (?, ?)", blobs)

    def _mask_all(self) -> None:
        """Mask in the runs that were written first what later ones of their task showed."""
        tasks, self._unmasked = self._unmasked, set()
        with self._writing():
            for task in tasks:
                query = "SELECT id, read, run FROM runs JOIN blobs USING (id) WHERE task = ?"
                for number, read, blob in self._ask(query, (task,)):
                    masked = self._masks.mask_again(task, _decode_blob(blob))
                    again = _encode((masked.origin, msgspec.Raw(encode_run(masked))))
                    if again != blob:
                        self._execute("UPDATE blobs SET run = ? WHERE id = ?", (again, number))
                        change = "UPDATE runs SET masked = 1, digest = ?, size = ? WHERE task = ? AND id = ?"
                        self._execute(change, (digest_row(again), len(again), task, number))
                        self._execute("UPDATE reads SET lasting = 0 WHERE id = ?", (read,))

    # Asking

    def __len__(self) -> int:
        query = "SELECT count(*) FROM (SELECT DISTINCT task, source, trial, content FROM runs)"
        return int(self._ask(query)[0][0])

    def tasks(self) -> list[str]:
        """Task keys, sorted."""
        return [task for (task,) in self._ask("SELECT DISTINCT task FROM runs ORDER BY task")]

    def functions(self, task_key: str) -> frozenset[str]:
        """The functions called in some run of a task."""
        query = "SELECT DISTINCT anybody FROM runs JOIN called ON called.id = runs.called WHERE task = ?"
        return frozenset(name for (names,) in self._ask(query, (task_key,)) for name in _decode_names(names))

    def sketches(self) -> Iterator[TaskSketch]:
        """The sketch of each task, ordered by task key."""
        called = {number: _decode_names(names) for number, names in self._ask("SELECT id, agent FROM called")}
        rows = self._execute(f"SELECT {', '.join(_SketchRow._fields)} {_ONCE.format(where='')} ORDER BY task")
        for task, runs in groupby(map(_SketchRow._make, rows), lambda row: row.task):
            yield _sketch(task, list(runs), called)

    def runs(self, task_key: str) -> list[Trajectory]:
        """All runs of one task, ordered by source and trial. Runs that claim one trial are numbered by content."""
        return self.read_encoded(task_key).decode()

    def read_encoded(self, task_key: str) -> EncodedTask:
        """The runs of a task as stored."""
        self._finish()
        once = _ONCE.format(where="WHERE task = ?")
        query = f"SELECT source, trial, masked, digest, run {once} JOIN blobs USING (id)"
        rows, is_masked = list[tuple[str, bytes]](), False
        stored = self._ask(f"{query} ORDER BY source, trial, content", (task_key,))
        for (_, trial), claiming in groupby(stored, lambda row: row[:2]):
            for number, (*_, masked, expected, blob) in enumerate(claiming, 1):
                if digest_row(blob) != expected:
                    raise _explain(self.path, "is damaged")
                rows.append((trial if number == 1 else f"{trial}~{number}", blob))
                is_masked |= bool(masked)
        return EncodedTask(rows, is_masked)

    def read_tasks(self, task_keys: Iterable[str]) -> Shard:
        """The runs of these tasks, to be sent to a worker."""
        return Shard([self.read_encoded(key) for key in task_keys])

    def digest(self, task_key: str) -> bytes:
        """Of all that the runs of a task hold, their origin too."""
        self._finish()
        return hashlib.blake2b(self._digests(task_key), digest_size=16).digest()

    def _digests(self, task_key: str) -> bytes:
        query = f"SELECT digest {_ONCE.format(where='WHERE task = ?')} ORDER BY source, trial, content"
        return b"".join(digest for (digest,) in self._ask(query, (task_key,)))

    def groups(self) -> Iterator[TaskGroup]:
        """All tasks, some at a time, ordered by key. Their keys and sizes decide where a group ends, so runs that are
        read later leave most groups as they are."""
        self._finish()
        keys, size, hasher = list[str](), 0, hashlib.blake2b(digest_size=16)
        query = "SELECT task, digest, size FROM runs ORDER BY task, source, trial, content, origin"
        for task, rows in groupby(self._execute(query), lambda row: row[0]):
            keys.append(task)
            for _, digest, length in rows:
                hasher.update(digest)
                size += length
            if size >= self._shard_bytes or (
                self.cache.lasting and crc32(task.encode("utf-8", "replace")) % TASKS_PER_GROUP == 0
            ):
                yield TaskGroup(keys, hasher.digest())
                keys, size, hasher = [], 0, hashlib.blake2b(digest_size=16)
        if keys:
            yield TaskGroup(keys, hasher.digest())

    def shards(self, task_keys: Iterable[str] | None = None) -> Iterator[Shard]:
        """Tasks (by default all, ordered by key), some at a time, to be sent to a worker."""
        tasks: list[EncodedTask] = []
        size = 0
        for task_key in self.tasks() if task_keys is None else task_keys:
            tasks.append(self.read_encoded(task_key))
            size += sum(len(blob) for _, blob in tasks[-1].rows)
            if size >= self._shard_bytes:
                yield Shard(tasks)
                tasks, size = [], 0
        if tasks:
            yield Shard(tasks)

    def __iter__(self) -> Iterator[list[Trajectory]]:
        return (self.runs(key) for key in self.tasks())

    # The file

    def close(self) -> None:
        """Close the file; a temporary one is gone then."""
        self._connection.close()

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _finish(self) -> None:
        if self._unmasked:
            self._mask_all()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.rollback()
            raise
        self._connection.commit()

    def _execute(self, query: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        return self._connection.execute(query, values)

    def _ask(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, values).fetchall()


@contextmanager
def open_collection(path: Path | None) -> Iterator[Collection]:
    """The collection at `path`, which keeps what is read for the next command. A temporary one without a path, and if
    the file cannot be written, somebody else may write it, or another process is writing it."""
    with ExitStack() as stack:
        kept = _open_kept(path, stack) if path is not None else None
        collection = stack.enter_context(kept if kept is not None else Collection())
        try:
            yield collection
        except sqlite3.DatabaseError as error:
            raise _explain(collection.path, str(error)) from error


def collection_beside(store: Path) -> Path:
    """Where the runs that a store learned from are kept."""
    return store.with_name(store.name + ENDING)


def forget_collection(path: Path) -> bool:
    """Remove the file. Was it there?"""
    was_there = path.exists()
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    return was_there


def _open_kept(path: Path, stack: ExitStack) -> Collection | None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)) as file:
            status = os.fstat(file.fileno())
        if hasattr(os, "getuid") and (status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077):
            return None
        if not stack.enter_context(sole_holder(path.with_name(f"{path.name}.lock"))):
            return None
        try:
            return Collection(path=path)
        except sqlite3.DatabaseError:  # damaged, or of another version
            forget_collection(path)
            path.touch(mode=0o600)
            return Collection(path=path)
    except (OSError, UsageError, sqlite3.Error):
        return None


def _connect(path: Path | None) -> sqlite3.Connection:
    # SQLite deletes the file without a name when it is closed, and begins to write it when it outgrows the memory.
    connection = sqlite3.connect(path or "", timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        kept = ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON")
        for pragma in (*(kept if path else ("journal_mode=MEMORY", "synchronous=OFF")), f"cache_size=-{CACHE_KIB}"):
            connection.execute(f"PRAGMA {pragma}")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError(f"is of version {version}")
        connection.executescript(f"{_SCHEMA} PRAGMA user_version = {VERSION};")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _explain(path: Path | None, what: str) -> UsageError:
    if path is None:
        return UsageError(f"runs cannot be stored in the temporary folder ({what}). TMPDIR names another one.")
    return UsageError(f"{path}: {what}. It holds runs that were read before: remove it, and they are read again.")


_RANK: dict[int | None, int] = {1: 0, 0: 1, None: 2}


def _sketch(task: str, rows: Sequence[_SketchRow], called: Mapping[int, tuple[str, ...]]) -> TaskSketch:
    """The ability is that of the first run, passing ones before failing ones, as in the packet of the task."""
    evidence = [row.passed for row in rows if row.counts]
    first = min(rows, key=lambda row: (_RANK[row.passed], row.source, row.trial, row.content))
    functions = {function for row in rows for function in called[row.called]}
    return TaskSketch(task, first.ability, 1 in evidence, 0 in evidence, tuple(sorted(functions)), len(evidence))


class _SketchRow(NamedTuple):
    task: str
    source: str
    trial: str
    content: bytes
    ability: str
    passed: int | None
    counts: int
    called: int
