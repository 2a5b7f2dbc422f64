"""Connects to SQLite or PostgreSQL, makes sure that there is one writer, and explains database errors."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sql
from msgspec import DecodeError
from pydantic import ValidationError
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from contramem.bank.locate import is_url, without_password
from contramem.errors import StoreError, UsageError
from contramem.file_lock import sole_holder

BUSY_TIMEOUT_S = 10.0


def connect(where: str) -> Engine:
    """An engine for a SQLite path or a PostgreSQL URL. Nothing is opened yet."""
    return _postgres(where) if is_url(where) else _sqlite(Path(where))


def _postgres(where: str) -> Engine:
    scheme, _, rest = where.partition("://")
    if scheme not in ("postgres", "postgresql", "postgresql+psycopg"):
        raise UsageError(f"{scheme}:// is not a store. A store is a SQLite path or a postgresql:// URL.")
    try:
        return sql.create_engine(f"postgresql+psycopg://{rest}", pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise UsageError("a PostgreSQL store needs psycopg: pip install 'contramem[postgres]'.") from error
    except (ArgumentError, ValueError) as error:
        raise UsageError(
            f"this is not a PostgreSQL URL: {error}. Write postgresql://user@host:port/database."
        ) from error


def _sqlite(path: Path) -> Engine:
    # In a read-only folder, SQLite cannot create the files its log needs. If there is no log, no writer is active, so
    # the file can be opened as immutable.
    frozen = path.exists() and not os.access(path.absolute().parent, os.W_OK) and not _log(path).exists()
    uri = f"file:{quote(str(path.absolute()))}{'?immutable=1' if frozen else ''}"

    def open_connection() -> sqlite3.Connection:
        # The pool gives a connection to one thread at a time, but not always to the thread that opened it.
        connection = sqlite3.connect(
            uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            # With NORMAL, a killed process loses nothing; a power cut may lose the last decisions but not the store.
            for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
                connection.execute(f"PRAGMA {pragma}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    engine = sql.create_engine("sqlite://", creator=open_connection, poolclass=sql.pool.QueuePool)
    sql.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _begin_sqlite(connection: Connection) -> None:
    # In WAL mode, a transaction that reads first and writes later can fail half-way, so writers lock from the start.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


_STORE_LOCK = "746173, hashtext(current_schema())"


@contextmanager
def sole_writer(connection: Connection, where: str) -> Iterator[bool]:
    """Try to become the only writer; yields whether that succeeded. Released when this process ends, even if killed.

    On PostgreSQL the lock belongs to `connection` and is lost with it.
    """
    if connection.dialect.name == "postgresql":
        with _advisory_lock(connection) as free:
            yield free
    else:
        with ExitStack() as lock:
            try:
                free = lock.enter_context(sole_holder(Path(f"{Path(where).absolute()}-lock")))
            except UsageError as error:
                raise StoreError(str(error)) from None
            yield free


@contextmanager
def _advisory_lock(connection: Connection) -> Iterator[bool]:
    """A lock of the session: no row is locked and no transaction stays open while a writer works."""

    def ask(function: str) -> bool:
        with connection.begin():
            return bool(connection.exec_driver_sql(f"SELECT {function}({_STORE_LOCK})").scalar())

    acquired = ask("pg_try_advisory_lock")
    try:
        yield acquired
    finally:
        if acquired and not connection.invalidated:
            ask("pg_advisory_unlock")


def escape_like(text: str) -> str:
    """Escape `text` so that it matches literally in LIKE ... ESCAPE '!'."""
    return re.sub(r"[!%_]", r"!\g<0>", text)


@contextmanager
def explain_errors(where: str, *, reads_rows: bool = True) -> Iterator[None]:
    """Turn errors that a user can fix (disk, rights, locks, connection, wrong file) into a StoreError. Without
    `reads_rows`, a value that cannot be parsed is none of the store's."""
    try:
        yield
    except (ValidationError, DecodeError, UnicodeDecodeError, OverflowError, sql.exc.NoSuchColumnError) as error:
        # A stored row that cannot be parsed is damaged: rows are validated before they are written.
        if not reads_rows:
            raise
        raise StoreError(f"{without_password(where)}: {_DAMAGED.format('a row cannot be read')}") from error
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        advice = _sqlite_advice(cause) if isinstance(cause, sqlite3.Error) else _postgres_advice(error)
        if advice is None:
            raise
        raise StoreError(f"{without_password(where)}: {advice}") from error


_SQLITE_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full. Nothing of this decision was recorded: free some space and run it again.",
    sqlite3.SQLITE_IOERR: "reading or writing failed. Look at the disk and its free space, then run it again.",
    sqlite3.SQLITE_BUSY: "another process keeps the store locked. Wait for it to end, then run it again.",
    sqlite3.SQLITE_LOCKED: "another process keeps the store locked. Wait for it to end, then run it again.",
    sqlite3.SQLITE_READONLY: "may only be read. Make file and folder writable, or work on a copy.",
    sqlite3.SQLITE_PERM: "may not be opened. Check the rights of file and folder.",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened. Check that the folder exists, and the rights of both.",
    sqlite3.SQLITE_NOTADB: "is not a store: it is not a SQLite file.",
    sqlite3.SQLITE_CORRUPT: "is damaged. `contramem bank check FILE` says what is broken; restore it from a copy.",
    sqlite3.SQLITE_MISMATCH: "is damaged. `contramem bank check FILE` says what is broken; restore it from a copy.",
    sqlite3.SQLITE_TOOBIG: "is damaged. `contramem bank check FILE` says what is broken; restore it from a copy.",
}
_DAMAGED = "is damaged ({}). `contramem bank check FILE` says what is broken; restore it from a copy."
# SQLite reports these as errors in the statement, but the statement is right and the file is damaged.
_SIGNS_OF_DAMAGE = re.compile(
    r"no such (?:table|column)|malformed|could not decode|has no column|is not a table|unsupported file format",
    re.IGNORECASE,
)


def _sqlite_advice(error: sqlite3.Error) -> str | None:
    code = getattr(error, "sqlite_errorcode", 0)
    advice = _SQLITE_ADVICE.get(code & 0xFF)
    if advice is None and _SIGNS_OF_DAMAGE.search(str(error)):
        return _DAMAGED.format(error)
    return f"{advice} ({error.sqlite_errorname})" if advice else None


_POSTGRES_ADVICE = {
    "53100": "the disk of the server is full. Nothing of this decision was recorded: free some space and run it again.",
    "25006": "the server only lets this be read. Use the primary server.",
    "3F000": "the schema that the URL names does not exist. Create it: CREATE SCHEMA name.",
    "42501": "this user may not do that. Grant it the rights to the contramem tables, or use another user.",
    "55P03": "another process keeps the store locked. Wait for it to end, then run it again.",
}


def _postgres_advice(error: Exception) -> str | None:
    cause = getattr(error, "orig", None)
    advice = _POSTGRES_ADVICE.get(getattr(cause, "sqlstate", None) or "")
    if advice is None and isinstance(error, OperationalError):  # the server is down or went away
        first_line = str(cause).strip().partition("\n")[0]
        advice = f"the server cannot be reached ({first_line}). Nothing of this decision was recorded: run it again."
    return advice
