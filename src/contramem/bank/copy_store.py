"""Copy a store as it is, whatever database either is in: cards, ledger with its seals, progress, calls of models."""

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
"""Columns that SQLite keeps as numbers."""


def copy_store(source: Store, target: Store) -> dict[str, int]:
    """Fill an empty store with all that another holds, in one transaction. Rows by table."""
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
    found = source.execution_options(stream_results=True, max_row_buffer=ROWS_AT_A_TIME).execute(query)
    for rows in found.partitions(ROWS_AT_A_TIME):
        yield [{column: _value(column, value) for column, value in zip(columns, row, strict=True)} for row in rows]


def _value(column: str, value: Any) -> Any:
    return bool(value) if column in _BOOLEAN and value is not None else value
