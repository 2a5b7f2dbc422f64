"""Checks a store: its file, the hash chain of its ledger, and its cards against the ledger. Salvages a damaged store
into a new one.

The file is read row by row with plain SQLite, so that even a store that does not open otherwise can be examined.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from pydantic import ValidationError

from contramem.bank.bank import BankEntry, Change
from contramem.bank.chain import BEGINNING, first_broken, seal
from contramem.bank.ledger import Decision
from contramem.bank.locate import SQLITE_BEGINS_WITH
from contramem.errors import StoreError, UsageError

MAX_COMPLAINTS = 20
TABLES = {
    "contramem_decisions": "number, recorded_at, operation, accepted, ability, author, decision, chain",
    "contramem_changes": "number, position, card_id, change",
    "contramem_mentions": "card_id, number",
    "contramem_cards": "card_id, kind, ability, status, version, holding",
    "contramem_progress": "step, state",
    "contramem_calls": (
        "digest, attempt, stage, subject, model, prompt, request, reply, finish, tokens_in, tokens_out, cost_usd,"
        " recorded_at, charged"
    ),
}


class CheckedDecision(NamedTuple):
    """A decision as it is stored, with its changes."""

    row: tuple[Any, ...]
    changes: tuple[tuple[Any, ...], ...]
    is_readable: bool

    @property
    def number(self) -> int:
        return int(self.row[0])


@dataclass(frozen=True)
class StoreCheck:
    """The result of a check. With nothing in it, the store is intact."""

    damage: tuple[str, ...] = ()
    """Errors that SQLite reports, and tables that cannot be read to their end."""
    decisions: int = 0
    """Readable."""
    unreadable_decisions: tuple[int, ...] = ()
    missing_decisions: tuple[int, ...] = ()
    """Gaps in the numbers of the decisions."""
    chain_broken_at: int | None = None
    cards: int = 0
    """Readable."""
    unreadable_cards: int = 0
    differing_cards: tuple[str, ...] = ()
    """Cards that differ from what the ledger says."""
    unreadable_calls: int = 0

    @property
    def is_whole(self) -> bool:
        lost = self.unreadable_decisions or self.missing_decisions or self.unreadable_cards or self.unreadable_calls
        return not (self.damage or lost or self.differing_cards or self.chain_broken_at)


@dataclass
class _Salvage:
    """Every row that could be read."""

    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)


def check_store(path: Path) -> StoreCheck:
    """Check the store at `path` without changing it. Raises UsageError if there is none."""
    salvage = _read_everything(path)
    decisions = list(_decisions(salvage))
    readable = [decision for decision in decisions if decision.is_readable]
    entries, unreadable_cards = _entries(salvage)
    numbers = [decision.number for decision in decisions]
    present = set(numbers)
    folded = _fold(readable)
    sealed = [(d.number, d.row[1], d.row[6], d.row[7], [change[3] for change in d.changes]) for d in readable]
    return StoreCheck(
        damage=tuple(salvage.damage[:MAX_COMPLAINTS]),
        decisions=len(readable),
        unreadable_decisions=tuple(d.number for d in decisions if not d.is_readable),
        missing_decisions=tuple(number for number in range(1, max(present, default=0)) if number not in present),
        chain_broken_at=first_broken(sealed),
        cards=len(entries),
        unreadable_cards=unreadable_cards,
        differing_cards=tuple(
            sorted(card_id for card_id in {*folded, *entries} if folded.get(card_id) != entries.get(card_id))
        ),
        unreadable_calls=sum(1 for row in salvage.rows.get("contramem_calls", ()) if not isinstance(row[0], str)),
    )


def repair_store(path: Path, target: Path) -> StoreCheck:
    """Copy everything that can be read into a new store at `target`, and rebuild its cards from the ledger.

    A card whose decisions were lost is copied from its own row. Returns the check of the old store.
    """
    from contramem.bank.store import open_store

    if target.exists():
        raise UsageError(f"{target}: already exists. Name a new file.")
    checked = check_store(path)
    salvage = _read_everything(path)
    readable = [decision for decision in _decisions(salvage) if decision.is_readable]
    open_store(target, create=True).close()
    with closing(sqlite3.connect(target)) as connection, connection:
        _write_decisions(connection, readable)
        _write_cards(connection, _merge(_fold(readable), _entries(salvage)[0]))
        numbers = {decision.number for decision in readable}
        mentions = [row for row in salvage.rows.get("contramem_mentions", ()) if row[1] in numbers]
        _insert(connection, "contramem_mentions", mentions)
        for table in ("contramem_progress", "contramem_calls"):
            _insert(connection, table, [row for row in salvage.rows.get(table, ()) if isinstance(row[0], str)])
    return checked


def _read_everything(path: Path) -> _Salvage:
    if not path.is_file():
        raise UsageError(f"{path}: there is no store here.")
    salvage = _Salvage()
    with path.open("rb") as file:
        if file.read(16) != SQLITE_BEGINS_WITH:
            raise StoreError(
                f"{path}: is not a SQLite file, or its first bytes are damaged. Nothing can be read from it."
            )
    # Opened read-only: a damaged log must not prevent reading the rest.
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            salvage.damage += _complaints_of_sqlite(connection)
            for table, columns in TABLES.items():
                salvage.rows[table] = list(_rows(connection, table, columns, salvage.damage))
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        salvage.damage.append(f"the file cannot be opened ({error})")
    return salvage


def _complaints_of_sqlite(connection: sqlite3.Connection) -> Iterator[str]:
    try:
        for (complaint,) in connection.execute(f"PRAGMA integrity_check({MAX_COMPLAINTS})"):
            if complaint != "ok":
                yield str(complaint)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the message itself may contain damaged names
        yield f"SQLite cannot check the file ({error})"


def _rows(connection: sqlite3.Connection, table: str, columns: str, damage: list[str]) -> Iterator[tuple[Any, ...]]:
    """Read rows from the start until a damaged one, then from the end back to the same place."""
    names = {name for _, name, *_ in _pragma(connection, table)}
    if not names:
        damage.append(f"table {table} is gone")
        return
    wanted = ", ".join(name if name in names else "NULL" for name in columns.replace("\n", " ").split(", "))
    seen: set[int] = set()
    for order in ("ASC", "DESC"):
        try:
            for rowid, *row in connection.execute(f"SELECT rowid, {wanted} FROM {table} ORDER BY rowid {order}"):
                if rowid in seen:
                    return
                seen.add(rowid)
                yield tuple(row)
        except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
            damage.append(f"table {table} cannot be read to its end ({error})")
        else:
            return


def _pragma(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(f"PRAGMA table_info({table})").fetchall()
    except (sqlite3.Error, UnicodeDecodeError):
        return []


def _decisions(salvage: _Salvage) -> Iterator[CheckedDecision]:
    changes: dict[Any, list[tuple[Any, ...]]] = {}
    for row in salvage.rows.get("contramem_changes", ()):
        changes.setdefault(row[0], []).append(row)
    rows = [row for row in salvage.rows.get("contramem_decisions", ()) if isinstance(row[0], int)]
    for row in sorted(rows, key=lambda row: row[0]):
        of_this = sorted(changes.get(row[0], ()), key=lambda change: str(change[1]).zfill(6))
        yield CheckedDecision(row, tuple(of_this), _is_readable(row, of_this))


def _is_readable(row: tuple[Any, ...], changes: list[tuple[Any, ...]]) -> bool:
    try:
        Decision.model_validate_json(row[6])
        for change in changes:
            Change.model_validate_json(change[3])
    except (ValidationError, TypeError):
        return False
    return all(isinstance(row[column], str) for column in (1, 5))


def _entries(salvage: _Salvage) -> tuple[dict[str, BankEntry], int]:
    entries: dict[str, BankEntry] = {}
    unreadable = 0
    for row in salvage.rows.get("contramem_cards", ()):
        try:
            entry = BankEntry.model_validate_json(row[5])
        except (ValidationError, TypeError):
            unreadable += 1
            continue
        if entry.card.card_id == row[0]:
            entries[row[0]] = entry
        else:
            unreadable += 1
    return entries, unreadable


def _fold(decisions: list[CheckedDecision]) -> dict[str, BankEntry]:
    """Each card according to the ledger: its last change counts, even if earlier ones were lost."""
    entries: dict[str, BankEntry] = {}
    for decision in decisions:
        for row in decision.changes:
            change = Change.model_validate_json(row[3])
            entries[change.card_id] = change.after
    return entries


def _merge(folded: dict[str, BankEntry], own: dict[str, BankEntry]) -> dict[str, BankEntry]:
    """Each card from the ledger, unless the card's own row has a later version, because a decision was lost."""
    merged = dict(folded)
    for card_id, entry in own.items():
        if card_id not in merged or entry.card.version > merged[card_id].card.version:
            merged[card_id] = entry
    return merged


def _write_decisions(connection: sqlite3.Connection, decisions: list[CheckedDecision]) -> None:
    before = BEGINNING
    for decision in decisions:
        before = seal(before, decision.number, decision.row[1], decision.row[6], [row[3] for row in decision.changes])
        _insert(connection, "contramem_decisions", [(*decision.row[:7], before)])
        _insert(connection, "contramem_changes", list(decision.changes))


def _write_cards(connection: sqlite3.Connection, entries: dict[str, BankEntry]) -> None:
    from contramem.bank.written import card_row

    rows = [card_row(entry) for entry in entries.values()]
    columns = TABLES["contramem_cards"].split(", ")
    _insert(connection, "contramem_cards", [tuple(row[column] for column in columns) for row in rows])


def _insert(connection: sqlite3.Connection, table: str, rows: list[tuple[Any, ...]]) -> None:
    columns = TABLES[table]
    marks = ", ".join("?" * len(columns.split(",")))
    connection.executemany(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})", rows)
