"""The tables of a store, as named migration steps, with the hash chain and the calls of models that lie in them.

JSON is stored as TEXT: plain column types mean the same in SQLite and PostgreSQL. A released step is never changed; new
steps are added at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from contramem.bank.frozen import without_password
from contramem.bank.ledger import BEGINNING, seal
from contramem.errors import StoreError, UsageError

if TYPE_CHECKING:
    from contramem.bank.store import Store

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
"""The columns of each table that is copied and checked."""


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


def calls_of_models(connection: Connection) -> None:
    """One row per paid call. A digest occurs twice only if replies are not kept."""
    connection.exec_driver_sql(
        "CREATE TABLE contramem_calls (digest TEXT NOT NULL, attempt INTEGER NOT NULL, stage TEXT NOT NULL,"
        " subject TEXT NOT NULL, model TEXT NOT NULL, prompt TEXT NOT NULL, request TEXT, reply TEXT,"
        " finish TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, cost_usd DOUBLE PRECISION,"
        " recorded_at TEXT NOT NULL, charged BOOLEAN NOT NULL, PRIMARY KEY (digest, attempt))"
    )


def rules_beside_cards(connection: Connection) -> None:
    """Cards and decisions now include the rule that their text was generated from. No table changes; the step only
    makes older versions, which cannot read such rows, refuse the store."""


def hash_chain(connection: Connection) -> None:
    """The column of seals, filled for existing decisions."""
    connection.exec_driver_sql("ALTER TABLE contramem_decisions ADD COLUMN chain TEXT")
    seal_again(connection)


MIGRATIONS: dict[str, Callable[[Connection], None]] = {
    "0001 cards, ledger and progress": cards_ledger_and_progress,
    "0002 calls of models": calls_of_models,
    "0003 rules beside cards": rules_beside_cards,
    "0004 a hash chain over the ledger": hash_chain,
}


def is_store(connection: Connection) -> bool:
    return sql.inspect(connection).has_table("contramem_migrations")


def pending(connection: Connection, where: str) -> list[str]:
    """The steps that this store still needs. Raises StoreError if it has steps that this version does not know."""
    done = set(connection.exec_driver_sql("SELECT name FROM contramem_migrations").scalars())
    if unknown := sorted(done - set(MIGRATIONS)):
        raise StoreError(
            f"{without_password(where)} was written by a newer contramem (unknown: {', '.join(unknown)}); this is "
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


# The hash chain

_LAST_SEAL = sql.text("SELECT chain FROM contramem_decisions ORDER BY number DESC LIMIT 1")
_SEAL_BEFORE = sql.text("SELECT chain FROM contramem_decisions WHERE number < :first ORDER BY number DESC LIMIT 1")
_ROWS = sql.text("SELECT number, recorded_at, decision FROM contramem_decisions WHERE number >= :first ORDER BY number")
_CHANGES = sql.text("SELECT number, change FROM contramem_changes WHERE number >= :first ORDER BY number, position")
_SEAL = sql.text("UPDATE contramem_decisions SET chain = :chain WHERE number = :number")


def last_seal(connection: Connection) -> str:
    """The seal of the last decision."""
    return connection.scalar(_LAST_SEAL) or BEGINNING


def seal_again(connection: Connection, first: int = 1) -> None:
    """Recompute the seals of all decisions from number `first` on."""
    changes: dict[int, list[str]] = {}
    for number, change in connection.execute(_CHANGES, {"first": first}):
        changes.setdefault(number, []).append(change)
    before = connection.scalar(_SEAL_BEFORE, {"first": first}) or BEGINNING
    for number, at, decision in connection.execute(_ROWS, {"first": first}).all():
        before = seal(before, number, at, decision, changes.get(number, ()))
        connection.execute(_SEAL, {"chain": before, "number": number})


# Calls of models: the request, the reply and the cost, so that no request is paid for twice


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


_FIELDS = StoredExchange._fields
_SELECT_CALLS = f"SELECT {', '.join(_FIELDS)} FROM contramem_calls"
_ONE_CALL = sql.text(f"{_SELECT_CALLS} WHERE digest = :digest AND reply IS NOT NULL")
_ALL_CALLS = sql.text(f"{_SELECT_CALLS} ORDER BY digest, attempt")
_PUT_CALL = sql.text(
    f"INSERT INTO contramem_calls ({', '.join(_FIELDS)}, attempt) VALUES ({', '.join(f':{name}' for name in _FIELDS)},"
    " (SELECT coalesce(max(attempt), 0) + 1 FROM contramem_calls WHERE digest = :digest))"
)
_CHARGE = sql.text("UPDATE contramem_calls SET charged = :charged WHERE digest = :digest")


def find_call(connection: Connection, digest: str) -> StoredExchange | None:
    row = connection.execute(_ONE_CALL, {"digest": digest}).first()
    return _exchange(row) if row is not None else None


def all_calls(connection: Connection) -> tuple[StoredExchange, ...]:
    return tuple(map(_exchange, connection.execute(_ALL_CALLS)))


def put_call(connection: Connection, call: StoredExchange) -> None:
    connection.execute(_PUT_CALL, call._asdict())


def charge_call(connection: Connection, digest: str) -> None:
    connection.execute(_CHARGE, {"digest": digest, "charged": True})


def _exchange(row: Any) -> StoredExchange:
    return StoredExchange(*row)._replace(charged=bool(row.charged))  # SQLite keeps a boolean as a number


# Copying between SQLite and PostgreSQL

ROWS_AT_A_TIME = 200
_BOOLEAN = frozenset({"accepted", "charged"})


def copy_store(source: Store, target: Store) -> dict[str, int]:
    """Copy a store, with its seals, into an empty one in one transaction. Returns the number of rows by table."""
    with target.writing("bank copy"):
        if target.last_decision() or target.bank().entries or target.progress():
            raise UsageError(f"{without_password(target.where)}: is not empty. Copy into a new store.")
        with source.reading() as rows:
            return target.fill(lambda connection: {table: _copy(table, rows, connection) for table in TABLES})


def _copy(table: str, source: Connection, target: Connection) -> int:
    columns = TABLES[table].split(", ")
    put = sql.text(f"INSERT INTO {table} ({TABLES[table]}) VALUES ({', '.join(f':{column}' for column in columns)})")
    query = sql.text(f"SELECT {TABLES[table]} FROM {table} ORDER BY {', '.join(columns[:2])}")
    result = source.execution_options(stream_results=True, max_row_buffer=ROWS_AT_A_TIME).execute(query)
    count = 0
    for rows in result.mappings().partitions(ROWS_AT_A_TIME):
        target.execute(put, [{column: _value(column, row[column]) for column in columns} for row in rows])
        count += len(rows)
    return count


def _value(column: str, value: Any) -> Any:
    return bool(value) if column in _BOOLEAN and value is not None else value
