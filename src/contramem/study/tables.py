"""The runs as tables for SQL: read-only and without access to the disk. Values are not masked: it is your machine.

SCHEMA describes the tables; `contramem author query --schema` prints it and docs/authoring.md shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from threading import Timer
from typing import IO, Any, NamedTuple

import msgspec

from contramem.collection.results import decode_result
from contramem.contrast.form import is_field
from contramem.errors import UsageError
from contramem.guards.values import read_number
from contramem.progress import Progress, no_progress
from contramem.scratch import ScratchFolder
from contramem.study.query_memory import bound_memory
from contramem.study.run_set import RunSet, StudyRun
from contramem.study.side_by_side import write_call
from contramem.traces.trajectory import Event

SCHEMA: dict[str, dict[str, str]] = {
    "functions": {
        "function": "VARCHAR", "effect": "VARCHAR", "calls": "BIGINT", "worked": "BIGINT", "arguments": "VARCHAR",
        "fields": "VARCHAR",
    },
    "runs": {
        "run_id": "BIGINT", "task": "VARCHAR", "kind": "VARCHAR", "half": "VARCHAR", "source": "VARCHAR",
        "trial": "VARCHAR", "environment": "VARCHAR", "ability": "VARCHAR", "scenario": "VARCHAR",
        "request": "VARCHAR", "passed": "BOOLEAN", "calls": "BIGINT", "tokens_in": "BIGINT",
        "tokens_out": "BIGINT", "cost_usd": "DOUBLE",
    },
    "calls": {
        "run_id": "BIGINT", "position": "BIGINT", "function": "VARCHAR", "effect": "VARCHAR", "worked": "BOOLEAN",
        "error": "VARCHAR", "call": "VARCHAR", "result": "VARCHAR", "time": "DOUBLE",
    },
    "arguments": {
        "run_id": "BIGINT", "position": "BIGINT", "function": "VARCHAR", "argument": "VARCHAR", "value": "VARCHAR",
        "number": "DOUBLE",
    },
    "fields": {
        "run_id": "BIGINT", "position": "BIGINT", "function": "VARCHAR", "field": "VARCHAR", "path": "VARCHAR",
        "item": "VARCHAR", "value": "VARCHAR", "number": "DOUBLE",
    },
    "messages": {
        "run_id": "BIGINT", "position": "BIGINT", "actor": "VARCHAR", "kind": "VARCHAR", "text": "VARCHAR",
        "time": "DOUBLE",
    },
    "outcomes": {
        "run_id": "BIGINT", "passed": "BOOLEAN", "reward": "DOUBLE", "feedback": "VARCHAR", "ended": "VARCHAR",
    },
    "kinds": {"task": "VARCHAR", "kind": "VARCHAR", "half": "VARCHAR", "request": "VARCHAR"},
}  # fmt: skip
"""Table, column and type. `run_id` joins them; `functions` is computed from the others."""
TABLES = "tables-3.duckdb"
FUNCTIONS = """CREATE TABLE functions AS
    WITH called AS (SELECT function, any_value(effect) AS effect, count(*) AS calls, count(*) FILTER (worked) AS worked
        FROM calls GROUP BY function),
    given AS (SELECT function, string_agg(DISTINCT argument, ', ' ORDER BY argument) AS arguments
        FROM arguments GROUP BY function),
    returned AS (SELECT function, string_agg(DISTINCT path, ', ' ORDER BY path) AS fields FROM fields GROUP BY function)
    SELECT function, effect, calls, worked, arguments, fields
    FROM called LEFT JOIN given USING (function) LEFT JOIN returned USING (function) ORDER BY calls DESC"""
_FILLED = tuple(name for name in SCHEMA if name != "functions")
MAX_FIELDS = 500
"""Maximum values stored per result."""
MAX_ROWS = 10_000
"""Maximum rows per answer. For more, aggregate."""
MAX_SECONDS = 45
"""Time limit of a query. Clients give up on a tool after a minute."""
MAX_GIGABYTES = 2
"""Memory limit of a query."""
FILLING_BYTES = 256 << 20
"""Memory limit while the tables are filled; what does not fit is spilled to disk meanwhile."""
MIN_LINE_BYTES = 1 << 20


class QueryAnswer(NamedTuple):
    """The rows that a query returned."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    is_cut: bool
    """There were more than MAX_ROWS."""


