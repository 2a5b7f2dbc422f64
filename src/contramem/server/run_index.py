"""RunIndex: recorded runs in one file, so that a hundred thousand can be browsed without loading them into memory."""

from __future__ import annotations

import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeAlias

import msgspec

from contramem.bank.database import escape_like
from contramem.contrast.packet import Packet, mask_task, packet_of
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.run_content import content_digest
from contramem.traces.secrets import mask_secrets
from contramem.traces.trajectory import Trajectory
from contramem.whole_file import make_private

VOCABULARY_TASKS = 500
"""How many tasks closed vocabularies are learned from. More would only slow down the first page."""
TEXT_CHARS = 400
"""Length of a task's text in lists and search."""
KEPT_PACKETS = 4
"""How many packets are cached: a visitor of a task clicks on one cell after the other."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  content BLOB PRIMARY KEY, task TEXT, ability TEXT, source TEXT, trial TEXT, passed INTEGER, ended TEXT,
  calls INTEGER, origin TEXT, collection TEXT, trajectory BLOB) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS runs_of_task ON runs (task, source, trial);
CREATE INDEX IF NOT EXISTS runs_of_source ON runs (source, task, passed);
CREATE INDEX IF NOT EXISTS runs_of_collection ON runs (collection, task);
CREATE TABLE IF NOT EXISTS tasks (task TEXT PRIMARY KEY, ability TEXT, text TEXT, runs INTEGER, passed INTEGER,
  failed INTEGER, masked TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tasks_by_contrast ON tasks (min(passed, failed) DESC, task);
CREATE TABLE IF NOT EXISTS calls (function TEXT, task TEXT, calls INTEGER, PRIMARY KEY (function, task)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS groups (kind TEXT, name TEXT, runs INTEGER, passed INTEGER, failed INTEGER,
  PRIMARY KEY (kind, name)) WITHOUT ROWID;
"""
_ADD_RUN = "INSERT OR IGNORE INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?)"
_ADD_CALLS = "INSERT INTO calls VALUES (?,?,?) ON CONFLICT DO UPDATE SET calls = calls + excluded.calls"
_ADD_COUNTS = (
    "ON CONFLICT DO UPDATE SET runs = runs + 1, passed = passed + excluded.passed, failed = failed + excluded.failed"
)
_ADD_TASK = f"INSERT INTO tasks VALUES (?,?,?,1,?,?,NULL) {_ADD_COUNTS}"
_ADD_GROUP = f"INSERT INTO groups VALUES (?,?,1,?,?) {_ADD_COUNTS}"
OUTCOMES = {
    "diverges": "passed > 0 AND failed > 0",
    "always passes": "passed > 0 AND failed = 0",
    "never passes": "passed = 0 AND failed > 0",
    "unknown": "passed = 0 AND failed = 0",
}
"""Kinds of tasks by the outcomes of their runs."""
ORDERS = {
    "contrast": "min(passed, failed) DESC, task",
    "task": "task",
    "runs": "runs DESC, task",
    "best": "passed * 1.0 / max(1, passed + failed) DESC, task",
    "worst": "passed * 1.0 / max(1, passed + failed), task",
}
"""How a list of tasks can be sorted."""
_decode = msgspec.msgpack.Decoder(Trajectory).decode
_encode = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True)
class TaskRow:
    """One task in a list."""

    task: str
    ability: str
    text: str
    runs: int
    passed: int
    failed: int
    masked: str | None
    """The text with placeholders instead of values. None: not masked yet."""

    @property
    def contrastive(self) -> bool:
        return bool(self.passed and self.failed)


@dataclass(frozen=True)
class TaskQuery:
    """Which tasks a list shows, and in which order."""

    words: str = ""
    ability: str = ""
    outcome: str = ""
    order: str = "contrast"

    def condition(self) -> tuple[str, tuple[object, ...]]:
        """In SQL: every word occurs in the key or the text."""
        holds, values = _all_words(self.words, ("task", "text"))
        if self.ability:
            holds, values = f"{holds} AND ability = ?", (*values, self.ability)
        if self.outcome in OUTCOMES:
            holds += f" AND {OUTCOMES[self.outcome]}"
        return f"WHERE {holds}", values


