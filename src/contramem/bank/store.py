"""Store: the living bank, its ledger and its build progress, in a SQLite file or in PostgreSQL.

One decision is one transaction: the changed cards, the ledger entry and the build progress are recorded together or not
at all, so a build that was killed continues where it stopped.
"""

from __future__ import annotations

import json
import os
import socket
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from contramem.bank import migrations, model_calls
from contramem.bank.bank import Bank, BankEntry, Change
from contramem.bank.card import SkillCard
from contramem.bank.chain import last_seal, seal
from contramem.bank.database import connect, escape_like, explain_errors, sole_writer
from contramem.bank.ledger import Decision, LedgerEntry, fold
from contramem.bank.locate import SQLITE_BEGINS_WITH, is_url, without_password
from contramem.bank.model_calls import StoredExchange
from contramem.bank.past import PastDecision, read_past
from contramem.errors import StoreError, UsageError

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
            return model_calls.find(connection, digest)

    def calls(self) -> tuple[StoredExchange, ...]:
        """Every call of a model that was paid for."""
        with self.reading() as connection:
            return model_calls.every(connection)

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
            model_calls.put(self._writer, call._replace(recorded_at=at))

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
                model_calls.charge(self._writer, digest)
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
        before = last_seal(connection) if decisions else ""
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
            is_store = migrations.is_store(connection)
            if not is_store and (not create or (not is_url(self.where) and sql.inspect(connection).get_table_names())):
                raise StoreError(f"{without_password(self.where)}: is a database, but no contramem store. {_MAKE_ONE}")
            if is_store and not migrations.pending(connection, without_password(self.where)):
                return
        writing = self._engine.execution_options(writes=True)
        with explain_errors(self.where), writing.begin() as connection:
            migrations.migrate(connection, without_password(self.where))

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
