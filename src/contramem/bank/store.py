"""Store: the living bank, its ledger and its build progress, in a SQLite file or in PostgreSQL.

One decision is one transaction: the changed cards, the ledger entry and the build progress are recorded together or not
at all, so a build that was killed continues where it stopped. There is one writer at a time.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self
from urllib.parse import quote

import sqlalchemy as sql
from msgspec import DecodeError
from pydantic import ValidationError
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from contramem.bank import tables
from contramem.bank.bank import Bank, BankEntry, Change
from contramem.bank.card import SkillCard
from contramem.bank.frozen import SQLITE_BEGINS_WITH, is_url, without_password
from contramem.bank.ledger import Decision, LedgerEntry, PastDecision, fold, read_past, seal
from contramem.bank.tables import StoredExchange
from contramem.errors import StoreError, UsageError
from contramem.file_lock import sole_holder

# Fixed SQL that both SQLite and PostgreSQL understand: a build records thousands of decisions, and constructing
# statements each time would cost more than running them.
_BANK = sql.text("SELECT card_id, holding FROM contramem_cards")
_HELD = sql.text("SELECT holding FROM contramem_cards WHERE card_id = :card_id")
_PUT_CARD = sql.text(
    "INSERT INTO contramem_cards (card_id, kind, ability, status, version, holding)"
    " VALUES (:card_id, :kind, :ability, :status, :version, :holding)"
    " ON CONFLICT (card_id) DO UPDATE"
    " SET status = excluded.status, version = excluded.version, holding = excluded.holding"
)
_LAST = sql.text("SELECT max(number) FROM contramem_decisions")
_PUT_DECISION = sql.text(
    "INSERT INTO contramem_decisions (number, recorded_at, operation, accepted, ability, author, decision, chain)"
    " VALUES (:number, :recorded_at, :operation, :accepted, :ability, :author, :decision, :chain)"
)
_PUT_CHANGE = sql.text(
    "INSERT INTO contramem_changes (number, position, card_id, change) VALUES (:number, :position, :card_id, :change)"
)
_PUT_MENTION = sql.text("INSERT INTO contramem_mentions (card_id, number) VALUES (:card_id, :number)")
_MENTIONED = sql.text("SELECT number, card_id FROM contramem_mentions WHERE number > :after")
_ABOUT_CARD = "WHERE number IN (SELECT number FROM contramem_mentions WHERE card_id = :card_id)"
_DECISIONS = "SELECT number, recorded_at, decision FROM contramem_decisions {} ORDER BY number"
_CHANGES = "SELECT number, change FROM contramem_changes {} ORDER BY number, position"
_CHANGED_CARDS = "SELECT number, card_id, change FROM contramem_changes {} ORDER BY number, position"
_PROGRESS = sql.text("SELECT step, state FROM contramem_progress")
_PUT_PROGRESS = sql.text(
    "INSERT INTO contramem_progress (step, state) VALUES (:step, :state)"
    " ON CONFLICT (step) DO UPDATE SET state = excluded.state"
)
_HOLDER = sql.text("SELECT purpose, pid, host, since FROM contramem_holder")
_NO_HOLDER = sql.text("DELETE FROM contramem_holder")
_PUT_HOLDER = sql.text(
    "INSERT INTO contramem_holder (purpose, pid, host, since) VALUES (:purpose, :pid, :host, :since)"
)


def open_store(where: str | Path, *, create: bool = False, clock: Callable[[], datetime] | None = None) -> Store:
    """Open the store at a SQLite path or PostgreSQL URL; `create` creates it if needed."""
    where = str(where)
    if not is_url(where):
        _check_file(Path(where), create)
    store = Store(where, clock or (lambda: datetime.now(UTC)))
    try:
        store._prepare(create)
    except BaseException:
        store.close()
        raise
    return store


class DecisionSummary(NamedTuple):
    """A decision in a line of a list."""

    number: int
    at: str
    operation: str
    outcome: Literal["accepted", "refused"]
    by: str
    kind: str
    """`rules`, `model` or `person`."""
    cards: str
    """Ids of the cards that it changed or named."""
    reason: str


def _summary(number: int, at: str, decision: Mapping[str, Any], cards: Iterable[str]) -> DecisionSummary:
    by = decision["by"]
    outcome: Literal["accepted", "refused"] = "accepted" if decision.get("accepted", True) else "refused"
    operation, reason = decision.get("operation") or "", decision["reason"]
    return DecisionSummary(number, at[:19], operation, outcome, by["name"], by["kind"], " ".join(sorted(cards)), reason)


class _WrittenChange(NamedTuple):
    """A change of a card, with its two sides as JSON."""

    before: str | None
    row: dict[str, Any]
    """The card afterwards, as a table row."""

    def __str__(self) -> str:
        return f'{{"before":{self.before or "null"},"after":{self.row["holding"]}}}'


class Store:
    """Reads at any time; writes only inside `writing`. Close it, or use it in a `with`."""

    def __init__(self, where: str, clock: Callable[[], datetime]) -> None:
        self.where = where
        self._clock = clock
        self._engine = connect(where)
        self._writer: Connection | None = None
        self._last_written: dict[str, tuple[BankEntry, str]] = {}
        """By card: the entry that was written last, and its JSON. Usually it is the `before` of the next change."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._engine.dispose()

    def bank(self) -> Bank:
        """The bank as it is now."""
        with self.reading() as connection:
            rows = connection.execute(_BANK).all()
            return Bank({card_id: BankEntry.model_validate_json(holding) for card_id, holding in rows})

    def bank_at(self, number: int) -> Bank:
        """The bank as it was after decision `number`, rebuilt from the ledger."""
        return fold(entry for entry in self.ledger() if entry.number <= number)

    def ledger(self, card_id: str | None = None) -> tuple[LedgerEntry, ...]:
        """All decisions in order, or those that changed or named one card."""
        return self._entries(_ABOUT_CARD, card_id=card_id) if card_id is not None else self._entries("")

    def past(self, card_id: str) -> list[PastDecision]:
        """The decisions that changed or named one card, in order, without the cards before and after them."""
        with self.reading() as connection:
            about = {"card_id": card_id}
            rows = connection.execute(sql.text(_DECISIONS.format(_ABOUT_CARD)), about).all()
            changed = defaultdict[int, list[tuple[str, str]]](list)
            for number, changed_id, change in connection.execute(sql.text(_CHANGED_CARDS.format(_ABOUT_CARD)), about):
                changed[number].append((changed_id, change))
            return [read_past(text, changed[number]) for number, _, text in rows]

    def ledger_page(self, before: int, limit: int) -> tuple[LedgerEntry, ...]:
        """At most `limit` decisions with numbers below `before`, the newest first."""
        span = {"first": max(1, before - limit), "before": before}
        return self._entries("WHERE number >= :first AND number < :before", **span)[::-1]

    def search_ledger(self, words: Sequence[str], limit: int) -> tuple[LedgerEntry, ...]:
        """At most `limit` decisions that contain every word in reason, author, candidate or patch, newest first."""
        like = {f"word{place}": f"%{escape_like(word.lower())}%" for place, word in enumerate(words)}
        holds = " AND ".join(f"lower(decision) LIKE :{name} ESCAPE '!'" for name in like)
        newest = f"SELECT number FROM contramem_decisions WHERE {holds} ORDER BY number DESC LIMIT {limit:d}"
        return self._entries(f"WHERE number IN ({newest})", **like)[::-1] if like else ()

    def summaries(self, after: int = 0) -> list[DecisionSummary]:
        """Every decision with a number above `after` in a line, oldest first."""
        with self.reading() as connection:
            rows = connection.execute(sql.text(_DECISIONS.format("WHERE number > :after")), {"after": after}).all()
            about = defaultdict[int, list[str]](list)
            for number, card_id in connection.execute(_MENTIONED, {"after": after}):
                about[number].append(card_id)
        return [_summary(number, at, json.loads(text), about[number]) for number, at, text in rows]

    def _entries(self, which: str, **values: object) -> tuple[LedgerEntry, ...]:
        """The decisions that a WHERE clause selects, in order."""
        with self.reading() as connection:
            rows = connection.execute(sql.text(_DECISIONS.format(which)), values).all()
            changed = defaultdict[int, list[Change]](list)
            for number, change in connection.execute(sql.text(_CHANGES.format(which)), values):
                changed[number].append(Change.model_validate_json(change))
            return tuple(LedgerEntry(number, at, _decision(text, changed[number])) for number, at, text in rows)

    def progress(self) -> dict[str, str]:
        """The progress of builds: state by step."""
        with self.reading() as connection:
            return {row.step: row.state for row in connection.execute(_PROGRESS)}

    def last_decision(self) -> int:
        """The number of the last decision; 0 before the first."""
        with self.reading() as connection:
            return int(connection.scalar(_LAST) or 0)

    def call(self, digest: str) -> StoredExchange | None:
        """The stored reply to the request with this digest."""
        with self.reading() as connection:
            return tables.find_call(connection, digest)

    def calls(self) -> tuple[StoredExchange, ...]:
        """Every call of a model that was paid for."""
        with self.reading() as connection:
            return tables.all_calls(connection)

    @contextmanager
    def writing(self, purpose: str) -> Iterator[Self]:
        """Become the only writer. A second writer, in any process, gets a StoreError that names the first.

        The lock is released when its process ends, even if it is killed.
        """
        assert self._writer is None, "already writing"
        with explain_errors(self.where, reads_rows=False), self._engine.connect() as connection:
            writer = connection.execution_options(writes=True)
            with sole_writer(writer, self.where) as free:
                if not free:
                    raise StoreError(
                        f"{without_password(self.where)} is in use by {self._holder()}. Wait for it to end."
                    )
                self._sign_in(writer, purpose)
                self._writer = writer
                try:
                    yield self
                finally:
                    self._writer = None

    def keep(self, call: StoredExchange) -> None:
        """Store a paid call, whether or not its reply is used."""
        assert self._writer is not None, "keep() belongs inside `with store.writing(...)`"
        at = self._clock().astimezone(UTC).isoformat(timespec="seconds")
        with explain_errors(self.where), self._writer.begin():
            tables.put_call(self._writer, call._replace(recorded_at=at))

    def record(
        self, *decisions: Decision, progress: Mapping[str, str] | None = None, charged: Iterable[str] = ()
    ) -> tuple[LedgerEntry, ...]:
        """Record decisions, in order, and progress in one transaction. On any error nothing is recorded.

        `charged` are digests of the calls whose cost is in these decisions.
        """
        assert self._writer is not None, "record() belongs inside `with store.writing(...)`"
        with explain_errors(self.where), self._writer.begin():
            entries = self._append(self._writer, decisions)
            self._put_progress(self._writer, progress or {})
            for digest in charged:
                tables.charge_call(self._writer, digest)
        return entries

    def _put_progress(self, connection: Connection, progress: Mapping[str, str]) -> None:
        if progress:
            connection.execute(_PUT_PROGRESS, [{"step": step, "state": state} for step, state in progress.items()])

    def erase(self, erase: Callable[[Connection], int], decisions: Iterable[Decision] = ()) -> int:
        """Run `erase` and record `decisions` in one transaction, then free the space, so that no page still contains
        the deleted data."""
        assert self._writer is not None, "erase() belongs inside `with store.writing(...)`"
        is_sqlite = self._writer.dialect.name == "sqlite"
        with explain_errors(self.where):
            if is_sqlite:
                self._run_alone("PRAGMA secure_delete = ON")
            with self._writer.begin():
                erased = erase(self._writer)
                self._append(self._writer, tuple(decisions))
            if is_sqlite:
                self._run_alone("VACUUM")
                self._run_alone("PRAGMA wal_checkpoint(TRUNCATE)")
        return erased

    def fill(self, fill: Callable[[Connection], dict[str, int]]) -> dict[str, int]:
        """Run `fill`, which inserts rows, in one transaction."""
        assert self._writer is not None, "fill() belongs inside `with store.writing(...)`"
        with explain_errors(self.where), self._writer.begin():
            return fill(self._writer)

    def _run_alone(self, statement: str) -> None:
        """Run a statement that SQLite accepts only outside a transaction."""
        assert self._writer is not None
        raw = self._writer.connection.driver_connection
        assert raw is not None
        raw.execute(statement).fetchall()

    def texts(self, columns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """(table, text) of every row, for searching."""
        with self.reading() as connection:
            for table, text in columns.items():
                for (value,) in connection.exec_driver_sql(f"SELECT {text} FROM {table}"):
                    yield table, str(value)

    def _append(self, connection: Connection, decisions: Sequence[Decision]) -> tuple[LedgerEntry, ...]:
        """Append to the ledger, and change the cards."""
        at = self._clock().astimezone(UTC).isoformat(timespec="seconds")
        first = (connection.scalar(_LAST) or 0) + 1
        before = tables.last_seal(connection) if decisions else ""
        for number, decision in enumerate(decisions, first):
            text, changes = (
                decision.model_dump_json(exclude={"changes"}),
                list(map(self._write_change, decision.changes)),
            )
            before = seal(before, number, at, text, map(str, changes))
            row = {"operation": decision.operation, "accepted": decision.accepted, "ability": decision.ability}
            row |= {"author": str(decision.by), "decision": text}
            connection.execute(_PUT_DECISION, row | {"number": number, "recorded_at": at, "chain": before})
            for position, change in enumerate(changes):
                self._change(connection, number, position, change)
            if decision.card_ids:
                mentions = [{"card_id": card_id, "number": number} for card_id in decision.card_ids]
                connection.execute(_PUT_MENTION, mentions)
        return tuple(LedgerEntry(number, at, decision) for number, decision in enumerate(decisions, first))

    def _write_change(self, change: Change) -> _WrittenChange:
        before = None if change.before is None else self._write_entry(change.before)
        card = change.after.card
        row = {
            "card_id": card.card_id,
            "kind": "skill" if isinstance(card, SkillCard) else "function",
            "ability": card.ability if isinstance(card, SkillCard) else None,
            "status": change.after.status,
            "version": card.version,
            "holding": self._write_entry(change.after),
        }
        return _WrittenChange(before, row)

    def _write_entry(self, entry: BankEntry) -> str:
        last, written = self._last_written.get(entry.card.card_id, (None, ""))
        if last is not entry:
            written = entry.model_dump_json()
            self._last_written[entry.card.card_id] = entry, written
        return written

    def _change(self, connection: Connection, number: int, position: int, change: _WrittenChange) -> None:
        card_id = change.row["card_id"]
        stored = connection.scalar(_HELD, {"card_id": card_id})
        if stored != change.before and not _is_same_entry(stored, change.before):
            raise StoreError(
                f"{without_password(self.where)}: {card_id} was changed by another writer in the meantime, so this "
                f"decision no longer fits and was not recorded. Run the command again to continue from the current "
                f"bank."
            )
        row = {"number": number, "position": position, "card_id": card_id, "change": str(change)}
        connection.execute(_PUT_CHANGE, row)
        connection.execute(_PUT_CARD, change.row)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read transaction on the current state."""
        with explain_errors(self.where), self._engine.connect() as connection, connection.begin():
            yield connection

    def _prepare(self, create: bool) -> None:
        with self.reading() as connection:
            is_store = tables.is_store(connection)
            if not is_store and (not create or (not is_url(self.where) and sql.inspect(connection).get_table_names())):
                raise StoreError(f"{without_password(self.where)}: is a database, but no contramem store. {_MAKE_ONE}")
            if is_store and not tables.pending(connection, without_password(self.where)):
                return
        writing = self._engine.execution_options(writes=True)
        with explain_errors(self.where), writing.begin() as connection:
            tables.migrate(connection, without_password(self.where))

    def _sign_in(self, writer: Connection, purpose: str) -> None:
        since = self._clock().astimezone(UTC).isoformat(timespec="seconds")
        with writer.begin():
            writer.execute(_NO_HOLDER)
            row = {"purpose": purpose, "pid": os.getpid(), "host": socket.gethostname(), "since": since}
            writer.execute(_PUT_HOLDER, row)

    def _holder(self) -> str:
        with self.reading() as connection:
            holder = connection.execute(_HOLDER).first()
        if holder is None:
            return "another process"
        return f"`contramem {holder.purpose}`, process {holder.pid} on {holder.host}, since {holder.since}"


_MAKE_ONE = "`contramem build TRACES --bank STORE` makes one."


def _check_file(path: Path, create: bool) -> None:
    if path.is_dir():
        raise UsageError(f"{path}: is a folder. A store is a file.")
    if not path.exists() or path.stat().st_size == 0:
        if not create:
            raise UsageError(f"{path}: there is no store here. {_MAKE_ONE}")
        if not path.absolute().parent.is_dir():
            raise UsageError(f"{path}: the folder {path.parent} does not exist. Create it first.")
        path.touch(mode=0o600)  # a store contains prompts and replies, so other users must not read it
        return
    with path.open("rb") as file:
        begins_with = file.read(16)
    if begins_with != SQLITE_BEGINS_WITH:
        if begins_with.startswith(b'{"contramem_bank'):
            raise StoreError(f"{path}: is a frozen bank; this needs a store: the one it came from, or a new file.")
        raise StoreError(f"{path}: is not a store: it begins with {begins_with!r}, so it is not SQLite.")


def _is_same_entry(stored: str | None, before: str | None) -> bool:
    """Another version may have written the same entry in other words."""
    if stored is None or before is None:
        return False
    return BankEntry.model_validate_json(stored) == BankEntry.model_validate_json(before)


def _decision(text: str, changes: list[Change]) -> Decision:
    decision = Decision.model_validate_json(text)
    return decision.model_copy(update={"changes": tuple(changes)})


# Connecting, the one writer, and errors that a user can fix

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