class RunTables:
    """A database of runs. Created by `open_tables`."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def query(self, sql: str) -> QueryAnswer:
        """Run one SELECT. Raises UsageError with DuckDB's message for anything else."""
        import duckdb

        stop = Timer(MAX_SECONDS, self._connection.interrupt)
        stop.start()
        try:
            self._check(sql)
            with bound_memory(MAX_GIGABYTES << 30):
                cursor = self._connection.execute(sql)
                rows = cursor.fetchmany(MAX_ROWS + 1)
            columns = tuple(column[0] for column in cursor.description or ())
        except duckdb.InterruptException:
            raise UsageError(f"the query took more than {MAX_SECONDS} s and was stopped. Ask for less.") from None
        except (MemoryError, duckdb.OutOfMemoryException):
            raise UsageError(f"the query takes more than {MAX_GIGABYTES} GB of memory. Count, group or cut.") from None
        except duckdb.Error as error:
            raise _refuse(str(error).strip()) from None
        finally:
            stop.cancel()
        return QueryAnswer(columns, rows[:MAX_ROWS], len(rows) > MAX_ROWS)

    def _check(self, sql: str) -> None:
        """Accept a single read-only statement. Anything else could leave something behind, even if only a temporary
        table."""
        statements = self._connection.extract_statements(sql)
        if len(statements) != 1:
            raise _refuse(f"give one SELECT, not {len(statements)} statements")
        if (kind := statements[0].type.name) not in ("SELECT", "EXPLAIN"):
            raise _refuse(f"{kind} is refused: only SELECT")


def _refuse(what: str) -> UsageError:
    return UsageError(f"{what} (tables: {', '.join(SCHEMA)}; the database can only be read).")


@contextmanager
def open_tables(
    run_set: RunSet, on_progress: Progress = no_progress, folder: Path | None = None
) -> Iterator[RunTables]:
    """The runs as a database, for as long as the context lasts. In `folder` it is kept for the next time.

    The file is filled, closed and reopened read-only, with access to anything else on the disk disabled and the
    settings locked, so that no statement can undo that.
    """
    try:
        import duckdb
    except ImportError as error:
        raise UsageError("queries need DuckDB: pip install 'contramem[author]'.") from error
    with ScratchFolder("query", folder) as working:
        path = (folder or working) / TABLES
        if not path.exists():
            _fill(working / "filling.duckdb", working, run_set, on_progress)
            (working / "filling.duckdb").replace(path)
        config: dict[str, Any] = {
            "enable_external_access": "false",
            "lock_configuration": "true",
            "autoload_known_extensions": "false",
            "temp_directory": "",  # what does not fit into memory fails, instead of spilling to disk
            "memory_limit": f"{MAX_GIGABYTES}GB",
        }
        connection = duckdb.connect(str(path), read_only=True, config=config)
        try:
            yield RunTables(connection)
        finally:
            connection.close()


