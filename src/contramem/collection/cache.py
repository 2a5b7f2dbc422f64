"""One cache of what was computed, by a digest of everything it was computed from, the code included.

It lies in the file of a collection. Values are unpickled, and such a file may come from anybody, so each is signed with
a key that only this user has. A missing, damaged or foreign value costs time, never a result.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import pickle
import secrets
import sqlite3
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from contramem.engine import Engine

Shared = TypeVar("Shared")
Shard = TypeVar("Shard")
Result = TypeVar("Result")

SCHEMA = "CREATE TABLE IF NOT EXISTS cache (name BLOB PRIMARY KEY, signature BLOB, value BLOB)"
KEY_BYTES = 32
_AT_ONCE = 200
"""Rows per query."""


class Job(NamedTuple, Generic[Shard]):
    """Work on one shard."""

    key: bytes
    """A digest of everything that its result is computed from. Empty: the result isn't cached."""
    make_shard: Callable[[], Shard]
    """Called only if the result has to be computed."""


class Cache:
    """Values by stage and key. Unless it is `lasting`, `compute` looks nothing up and stores nothing."""

    def __init__(self, connection: sqlite3.Connection, *, lasting: bool) -> None:
        self.lasting = lasting
        self._connection = connection
        self._used: set[bytes] = set()
        connection.execute(SCHEMA)

    def get(self, stage: str, key: bytes) -> bytes | None:
        """The value, unless it is missing or somebody else wrote it."""
        name = _name(stage, key)
        row = self._connection.execute("SELECT signature, value FROM cache WHERE name = ?", (name,)).fetchone()
        if row is None or (self.lasting and not hmac.compare_digest(row[0], _sign(row[1]))):
            return None
        self._used.add(name)
        return bytes(row[1])

    def find(self, stage: str, keys: Sequence[bytes]) -> set[bytes]:
        """The keys that have a value."""
        names = {_name(stage, key): key for key in keys}
        some, found = list(names), set[bytes]()
        for start in range(0, len(some), _AT_ONCE):
            asked = some[start : start + _AT_ONCE]
            query = f"SELECT name FROM cache WHERE name IN ({','.join('?' * len(asked))})"
            found |= {names[name] for (name,) in self._connection.execute(query, asked)}
        return found

    def put(self, stage: str, key: bytes, value: bytes) -> None:
        name = _name(stage, key)
        row = (name, _sign(value) if self.lasting else b"", value)
        self._connection.execute("INSERT OR REPLACE INTO cache VALUES (?, ?, ?)", row)
        self._used.add(name)

    def drop(self, stage: str, key: bytes) -> None:
        self._connection.execute("DELETE FROM cache WHERE name = ?", (_name(stage, key),))

    def drop_unused(self) -> None:
        """Drop every value that was neither stored nor asked for since the cache was opened."""
        names = [name for (name,) in self._connection.execute("SELECT name FROM cache")]
        unused = [(name,) for name in names if name not in self._used]
        self._connection.executemany("DELETE FROM cache WHERE name = ?", unused)

    def compute(
        self,
        engine: Engine,
        run: Callable[[Shared, Shard], Result],
        jobs: Iterable[Job[Shard]],
        shared: Shared,
        shorten: Callable[[Result], Result] | None = None,
    ) -> Iterator[Result]:
        """The result of each job, in their order; those without a cached one are computed on the engine. A result whose
        `is_lasting` is False isn't cached. `shorten` makes the value that is cached from a result."""
        if not self.lasting:
            yield from engine.map(run, (job.make_shard() for job in jobs), shared)
            return
        stage = run.__name__
        waiting = deque[tuple[Job[Shard], bool]]()

        def missing() -> Iterator[Shard]:
            for job in jobs:
                is_cached = bool(job.key) and bool(self.find(stage, [job.key]))
                waiting.append((job, is_cached))
                if not is_cached:
                    yield job.make_shard()

        def load_cached() -> Iterator[Result]:
            while waiting and waiting[0][1]:
                job, _ = waiting.popleft()
                value = self.get(stage, job.key)
                yield run(shared, job.make_shard()) if value is None else pickle.loads(value)

        for result in engine.map(run, missing(), shared):
            yield from load_cached()
            job, _ = waiting.popleft()
            if job.key and getattr(result, "is_lasting", True):
                self.put(stage, job.key, _pickle(shorten(result) if shorten is not None else result))
            yield result
        yield from load_cached()


def digest_parts(*parts: object) -> bytes:
    """A key: a digest of values, by their repr."""
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def cache_folder() -> Path:
    """Where this user's caches are, or the folder that CONTRAMEM_CACHE names."""
    if named := os.environ.get("CONTRAMEM_CACHE"):
        return Path(named)
    folder = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(folder) if folder else Path.home() / ".cache") / "contramem"


def _pickle(value: Any) -> bytes:
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _name(stage: str, key: bytes) -> bytes:
    return hashlib.blake2b(key, digest_size=16, key=digest_code(), person=stage.encode()[:16]).digest()


def _sign(value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=16, key=user_key()).digest()


@cache
def user_key() -> bytes:
    """The key of this user, made when it is first needed. Where none can be stored, it lasts as long as the process."""
    path = cache_folder() / "key"
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (
            suppress(FileExistsError),
            os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new,
        ):
            new.write(secrets.token_bytes(KEY_BYTES))
        key = path.read_bytes()
        if len(key) == KEY_BYTES:
            return key
    return secrets.token_bytes(KEY_BYTES)


@cache
def digest_code() -> bytes:
    """Of this package's files and of Python: other code may compute something else."""
    hasher = hashlib.blake2b(sys.version.encode(), digest_size=16)
    package = Path(str(files("contramem")))
    for path in sorted((*package.rglob("*.py"), *package.rglob("*.toml"), *package.rglob("*.txt"))):
        status = path.stat()
        hasher.update(f"{path.relative_to(package)} {status.st_size} {status.st_mtime_ns}".encode())
    return hasher.digest()
