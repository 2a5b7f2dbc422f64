"""Copies a store between SQLite and PostgreSQL unchanged: cards, ledger with its seals, progress, model calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from contramem.bank.check import TABLES
from contramem.bank.locate import without_password
from contramem.bank.store import Store
from contramem.errors import UsageError

ROWS_AT_A_TIME = 200
_BOOLEAN = frozenset({"accepted", "charged"})
"""Boolean columns, which SQLite stores as numbers."""


def copy_store(source: Store, target: Store) -> dict[str, int]:
    """Copy a store into an empty one in one transaction. Returns the number of rows by table."""
    with target.writing("bank copy"):
        if target.last_decision() or target.bank().entries or target.progress():
            raise UsageError(f"{without_password(target.where)}: is not empty. Copy into a new store.")
        with source.reading() as rows:
            return target.fill(lambda connection: {table: _copy(table, rows, connection) for table in TABLES})


def _copy(table: str, source: Connection, target: Connection) -> int:
    columns = TABLES[table].split(", ")
    values = ", ".join(f":{column}" for column in columns)
    put = sql.text(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})")
    count = 0
    for rows in _read(table, columns, source):
        target.execute(put, rows)
        count += len(rows)
    return count


def _read(table: str, columns: Sequence[str], source: Connection) -> Iterator[list[dict[str, Any]]]:
    order = ", ".join(columns[:2])
    query = sql.text(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}")
    result = source.execution_options(stream_results=True, max_row_buffer=ROWS_AT_A_TIME).execute(query)
    for rows in result.partitions(ROWS_AT_A_TIME):
        yield [{column: _value(column, value) for column, value in zip(columns, row, strict=True)} for row in rows]


def _value(column: str, value: Any) -> Any:
    return bool(value) if column in _BOOLEAN and value is not None else value
