"""Calls of models in a store: the request, the reply and the cost, so that no request is paid for twice."""

from __future__ import annotations

from typing import Any, NamedTuple

import sqlalchemy as sql
from sqlalchemy.engine import Connection

_COLUMNS = (
    "digest, stage, subject, model, prompt, request, reply, finish, tokens_in, tokens_out, cost_usd, recorded_at,"
    " charged"
)
_ONE = sql.text(f"SELECT {_COLUMNS} FROM contramem_calls WHERE digest = :digest AND reply IS NOT NULL")
_ALL = sql.text(f"SELECT {_COLUMNS} FROM contramem_calls ORDER BY digest, attempt")
_PUT = sql.text(
    f"INSERT INTO contramem_calls ({_COLUMNS}, attempt)"
    " VALUES (:digest, :stage, :subject, :model, :prompt, :request, :reply, :finish, :tokens_in, :tokens_out,"
    " :cost_usd, :recorded_at, :charged,"
    " (SELECT coalesce(max(attempt), 0) + 1 FROM contramem_calls WHERE digest = :digest))"
)
_CHARGE = sql.text("UPDATE contramem_calls SET charged = :charged WHERE digest = :digest")


class StoredExchange(NamedTuple):
    """One exchange with a model."""

    digest: str
    """Of model, settings, prompt and schema."""
    stage: str
    subject: str
    model: str
    prompt: str
    """Digest of the template."""
    request: str | None
    """The messages as JSON. None if the user does not want prompts kept."""
    reply: str | None
    """None if it was not kept; the same request is then sent, and paid for, again."""
    finish: str
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    recorded_at: str = ""
    charged: bool = False
    """Whether a decision in the ledger includes the cost of this call."""


def create_table(connection: Connection) -> None:
    """One row per paid call. A digest occurs twice only if replies are not kept."""
    connection.exec_driver_sql(
        "CREATE TABLE contramem_calls (digest TEXT NOT NULL, attempt INTEGER NOT NULL, stage TEXT NOT NULL,"
        " subject TEXT NOT NULL, model TEXT NOT NULL, prompt TEXT NOT NULL, request TEXT, reply TEXT,"
        " finish TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, cost_usd DOUBLE PRECISION,"
        " recorded_at TEXT NOT NULL, charged BOOLEAN NOT NULL, PRIMARY KEY (digest, attempt))"
    )


def find(connection: Connection, digest: str) -> StoredExchange | None:
    row = connection.execute(_ONE, {"digest": digest}).first()
    return _call(row) if row is not None else None


def every(connection: Connection) -> tuple[StoredExchange, ...]:
    return tuple(_call(row) for row in connection.execute(_ALL))


def put(connection: Connection, call: StoredExchange) -> None:
    connection.execute(_PUT, call._asdict())


def charge(connection: Connection, digest: str) -> None:
    connection.execute(_CHARGE, {"digest": digest, "charged": True})


def _call(row: Any) -> StoredExchange:
    return StoredExchange(*row)._replace(charged=bool(row.charged))
