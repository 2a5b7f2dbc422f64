"""RunIndex: recorded runs in one file, so that a hundred thousand can be listed, filtered and opened one by one."""

from __future__ import annotations

import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from contramem.privacy.secrets import mask_secrets
from contramem.traces.run_content import content_digest
from contramem.traces.trajectory import Trajectory
from contramem.whole_file import make_private

TEXT_CHARS = 400
"""Length of a task's text in lists and search."""
MAX_VALUES = 30
"""Of a facet."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  content BLOB PRIMARY KEY, task TEXT, ability TEXT, source TEXT, trial TEXT, passed INTEGER, ended TEXT,
  calls INTEGER, seconds REAL, tokens INTEGER, cost REAL, origin TEXT, collection TEXT, label TEXT, id TEXT)
  WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blobs (content BLOB PRIMARY KEY, trajectory BLOB);
CREATE INDEX IF NOT EXISTS runs_of_task ON runs (task, source, trial, origin);
CREATE INDEX IF NOT EXISTS runs_of_source ON runs (source, task, passed);
CREATE INDEX IF NOT EXISTS runs_of_collection ON runs (collection, task);
CREATE INDEX IF NOT EXISTS runs_by_id ON runs (id);
CREATE INDEX IF NOT EXISTS runs_of_origin ON runs (origin);
CREATE TABLE IF NOT EXISTS tasks (task TEXT PRIMARY KEY, ability TEXT, text TEXT, runs INTEGER, passed INTEGER,
  failed INTEGER, masked TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tasks_by_contrast ON tasks (min(passed, failed) DESC, task);
CREATE TABLE IF NOT EXISTS calls (function TEXT, task TEXT, calls INTEGER, PRIMARY KEY (function, task)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS groups (kind TEXT, name TEXT, runs INTEGER, passed INTEGER, failed INTEGER,
  PRIMARY KEY (kind, name)) WITHOUT ROWID;
"""
_STORED = "FROM runs JOIN blobs USING (content)"
_ADD_RUN = f"INSERT OR IGNORE INTO runs VALUES ({','.join('?' * 15)})"
_ADD_CALLS = "INSERT INTO calls VALUES (?,?,?) ON CONFLICT DO UPDATE SET calls = calls + excluded.calls"
_ADD_COUNTS = (
    "ON CONFLICT DO UPDATE SET runs = runs + 1, passed = passed + excluded.passed, failed = failed + excluded.failed"
)
_ADD_TASK = f"INSERT INTO tasks VALUES (?,?,?,1,?,?,NULL) {_ADD_COUNTS}"
_ADD_GROUP = f"INSERT INTO groups VALUES (?,?,1,?,?) {_ADD_COUNTS}"
_decode = msgspec.msgpack.Decoder(Trajectory).decode
_encode = msgspec.msgpack.Encoder().encode
GroupKind: TypeAlias = Literal["source", "collection"]


class TaskRow(NamedTuple):
    """One task in a list."""

    task: str
    ability: str
    outcome: str
    """How its runs end: `diverges`, `always passes`, `never passes` or `unknown`."""
    runs: int
    passed: int
    failed: int
    text: str
    masked: str | None
    """The text with placeholders instead of values. None: not masked yet."""


class RunRow(NamedTuple):
    """One run in a list."""

    task: str
    source: str
    trial: str
    ability: str
    outcome: str
    ended: str
    calls: int
    seconds: float | None
    tokens: int | None
    cost: float | None
    label: str
    """A person's: `passed`, `failed`, `unknown`, or `none`."""
    origin: str
    id: str
    """A digest of the run."""


@dataclass(frozen=True)
class Table:
    """Something that can be listed: where its rows are, in which columns words are searched, and its orders."""

    row: type[Any]
    source: str
    words: tuple[str, ...]
    orders: Mapping[str, str]
    """In SQL; the first is the default."""


TASKS = Table(
    TaskRow,
    "(SELECT *, CASE WHEN passed > 0 AND failed > 0 THEN 'diverges' WHEN passed > 0 THEN 'always passes'"
    " WHEN failed > 0 THEN 'never passes' ELSE 'unknown' END AS outcome FROM tasks)",
    ("task", "text"),
    {
        "contrast": "min(passed, failed) DESC, task",
        "task": "task",
        "runs": "runs DESC, task",
        "best": "passed * 1.0 / max(1, passed + failed) DESC, task",
        "worst": "passed * 1.0 / max(1, passed + failed), task",
    },
)
RUNS = Table(
    RunRow,
    "(SELECT *, CASE passed WHEN 1 THEN 'passed' WHEN 0 THEN 'failed' ELSE 'unknown' END AS outcome FROM runs)",
    ("task", "source", "origin"),
    {
        "task": "task, source, trial, id",
        "source": "source, task, trial, id",
        **{name: f"{name} DESC, task, source, trial, id" for name in ("calls", "seconds", "tokens", "cost")},
    },
)


