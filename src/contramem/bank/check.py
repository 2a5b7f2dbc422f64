"""Checks a store: its file, the hash chain of its ledger, and its cards against the ledger.

The file is read row by row with plain SQLite, so that even a store that does not open otherwise can be examined.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from pydantic import ValidationError

from contramem.bank.bank import BankEntry, Change
from contramem.bank.frozen import SQLITE_BEGINS_WITH
from contramem.bank.ledger import BEGINNING, Decision, seal
from contramem.bank.tables import TABLES
from contramem.errors import StoreError, UsageError

MAX_COMPLAINTS = 20


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


def check_store(path: Path) -> StoreCheck:
    """Check the store at `path` without changing it. Raises UsageError if there is none."""
    rows, damage = _read_tables(path)
    decisions = list(_decisions(rows))
    readable = [decision for decision in decisions if decision.is_readable]
    entries, unreadable_cards = _entries(rows["contramem_cards"])
    numbers = {decision.number for decision in decisions}
    folded = _fold(readable)
    return StoreCheck(
        damage=tuple(damage[:MAX_COMPLAINTS]),
        decisions=len(readable),
        unreadable_decisions=tuple(d.number for d in decisions if not d.is_readable),
        missing_decisions=tuple(number for number in range(1, max(numbers, default=0)) if number not in numbers),
        chain_broken_at=_find_break(readable),
        cards=len(entries),
        unreadable_cards=unreadable_cards,
        differing_cards=tuple(sorted(name for name in {*folded, *entries} if folded.get(name) != entries.get(name))),
        unreadable_calls=sum(not isinstance(row[0], str) for row in rows["contramem_calls"]),
    )


def _read_tables(path: Path) -> tuple[dict[str, list[tuple[Any, ...]]], list[str]]:
    """Every row that can be read, by table, and what is damaged."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no store here.")
    with path.open("rb") as file:
        if file.read(16) != SQLITE_BEGINS_WITH:
            raise StoreError(
                f"{path}: is not a SQLite file, or its first bytes are damaged. Nothing can be read from it."
            )
    rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in TABLES}
    damage: list[str] = []
    # Opened read-only: a damaged log must not prevent reading the rest.
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            damage += _complaints_of_sqlite(connection)
            for table, columns in TABLES.items():
                rows[table] += _rows(connection, table, columns, damage)
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        damage.append(f"the file cannot be opened ({error})")
    return rows, damage


def _complaints_of_sqlite(connection: sqlite3.Connection) -> Iterator[str]:
    try:
        for (complaint,) in connection.execute(f"PRAGMA integrity_check({MAX_COMPLAINTS})"):
            if complaint != "ok":
                yield str(complaint)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the message itself may contain damaged names
        yield f"SQLite cannot check the file ({error})"


def _rows(connection: sqlite3.Connection, table: str, columns: str, damage: list[str]) -> Iterator[tuple[Any, ...]]:
    """The rows of a table up to a damaged one. Columns that are gone are NULL."""
    names = {name for _, name, *_ in _pragma(connection, table)}
    if not names:
        damage.append(f"table {table} is gone")
        return
    wanted = ", ".join(name if name in names else "NULL" for name in columns.split(", "))
    try:
        yield from connection.execute(f"SELECT {wanted} FROM {table} ORDER BY rowid")
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        damage.append(f"table {table} cannot be read to its end ({error})")


def _pragma(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(f"PRAGMA table_info({table})").fetchall()
    except (sqlite3.Error, UnicodeDecodeError):
        return []


def _decisions(tables: dict[str, list[tuple[Any, ...]]]) -> Iterator[CheckedDecision]:
    changes: dict[Any, list[tuple[Any, ...]]] = {}
    for row in tables["contramem_changes"]:
        changes.setdefault(row[0], []).append(row)
    rows = [row for row in tables["contramem_decisions"] if isinstance(row[0], int)]
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


def _entries(rows: list[tuple[Any, ...]]) -> tuple[dict[str, BankEntry], int]:
    entries: dict[str, BankEntry] = {}
    unreadable = 0
    for row in rows:
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


def _find_break(decisions: list[CheckedDecision]) -> int | None:
    """The number of the first decision whose seal is wrong."""
    before = BEGINNING
    for decision in decisions:
        _, at, *_, text, sealed = decision.row
        if sealed != seal(before, decision.number, at, text, [change[3] for change in decision.changes]):
            return decision.number
        before = sealed
    return None
