"""The tables of a store, as named migration steps. A released step is never changed; new steps are added at the end."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from contramem.bank import chain, model_calls
from contramem.errors import StoreError

# JSON is stored as TEXT: plain column types mean the same in SQLite and PostgreSQL.


def cards_ledger_and_progress(connection: Connection) -> None:
    """Current cards, every decision with the cards it changed or named, and the progress of builds."""
    for table in (
        "contramem_cards (card_id TEXT PRIMARY KEY, kind TEXT NOT NULL, ability TEXT, status TEXT NOT NULL,"
        " version INTEGER NOT NULL, holding TEXT NOT NULL)",
        "contramem_decisions (number INTEGER PRIMARY KEY, recorded_at TEXT NOT NULL, operation TEXT,"
        " accepted BOOLEAN NOT NULL, ability TEXT, author TEXT NOT NULL, decision TEXT NOT NULL)",
        "contramem_changes (number INTEGER NOT NULL REFERENCES contramem_decisions, position INTEGER NOT NULL,"
        " card_id TEXT NOT NULL, change TEXT NOT NULL, PRIMARY KEY (number, position))",
        "contramem_mentions (card_id TEXT NOT NULL, number INTEGER NOT NULL REFERENCES contramem_decisions,"
        " PRIMARY KEY (card_id, number))",
        "contramem_progress (step TEXT PRIMARY KEY, state TEXT NOT NULL)",
        "contramem_holder (purpose TEXT NOT NULL, pid INTEGER NOT NULL, host TEXT NOT NULL, since TEXT NOT NULL)",
    ):
        connection.exec_driver_sql(f"CREATE TABLE {table}")


def rules_beside_cards(connection: Connection) -> None:
    """Cards and decisions now include the rule that their text was generated from. No table changes; the step only
    makes older versions, which cannot read such rows, refuse the store."""


MIGRATIONS: dict[str, Callable[[Connection], None]] = {
    "0001 cards, ledger and progress": cards_ledger_and_progress,
    "0002 calls of models": model_calls.create_table,
    "0003 rules beside cards": rules_beside_cards,
    "0004 a hash chain over the ledger": chain.add_chain,
}


def is_store(connection: Connection) -> bool:
    return sql.inspect(connection).has_table("contramem_migrations")


def pending(connection: Connection, where: str) -> list[str]:
    """The steps that this store still needs. Raises StoreError if it has steps that this version does not know."""
    done = set(connection.exec_driver_sql("SELECT name FROM contramem_migrations").scalars())
    if unknown := sorted(done - set(MIGRATIONS)):
        raise StoreError(
            f"{where} was written by a newer contramem (unknown: {', '.join(unknown)}); this is "
            f"{version('contramem')}. Upgrade contramem."
        )
    return [name for name in MIGRATIONS if name not in done]


def migrate(connection: Connection, where: str) -> None:
    """Bring the tables up to date, inside the caller's transaction."""
    if connection.dialect.name == "postgresql":  # SQLite's transaction has the file to itself already
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('contramem migrations'))")
    connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS contramem_migrations (name TEXT PRIMARY KEY)")
    for name in pending(connection, where):
        MIGRATIONS[name](connection)
        connection.execute(sql.text("INSERT INTO contramem_migrations VALUES (:name)"), {"name": name})