class RunGroup(NamedTuple):
    """Runs with something in common: their source (the model or agent), or where they were read from."""

    name: str
    runs: int
    passed: int
    failed: int


class FunctionRow(NamedTuple):
    """One function that recorded runs called."""

    function: str
    calls: int
    tasks: int
    example: str
    """A task in which it was called."""


class Stopped(Exception):
    """The index was closed while runs were being indexed."""


class RunIndex:
    """Runs by task. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(make_private(path), check_same_thread=False, isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=OFF", "cache_size=-8000"):  # it can always be made again
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.executescript(_SCHEMA)
        self._lock = Lock()
        self._is_closed = False

    def add(
        self,
        runs: Iterable[Trajectory],
        on_progress: Callable[[int], object] = lambda done: None,
        *,
        collection: str = "",
    ) -> int:
        """Add runs; those already present are skipped. Returns the new total."""
        done, source = 0, iter(runs)
        while part := list(islice(source, 500)):
            with self._lock:
                if self._is_closed:
                    raise Stopped
                self._connection.execute("BEGIN")
                for run in part:
                    self._add(run, collection)
                self._connection.execute("COMMIT")
            done += len(part)
            on_progress(done)
        self._ask("UPDATE tasks SET masked = NULL WHERE masked IS NOT NULL")  # more is known about what is a value
        return self.count

    def _add(self, run: Trajectory, collection: str) -> None:
        execute = self._connection.execute
        if not execute(_ADD_RUN, _row(run, collection)).rowcount:
            return
        data = zlib.compress(_encode(run), 1)  # in a table of its own: lists go over all rows of the others
        execute("INSERT INTO blobs VALUES (?,?)", (content_digest(run), data))
        counts = Counter(call.function for call in run.calls)
        self._connection.executemany(_ADD_CALLS, ((name, run.task_key, count) for name, count in counts.items()))
        ended = (int(run.outcome.passed is True), int(run.outcome.passed is False))
        execute(_ADD_TASK, (run.task_key, run.ability or "general", run.task[:TEXT_CHARS], *ended))
        for kind, name in (("source", run.source), ("collection", collection)):
            execute(_ADD_GROUP, (kind, name, *ended))

    # Lists

    def count_rows(self, table: Table, chosen: Mapping[str, str], words: str = "") -> int:
        """How many rows have these values and contain every word."""
        where, values = _condition(table, chosen, words)
        return int(self._ask(f"SELECT count(*) FROM {table.source} WHERE {where}", values)[0][0])

    def select(
        self,
        table: Table,
        chosen: Mapping[str, str],
        words: str = "",
        order: str = "",
        offset: int = 0,
        limit: int = 50,
    ) -> list[Any]:
        where, values = _condition(table, chosen, words)
        by = table.orders.get(order) or next(iter(table.orders.values()))
        query = (
            f"SELECT {', '.join(table.row._fields)} FROM {table.source} WHERE {where} ORDER BY {by} LIMIT ? OFFSET ?"
        )
        return [table.row(*row) for row in self._ask(query, (*values, limit, offset))]

    def count_values(self, table: Table, chosen: Mapping[str, str], words: str, facet: str) -> list[tuple[str, int]]:
        """How many rows each value of a facet would show, keeping the other facets."""
        where, values = _condition(table, {name: value for name, value in chosen.items() if name != facet}, words)
        query = f"SELECT {facet}, count(*) FROM {table.source} WHERE {where} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?"
        return [(value, count) for value, count in self._ask(query, (*values, MAX_VALUES)) if value]

    def neighbours(self, row: RunRow, chosen: Mapping[str, str]) -> tuple[RunRow | None, RunRow | None]:
        """The runs before and after one in the list of those with the chosen values, by task, source and trial."""
        where, values = _condition(RUNS, chosen, "")
        place = "task, source, trial, id"
        found = []
        for than, order in (("<", f"{place.replace(',', ' DESC,')} DESC"), (">", place)):
            query = (
                f"SELECT {', '.join(RunRow._fields)} FROM {RUNS.source} WHERE {where} AND ({place}) {than} (?,?,?,?)"
            )
            own = (row.task, row.source, row.trial, row.id)
            found.append(
                next((RunRow(*each) for each in self._ask(f"{query} ORDER BY {order} LIMIT 1", (*values, *own))), None)
            )
        return found[0], found[1]

    def find_run(self, run_id: str, task: str = "", source: str = "", trial: str = "") -> tuple[RunRow, str] | None:
        """A run by its id or, without that, by its task, source and trial; and its trial as `runs` numbers it."""
        query = f"SELECT {', '.join(RunRow._fields)} FROM {RUNS.source} WHERE"
        for row in map(RunRow._make, self._ask(f"{query} id = ?", (run_id,)) if run_id else ()):
            task = row.task
        taken: Counter[tuple[str, str]] = Counter()
        for row in map(RunRow._make, self._ask(f"{query} task = ? ORDER BY source, trial, content", (task,))):
            taken[row.source, row.trial] += 1
            numbered = _number(row.trial, taken[row.source, row.trial])
            if row.id == run_id or (not run_id and (row.source, numbered) == (source, trial)):
                return row, numbered
        return None

    def label(self, labels: Mapping[str, str]) -> None:
        """Set labels of runs by `label_name`."""
        for run, label in labels.items():
            self._ask("UPDATE runs SET label = ? WHERE origin = ? OR id = ?", (label, run, run))

    def label_name(self, row: RunRow) -> str:
        """What names a run wherever runs are read: its place, or a digest if another run says that it is from there."""
        (count,) = self._ask("SELECT count(*) FROM runs WHERE origin = ?", (row.origin,))[0]
        return row.origin if count == 1 else row.id

    def agreement(self) -> tuple[int, int]:
        """Of the labels `passed` and `failed` on runs with a verdict: how many say the same, and how many there are."""
        query = "SELECT total((label = 'passed') = passed), count(*) FROM runs WHERE label IN ('passed', 'failed')"
        same, count = self._ask(f"{query} AND passed IS NOT NULL")[0]
        return int(same), int(count)

    # Tasks, sources and functions

    @property
    def count(self) -> int:
        return int(self._ask("SELECT count(*) FROM runs")[0][0])

    def groups(self, kind: GroupKind) -> list[RunGroup]:
        """Sources, or the `--runs` paths, each file or folder on its own."""
        text = "SELECT name, runs, passed, failed FROM groups WHERE kind = ? ORDER BY runs DESC, name LIMIT 200"
        return [RunGroup(*row) for row in self._ask(text, (kind,))]

    def keep_masked(self, task: str, text: str) -> None:
        """Keep the masked text of a task."""
        self._ask("UPDATE tasks SET masked = ? WHERE task = ?", (text, task))

    def functions(self, words: str, limit: int) -> list[FunctionRow]:
        """Functions whose name contains every word, most called first."""
        where, values = _all_words(words, ("function",))
        rows = self._ask(
            f"SELECT function, sum(calls), count(*), min(task) FROM calls WHERE {where}"
            " GROUP BY function ORDER BY sum(calls) DESC, function LIMIT ?",
            (*values, limit),
        )
        return [FunctionRow(*row) for row in rows]

    def tasks_calling(self, functions: Iterable[str]) -> list[str]:
        """The tasks in which some run called one of the functions; all tasks without functions."""
        names = tuple(functions)
        where = f"WHERE function IN ({','.join('?' * len(names))})" if names else ""
        return [task for (task,) in self._ask(f"SELECT DISTINCT task FROM calls {where} ORDER BY task", names)]

    def rates(self, tasks: Iterable[str]) -> dict[tuple[str, str], tuple[int, int]]:
        """By task and source: runs that passed, and runs with a known outcome."""
        names = tuple(tasks)
        rows = self._ask(
            "SELECT task, source, total(passed = 1), count(passed) FROM runs"
            f" WHERE task IN ({','.join('?' * len(names))}) GROUP BY task, source",
            names,
        )
        return {(task, source): (int(passed), int(judged)) for task, source, passed, judged in rows}

    def runs(self, task: str) -> list[Trajectory]:
        rows = self._ask(f"SELECT trajectory {_STORED} WHERE task = ? ORDER BY source, trial, content", (task,))
        runs: list[Trajectory] = []
        taken: Counter[tuple[str, str]] = Counter()
        for (data,) in rows:
            run = _trajectory(data)
            taken[run.source, run.run] += 1
            runs.append(msgspec.structs.replace(run, run=_number(run.run, taken[run.source, run.run])))
        return mask_secrets(runs)

    def of_group(self, kind: GroupKind, name: str) -> Iterator[Trajectory]:
        """The runs of a source or of a collection, task by task."""
        for (task,) in self._ask(f"SELECT DISTINCT task FROM runs WHERE {kind} = ?", (name,)):
            rows = self._ask(f"SELECT trajectory {_STORED} WHERE task = ? AND {kind} = ?", (task, name))
            yield from (_trajectory(data) for (data,) in rows)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._connection.close()

    def _ask(self, text: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            if self._is_closed:
                raise Stopped
            return self._connection.execute(text, values).fetchall()


# What a list is made of


@dataclass(frozen=True)
class InMemory:
    """Named tuples."""

    rows: Sequence[Any]
    orders: Mapping[str, Callable[[Any], Any]]
    is_hidden: Callable[[Any], bool] = lambda row: False
    """Rows that are shown only if the facet `status` asks for them."""

    def count(self, chosen: Mapping[str, str]) -> int:
        return sum(self._fits(row, chosen) for row in self.rows)

    def select(self, chosen: Mapping[str, str], order: str, offset: int, limit: int) -> list[Any]:
        return sorted((row for row in self.rows if self._fits(row, chosen)), key=self.orders[order])[offset:][:limit]

    def values(self, chosen: Mapping[str, str], facet: str) -> list[tuple[str, int]]:
        counts = Counter(getattr(row, facet) for row in self.rows if self._fits(row, chosen, but=facet))
        return [(value, count) for value, count in counts.most_common(MAX_VALUES) if value]

    def _fits(self, row: Any, chosen: Mapping[str, str], but: str = "") -> bool:
        if self.is_hidden(row) and but != "status" and not chosen["status"]:
            return False
        return all(not value or facet == but or getattr(row, facet) == value for facet, value in chosen.items())


@dataclass(frozen=True)
class Stored:
    """Rows of the run index."""

    index: RunIndex
    table: Table
    words: str

    @property
    def orders(self) -> Mapping[str, str]:
        return self.table.orders

    def count(self, chosen: Mapping[str, str]) -> int:
        return self.index.count_rows(self.table, chosen, self.words)

    def select(self, chosen: Mapping[str, str], order: str, offset: int, limit: int) -> list[Any]:
        return self.index.select(self.table, chosen, self.words, order, offset, limit)

    def values(self, chosen: Mapping[str, str], facet: str) -> list[tuple[str, int]]:
        return self.index.count_values(self.table, chosen, self.words, facet)


def _number(trial: str, number: int) -> str:
    """Runs that claim the same trial are numbered, as in a collection."""
    return trial if number == 1 else f"{trial}~{number}"


def _row(run: Trajectory, collection: str) -> tuple[object, ...]:
    passed = None if run.outcome.passed is None else int(run.outcome.passed)
    times = [event.time for event in run.events if event.time is not None]
    content = content_digest(run)
    known = [count for count in (run.usage.tokens_in, run.usage.tokens_out) if count is not None]
    return (
        content, run.task_key, run.ability or "general", run.source, run.run, passed, run.outcome.ended,
        len(run.calls), times[-1] - times[0] if len(times) > 1 else None, sum(known) if known else None,
        run.usage.cost_usd, str(run.origin), collection, "none", content.hex(),
    )  # fmt: skip


def _trajectory(data: object) -> Trajectory:
    assert isinstance(data, bytes)
    return _decode(zlib.decompress(data))


def _condition(table: Table, chosen: Mapping[str, str], words: str) -> tuple[str, tuple[object, ...]]:
    holds, values = _all_words(words, table.words)
    for facet, value in chosen.items():
        if value:
            assert facet in table.row._fields, "facets are ours, only their values come from an address"
            holds, values = f"{holds} AND {facet} = ?", (*values, value)
    return holds, values


def _all_words(words: str, columns: tuple[str, ...]) -> tuple[str, tuple[object, ...]]:
    """The condition that each word occurs in one of the columns."""
    wanted = words.lower().split()[:8]
    anywhere = " OR ".join(f"instr(lower({column}), ?)" for column in columns)
    return " AND ".join(f"({anywhere})" for _ in wanted) or "1", tuple(word for word in wanted for _ in columns)