@dataclass(frozen=True)
class RunGroup:
    """Runs with something in common: their source (the model or agent), or where they were read from."""

    name: str
    runs: int
    passed: int
    failed: int


@dataclass(frozen=True)
class FunctionRow:
    """One function that recorded runs called."""

    function: str
    calls: int
    tasks: int
    example: str
    """A task in which it was called."""


ALL_TASKS = TaskQuery()
GroupKind: TypeAlias = Literal["source", "collection"]


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
        self._vocabulary: Vocabulary | None = None
        self._is_closed = False
        self._packet = lru_cache(KEPT_PACKETS)(self._make_packet)

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
        self._vocabulary = None
        self._packet.cache_clear()
        self._query("UPDATE tasks SET masked = NULL WHERE masked IS NOT NULL")  # more is known about what is a value
        return self.count

    def _add(self, run: Trajectory, collection: str) -> None:
        execute = self._connection.execute
        if not execute(_ADD_RUN, _row(run, collection)).rowcount:
            return
        counts = Counter(call.function for call in run.calls)
        self._connection.executemany(_ADD_CALLS, ((name, run.task_key, count) for name, count in counts.items()))
        ended = (int(run.outcome.passed is True), int(run.outcome.passed is False))
        execute(_ADD_TASK, (run.task_key, run.ability or "general", run.task[:TEXT_CHARS], *ended))
        for kind, name in (("source", run.source), ("collection", collection)):
            execute(_ADD_GROUP, (kind, name, *ended))

    @property
    def count(self) -> int:
        return int(self._query("SELECT count(*) FROM runs")[0][0])

    def sources(self) -> list[RunGroup]:
        return self._groups("source")

    def collections(self) -> list[RunGroup]:
        """The `--runs` paths, each file or folder on its own."""
        return self._groups("collection")

    def _groups(self, kind: str) -> list[RunGroup]:
        text = "SELECT name, runs, passed, failed FROM groups WHERE kind = ? ORDER BY runs DESC, name LIMIT 200"
        return [RunGroup(*row) for row in self._query(text, (kind,))]

    def task_count(self, query: TaskQuery = ALL_TASKS) -> int:
        where, values = query.condition()
        return int(self._query(f"SELECT count(*) FROM tasks {where}", values)[0][0])

    def outcome_counts(self, query: TaskQuery = ALL_TASKS) -> dict[str, int]:
        """How many of the tasks are of each kind, whatever kind is requested."""
        return {name: self.task_count(replace(query, outcome=name)) for name in OUTCOMES}

    def tasks(self, query: TaskQuery = ALL_TASKS, offset: int = 0, limit: int = 50) -> list[TaskRow]:
        """By default the clearest contrast first: tasks that some runs passed and others failed."""
        where, values = query.condition()
        order = ORDERS.get(query.order, ORDERS["contrast"])
        rows = self._query(f"SELECT * FROM tasks {where} ORDER BY {order} LIMIT ? OFFSET ?", (*values, limit, offset))
        return [TaskRow(*row) for row in rows]

    def mask(self, rows: Iterable[TaskRow]) -> list[TaskRow]:
        """The rows with their masked texts, which are made on first use."""
        return [row if row.masked is not None else replace(row, masked=self._mask(row.task)) for row in rows]

    def _mask(self, task: str) -> str:
        text = mask_task(self.runs(task), self.vocabulary())[:TEXT_CHARS]
        self._query("UPDATE tasks SET masked = ? WHERE task = ?", (text, task))
        return text

    def abilities(self) -> list[str]:
        return [row[0] for row in self._query("SELECT DISTINCT ability FROM tasks ORDER BY ability LIMIT 200")]

    def functions(self, words: str, limit: int) -> list[FunctionRow]:
        """Functions whose name contains every word, most called first."""
        where, values = _all_words(words, ("function",))
        rows = self._query(
            f"SELECT function, sum(calls), count(*), min(task) FROM calls WHERE {where}"
            " GROUP BY function ORDER BY sum(calls) DESC, function LIMIT ?",
            (*values, limit),
        )
        return [FunctionRow(*row) for row in rows]

    def rates(self, tasks: Iterable[str], by: GroupKind = "source") -> dict[tuple[str, str], tuple[int, int]]:
        """By task and source (or collection): runs that passed, and runs with a known outcome."""
        names = tuple(tasks)
        marks = ",".join("?" * len(names))
        rows = self._query(
            f"SELECT task, {by}, total(passed = 1), count(passed) FROM runs"
            f" WHERE task IN ({marks}) GROUP BY task, {by}",
            names,
        )
        return {(task, group): (int(passed), int(judged)) for task, group, passed, judged in rows}

    def runs(self, task: str) -> list[Trajectory]:
        rows = self._query("SELECT trajectory FROM runs WHERE task = ? ORDER BY source, trial, content", (task,))
        runs: list[Trajectory] = []
        taken: dict[tuple[str, str], int] = {}
        for (data,) in rows:  # runs that claim the same trial are numbered, as in a pool
            run = _trajectory(data)
            number = taken[run.source, run.run] = taken.get((run.source, run.run), 0) + 1
            runs.append(msgspec.structs.replace(run, run=run.run if number == 1 else f"{run.run}~{number}"))
        return mask_secrets(runs)

    def of_group(self, kind: GroupKind, name: str) -> Iterator[Trajectory]:
        """The runs of a source or of a collection, task by task."""
        for (task,) in self._query(f"SELECT DISTINCT task FROM runs WHERE {kind} = ?", (name,)):
            rows = self._query(f"SELECT trajectory FROM runs WHERE task = ? AND {kind} = ?", (task, name))
            yield from (_trajectory(data) for (data,) in rows)

    def packet(self, task: str) -> Packet | None:
        """All attempts at a task, with values as placeholders and the signals that separate them."""
        return self._packet(task)

    def _make_packet(self, task: str) -> Packet | None:
        runs = self.runs(task)
        return packet_of(runs, self.vocabulary()) if runs else None

    def vocabulary(self) -> Vocabulary:
        if self._vocabulary is None:
            tasks = self._query("SELECT task FROM tasks ORDER BY task LIMIT ?", (VOCABULARY_TASKS,))
            self._vocabulary = Vocabulary(self.runs(task) for (task,) in tasks)
        return self._vocabulary

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._connection.close()

    def _query(self, text: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            if self._is_closed:
                raise Stopped
            return self._connection.execute(text, values).fetchall()


def _row(run: Trajectory, collection: str) -> tuple[object, ...]:
    data = zlib.compress(_encode(run), 1)
    passed = None if run.outcome.passed is None else int(run.outcome.passed)
    ability = run.ability or "general"
    return (
        content_digest(run), run.task_key, ability, run.source, run.run, passed, run.outcome.ended, len(run.calls),
        str(run.origin), collection, data,
    )  # fmt: skip


def _trajectory(data: object) -> Trajectory:
    assert isinstance(data, bytes)
    return _decode(zlib.decompress(data))


def _all_words(words: str, columns: tuple[str, ...]) -> tuple[str, tuple[object, ...]]:
    """The condition that each word occurs in one of the columns."""
    likes = [f"%{escape_like(word)}%" for word in words.split()[:8]]
    anywhere = " OR ".join(f"{column} LIKE ? ESCAPE '!'" for column in columns)
    holds = " AND ".join(f"({anywhere})" for _ in likes)
    return holds or "1", tuple(like for like in likes for _ in columns)
