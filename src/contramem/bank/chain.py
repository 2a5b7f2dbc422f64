"""A hash chain over the ledger: the seal of each decision includes the seal before it, so that changing, removing or
inserting a decision invalidates every later seal."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import sqlalchemy as sql
from sqlalchemy.engine import Connection

BEGINNING = "0" * 64
"""The seal before the first decision."""

_LAST = sql.text("SELECT chain FROM contramem_decisions ORDER BY number DESC LIMIT 1")
_ROWS = sql.text("SELECT number, recorded_at, decision FROM contramem_decisions WHERE number >= :first ORDER BY number")
_CHANGES = sql.text("SELECT number, change FROM contramem_changes WHERE number >= :first ORDER BY number, position")
_BEFORE = sql.text("SELECT chain FROM contramem_decisions WHERE number < :first ORDER BY number DESC LIMIT 1")
_SEAL = sql.text("UPDATE contramem_decisions SET chain = :chain WHERE number = :number")


def seal(before: str, number: int, recorded_at: str, decision: str, changes: Iterable[str]) -> str:
    """The seal of a stored decision that follows the seal `before`."""
    hashed = hashlib.sha256(f"{before}\n{number}\n{recorded_at}\n{decision}".encode())
    for change in changes:
        hashed.update(b"\n" + change.encode())
    return hashed.hexdigest()


def last_seal(connection: Connection) -> str:
    """The seal of the last decision."""
    return connection.scalar(_LAST) or BEGINNING


def seal_again(connection: Connection, first: int = 1) -> None:
    """Recompute the seals of all decisions from number `first` on."""
    changes: dict[int, list[str]] = {}
    for number, change in connection.execute(_CHANGES, {"first": first}):
        changes.setdefault(number, []).append(change)
    before = connection.scalar(_BEFORE, {"first": first}) or BEGINNING
    for number, at, decision in connection.execute(_ROWS, {"first": first}).all():
        before = seal(before, number, at, decision, changes.get(number, ()))
        connection.execute(_SEAL, {"chain": before, "number": number})


def add_chain(connection: Connection) -> None:
    """Add the column of seals, and fill it for existing decisions."""
    connection.exec_driver_sql("ALTER TABLE contramem_decisions ADD COLUMN chain TEXT")
    seal_again(connection)


def first_broken(rows: Sequence[tuple[int, str, str, str | None, Sequence[str]]]) -> int | None:
    """The number of the first decision whose seal is wrong. Rows are (number, time, decision, seal, changes)."""
    before = BEGINNING
    for number, at, decision, sealed, changes in rows:
        if sealed != seal(before, number, at, decision, changes):
            return number
        before = sealed
    return None
