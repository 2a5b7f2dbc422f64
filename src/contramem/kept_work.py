"""KeptWork: what a build computed is kept in a file, so that the next one computes only what is new.

A result is found by a digest of all that it was computed from, the code included; nothing else can give it back. So the
file may be deleted, cut short or years old: results stay the same, only time is lost. It holds runs as they were
recorded, so its owner alone may read it, and a file that somebody else could have written is not opened.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Protocol

MAX_BYTES = 4 << 30
"""Beyond this, what was used longest ago makes way."""
_CHECK_BYTES = 8
_AT_ONCE = 200
"""Rows that are asked for in one query."""


class Work(Protocol):
    """Where results are kept."""

    def get(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Results by key; those that are not there are missing."""

    def find(self, stage: str, keys: Sequence[bytes]) -> set[bytes]:
        """The keys whose results are there."""

    def put(self, stage: str, results: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep results by key."""


class NoWork:
    """Keeps nothing."""

    def get(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {}

    def find(self, stage: str, keys: Sequence[bytes]) -> set[bytes]:
        return set()

    def put(self, stage: str, results: Iterable[tuple[bytes, bytes]]) -> None:
        for _ in results:  # results may be made on the way
            pass


NO_WORK = NoWork()


class KeptWork:
    """Results in a file. Opened when it is first asked; a file that cannot be used is as good as none."""

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        self._path, self._max_bytes = path, max_bytes
        self._connection: sqlite3.Connection | None = None
        self._is_unusable = False
        self._build = 0
        self._used: list[bytes] = []

    def get(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        names = {_name(stage, key): key for key in keys}
        found = {}
        for name, check, value in self._select("SELECT name, checked, value FROM results WHERE name IN", list(names)):
            if check == _check(value):
                found[names[name]] = value
        self._used += [name for name, key in names.items() if key in found]
        return found

    def find(self, stage: str, keys: Sequence[bytes]) -> set[bytes]:
        names = {_name(stage, key): key for key in keys}
        return {names[name] for (name,) in self._select("SELECT name FROM results WHERE name IN", list(names))}

    def put(self, stage: str, results: Iterable[tuple[bytes, bytes]]) -> None:
        rows = ((_name(stage, key), _check(value), value) for key, value in results)
        while batch := list(islice(rows, _AT_ONCE)):
            self._write("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", batch)
            self._used += [name for name, *_ in batch]

    def close(self) -> None:
        """Note what was used. Let go what was used longest ago, if there is too much."""
        used = [(name, self._build) for name in dict.fromkeys(self._used)]
        self._write("INSERT OR REPLACE INTO uses VALUES (?, ?)", used)
        if self._connection is not None:
            with closing(self._connection), suppress(sqlite3.Error):
                self._shrink(self._connection)
            self._connection = None

    def __enter__(self) -> KeptWork:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _select(self, query: str, names: list[bytes]) -> Iterator[tuple[bytes, ...]]:
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            connection = self._open()
            if connection is None:
                return
            try:
                yield from connection.execute(f"{query} ({','.join('?' * len(some))})", some).fetchall()
            except sqlite3.Error:
                self._give_up()

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        connection = self._open() if rows else None
        if connection is not None:
            try:
                with connection:
                    connection.executemany(statement, rows)
            except sqlite3.Error:
                self._give_up()

    def _open(self) -> sqlite3.Connection | None:
        if self._connection is None and not self._is_unusable:
            try:
                self._connection = _connect(self._path)
                self._build = self._connection.execute("SELECT coalesce(max(build), 0) + 1 FROM uses").fetchone()[0]
            except (OSError, sqlite3.Error):
                self._give_up()
        return self._connection

    def _give_up(self) -> None:
        """A damaged file, a full disk, somebody who holds it for long: the build goes on without."""
        if self._connection is not None:
            self._connection.close()
        self._connection, self._is_unusable = None, True

    def _shrink(self, connection: sqlite3.Connection) -> None:
        size = connection.execute("SELECT coalesce(sum(length(value)), 0) FROM results").fetchone()[0]
        if size <= self._max_bytes:
            return
        by_age = "SELECT coalesce(build, 0) AS build, sum(length(value)) FROM results LEFT JOIN uses USING (name)"
        for build, taken in connection.execute(f"{by_age} GROUP BY 1 ORDER BY 1").fetchall():
            if size <= self._max_bytes:
                break
            with connection:
                connection.execute("DELETE FROM uses WHERE build = ?", (build,))
                connection.execute("DELETE FROM results WHERE name NOT IN (SELECT name FROM uses)")
            size -= taken
        connection.execute("VACUUM")


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)) as file:
        status = os.fstat(file.fileno())
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077):
        raise PermissionError(f"{path}: others may write it")
    connection = sqlite3.connect(path, timeout=10)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("CREATE TABLE IF NOT EXISTS results (name BLOB PRIMARY KEY, checked BLOB, value BLOB)")
        # Beside them, because noting a use would write a result again.
        connection.execute("CREATE TABLE IF NOT EXISTS uses (name BLOB PRIMARY KEY, build INTEGER) WITHOUT ROWID")
        connection.execute("DROP TABLE IF EXISTS work")  # of earlier versions
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _name(stage: str, key: bytes) -> bytes:
    return hashlib.blake2b(key, digest_size=16, key=digest_code(), person=stage.encode()[:16]).digest()


def _check(value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=_CHECK_BYTES).digest()


def digest_parts(*parts: object) -> bytes:
    """A key: a digest of values, by how they are written."""
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


@cache
def digest_code() -> bytes:
    """Of this package's files and of Python: other code may compute something else."""
    hasher = hashlib.blake2b(sys.version.encode(), digest_size=16)
    package = Path(str(files("contramem")))
    for path in sorted((*package.rglob("*.py"), *package.rglob("*.toml"))):
        status = path.stat()
        hasher.update(f"{path.relative_to(package)} {status.st_size} {status.st_mtime_ns}".encode())
    return hasher.digest()


def default_place() -> Path:
    """Where a build keeps its work: in the user's cache folder, or in the file that CONTRAMEM_CACHE names."""
    if named := os.environ.get("CONTRAMEM_CACHE"):
        return Path(named)
    folder = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(folder) if folder else Path.home() / ".cache") / "contramem" / "work.db"


def forget_work(path: Path | None = None) -> bool:
    """Remove all that is kept. Was there any?"""
    path = path or default_place()
    there = path.exists()
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    return there
