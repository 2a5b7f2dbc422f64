"""A hash chain over the ledger: each decision is sealed with the one before it, so that none can be changed, taken out
or put in between without every later seal giving it away."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import sqlalchemy as sql
from sqlalchemy.engine import Connection

BEGINNING = "0" * 64
"""What the first decision is sealed with."""

_LAST = sql.text("SELECT chain FROM contramem_decisions ORDER BY number DESC LIMIT 1")
_ROWS = sql.text("SELECT number, recorded_at, decision FROM contramem_decisions WHERE number >= :first ORDER BY number")
_CHANGES = sql.text("SELECT number, change FROM contramem_changes WHERE number >= :first ORDER BY number, position")
_BEFORE = sql.text("SELECT chain FROM contramem_decisions WHERE number < :first ORDER BY number DESC LIMIT 1")
_SEAL = sql.text("UPDATE contramem_decisions SET chain = :chain WHERE number = :number")


def seal(before: str, number: int, recorded_at: str, decision: str, changes: Iterable[str]) -> str:
    """The seal of a decision, as it is stored, after the seal `before`."""
    hashed = hashlib.sha256(f"{before}\n{number}\n{recorded_at}\n{decision}".encode())
    for change in changes:
        hashed.update(b"\n" + change.encode())
    return hashed.hexdigest()


def last_seal(connection: Connection) -> str:
    """The seal that the next decision is sealed with."""
    return connection.scalar(_LAST) or BEGINNING


def seal_again(connection: Connection, first: int = 1) -> None:
    """Seal every decision from number `first` on, as it stands now."""
    changes: dict[int, list[str]] = {}
    for number, change in connection.execute(_CHANGES, {"first": first}):
        changes.setdefault(number, []).append(change)
    before = connection.scalar(_BEFORE, {"first": first}) or BEGINNING
    for number, at, decision in connection.execute(_ROWS, {"first": first}).all():
        before = seal(before, number, at, decision, changes.get(number, ()))
        connection.execute(_SEAL, {"chain": before, "number": number})


def add_chain(connection: Connection) -> None:
    """The column for the seals, filled for the decisions that there are."""
    connection.exec_driver_sql("ALTER TABLE contramem_decisions ADD COLUMN chain TEXT")
    seal_again(connection)


def first_broken(rows: Sequence[tuple[int, str, str, str | None, Sequence[str]]]) -> int | None:
    """The number of the first decision whose seal does not fit: (number, time, decision, seal, changes) in order."""
    before = BEGINNING
    for number, at, decision, sealed, changes in rows:
        if sealed != seal(before, number, at, decision, changes):
            return number
        before = sealed
    return None