def _fill(path: Path, folder: Path, run_set: RunSet, on_progress: Progress) -> None:
    """Write the rows as lines of JSON and let DuckDB read them in bounded memory."""
    import duckdb

    with ExitStack() as stack:
        files = {name: stack.enter_context((folder / f"{name}.jsonl").open("wb")) for name in _FILLED}
        longest = _write_kinds(run_set, files["kinds"])
        for number, run in enumerate(run_set.runs, 1):
            kind = {"kind": run_set.kind_of_task[run.task], "half": run_set.halves[run.task]}
            for table, row in _rows(number, run, kind):
                longest = max(longest, files[table].write(msgspec.json.encode(row) + b"\n"))
            on_progress("tables", number, len(run_set.runs))
    # DuckDB buffers several lines of the maximum size it is given.
    largest = max(MIN_LINE_BYTES, longest + 1)
    memory = max(FILLING_BYTES, 16 * largest)
    bounds: dict[str, Any] = {"memory_limit": f"{memory}B", "threads": 1, "preserve_insertion_order": "false"}
    connection = duckdb.connect(str(path), config=bounds | {"temp_directory": str(folder / "spilled")})
    try:
        for name in _FILLED:
            types = ", ".join(f"{column}: '{kind}'" for column, kind in SCHEMA[name].items())
            source = str(folder / f"{name}.jsonl").replace("'", "''")
            size = f"maximum_object_size={largest}"
            read = f"read_json('{source}', format='newline_delimited', columns={{{types}}}, {size})"
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {read}")
            (folder / f"{name}.jsonl").unlink()
        connection.execute(FUNCTIONS)
    finally:
        connection.close()


def _write_kinds(run_set: RunSet, file: IO[bytes]) -> int:
    """Returns the length of the longest row in bytes."""
    longest = 0
    texts = {profile.task: profile.text for profile in run_set.profiles}
    for kind in run_set.kinds:
        for task in kind.tasks:
            row = {"task": task, "kind": kind.name, "half": run_set.halves[task], "request": texts[task]}
            longest = max(longest, file.write(msgspec.json.encode(row) + b"\n"))
    return longest


def _rows(number: int, run: StudyRun, kind: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    trajectory = run.trajectory
    usage, outcome = trajectory.usage, trajectory.outcome
    yield "runs", {
        "run_id": number, "task": run.task, **kind, "source": run.source, "trial": run.trial,
        "environment": trajectory.environment, "ability": trajectory.ability, "scenario": trajectory.scenario_id,
        "request": trajectory.task, "passed": outcome.passed, "calls": len(trajectory.calls),
        "tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out, "cost_usd": usage.cost_usd,
    }  # fmt: skip
    yield "outcomes", {
        "run_id": number, "passed": outcome.passed, "reward": outcome.reward, "feedback": outcome.feedback,
        "ended": outcome.ended,
    }  # fmt: skip
    for event in trajectory.events:
        yield from _event_rows(number, event)


def _event_rows(number: int, event: Event) -> Iterator[tuple[str, dict[str, Any]]]:
    place = {"run_id": number, "position": event.position}
    if not event.function:
        yield "messages", {**place, "actor": event.actor, "kind": event.kind, "text": event.text, "time": event.time}
        return
    if event.actor != "agent":
        return
    result = event.result
    yield "calls", {
        **place, "function": event.function, "effect": event.effect, "time": event.time,
        "worked": result is None or result.error is None, "error": result.error if result else None,
        "call": write_call(event), "result": _text(result.content) if result else None,
    }  # fmt: skip
    for name, value in event.arguments.items():
        row = {"function": event.function, "argument": name, "value": _text(value), "number": _number(value)}
        yield "arguments", {**place, **row}
    if result is not None and result.error is None:
        for path, item, value in islice(_walk_items(decode_result(result.content)), MAX_FIELDS):
            row = {"function": event.function, "field": path[-1], "path": ".".join(path), "item": item}
            yield "fields", {**place, **row, "value": _text(value), "number": _number(value)}


def _walk_items(
    node: Any, path: tuple[str, ...] = (), item: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    """Each named scalar of a result with its path and the index of its list item: `2`, or `2.0` in lists of lists.
    Fields with the same index belong to one record."""
    if isinstance(node, dict):
        for name, child in node.items():
            yield from _walk_items(child, (*path, str(name)), item)
    elif isinstance(node, (list, tuple, set)):
        for number, child in enumerate(node):
            yield from _walk_items(child, path, (*item, number))
    elif node is not None and path and is_field(path[-1]):
        yield path, ".".join(map(str, item)), node


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value if value is None else value.encode("utf-8", "replace").decode()
    return msgspec.json.encode(value).decode()


def _number(value: Any) -> float | None:
    number = read_number(value)
    return number if number is not None and abs(number) < 1e300 else None
