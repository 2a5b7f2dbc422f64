"""RunIndex: recorded runs in one file, so that a hundred thousand can be browsed without being held in memory."""

from __future__ import annotations

import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from contramem.bank.database import escape_like
from contramem.contrast.packet import Packet, packet_of
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.pool import content_digest
from contramem.traces.secrets import mask_secrets
from contramem.traces.trajectory import Trajectory

VOCABULARY_TASKS = 500
"""Tasks that closed vocabularies are learned from. More would only make the first page slower."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  content BLOB PRIMARY KEY, task TEXT, ability TEXT, source TEXT, trial TEXT, passed INTEGER, ended TEXT,
  calls INTEGER, origin TEXT, trajectory BLOB) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS runs_of_task ON runs (task, source, trial);
CREATE INDEX IF NOT EXISTS runs_of_source ON runs (source, task, passed);
CREATE TABLE IF NOT EXISTS tasks (task TEXT PRIMARY KEY, ability TEXT, text TEXT, runs INTEGER, passed INTEGER,
  failed INTEGER) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tasks_by_contrast ON tasks (min(passed, failed) DESC, task);
CREATE TABLE IF NOT EXISTS calls (function TEXT, task TEXT, calls INTEGER, PRIMARY KEY (function, task)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sources (source TEXT PRIMARY KEY, runs INTEGER, passed INTEGER, failed INTEGER)
  WITHOUT ROWID;
"""
_FILL = """
DELETE FROM tasks; DELETE FROM sources;
INSERT INTO tasks SELECT task, max(ability), '', count(*), total(passed = 1), total(passed = 0) FROM runs GROUP BY task;
INSERT INTO sources SELECT source, count(*), total(passed = 1), total(passed = 0) FROM runs GROUP BY source;
"""
_ADD_CALLS = "INSERT INTO calls VALUES (?,?,?) ON CONFLICT DO UPDATE SET calls = calls + excluded.calls"
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

    @property
    def contrastive(self) -> bool:
        return bool(self.passed and self.failed)


@dataclass(frozen=True)
class SourceRow:
    """One source: the model or agent that ran."""

    source: str
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


class RunIndex:
    """Runs by task. Threads may share it."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=OFF", "cache_size=-8000"):  # it can always be made again
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.executescript(_SCHEMA)
        self._lock = Lock()
        self._vocabulary: Vocabulary | None = None

    def add(self, runs: Iterable[Trajectory], on_progress: Callable[[int], object] = lambda done: None) -> int:
        """Take runs in; those that are here already are passed over. Returns how many are here now."""
        done, source = 0, iter(runs)
        while part := list(islice(source, 500)):
            with self._lock:
                self._connection.execute("BEGIN")
                for run in part:
                    self._add(run)
                self._connection.execute("COMMIT")
            done += len(part)
            on_progress(done)
        with self._lock:
            self._connection.executescript(_FILL)
            self._fill_texts()
        self._vocabulary = None
        return self.count

    def _add(self, run: Trajectory) -> None:
        added = self._connection.execute("INSERT OR IGNORE INTO runs VALUES (?,?,?,?,?,?,?,?,?,?)", _row(run))
        if added.rowcount:
            counts = Counter(call.function for call in run.calls)
            self._connection.executemany(_ADD_CALLS, ((name, run.task_key, count) for name, count in counts.items()))

    def _fill_texts(self) -> None:
        """The words of each task, for lists and search, from its first run."""
        firsts = self._connection.execute("SELECT task, trajectory FROM runs GROUP BY task").fetchall()
        texts = ((_trajectory(data).task[:400], task) for task, data in firsts)
        self._connection.execute("BEGIN")
        self._connection.executemany("UPDATE tasks SET text = ? WHERE task = ?", texts)
        self._connection.execute("COMMIT")

    @property
    def count(self) -> int:
        return int(self._query("SELECT count(*) FROM runs")[0][0])

    def sources(self) -> list[SourceRow]:
        return [
            SourceRow(source, runs, int(passed), int(failed))
            for source, runs, passed, failed in self._query(
                "SELECT * FROM sources ORDER BY runs DESC, source LIMIT 200"
            )
        ]

    def task_count(self, words: str = "", ability: str = "") -> int:
        where, values = _matching(words, ability)
        return int(self._query(f"SELECT count(*) FROM tasks {where}", values)[0][0])

    def tasks(self, words: str = "", ability: str = "", offset: int = 0, limit: int = 50) -> list[TaskRow]:
        """The sharpest contrast first: tasks that some runs passed and others failed."""
        where, values = _matching(words, ability)
        rows = self._query(
            f"SELECT * FROM tasks {where} ORDER BY min(passed, failed) DESC, task LIMIT ? OFFSET ?",
            (*values, limit, offset),
        )
        return [TaskRow(task, ability, text, runs, int(passed), int(failed))
                for task, ability, text, runs, passed, failed in rows]  # fmt: skip

    def abilities(self) -> list[str]:
        return [row[0] for row in self._query("SELECT DISTINCT ability FROM tasks ORDER BY ability LIMIT 200")]

    def functions(self, words: str, limit: int) -> list[FunctionRow]:
        """Functions whose name holds every word, the most called first."""
        where, values = _all_words(words, ("function",))
        rows = self._query(
            f"SELECT function, sum(calls), count(*), min(task) FROM calls WHERE {where}"
            " GROUP BY function ORDER BY sum(calls) DESC, function LIMIT ?",
            (*values, limit),
        )
        return [FunctionRow(*row) for row in rows]

    def rates(self, tasks: Iterable[str]) -> dict[tuple[str, str], tuple[int, int]]:
        """By task and source: runs that passed, and runs whose outcome is known."""
        names = tuple(tasks)
        marks = ",".join("?" * len(names))
        rows = self._query(
            "SELECT task, source, total(passed = 1), count(passed) FROM runs"
            f" WHERE task IN ({marks}) GROUP BY task, source",
            names,
        )
        return {(task, source): (int(passed), int(known)) for task, source, passed, known in rows}

    def runs(self, task: str) -> list[Trajectory]:
        rows = self._query("SELECT trajectory FROM runs WHERE task = ? ORDER BY source, trial, content", (task,))
        runs: list[Trajectory] = []
        taken: dict[tuple[str, str], int] = {}
        for (data,) in rows:  # runs that claim one trial are numbered, as in a pool
            run = _trajectory(data)
            number = taken[run.source, run.run] = taken.get((run.source, run.run), 0) + 1
            runs.append(msgspec.structs.replace(run, run=run.run if number == 1 else f"{run.run}~{number}"))
        return mask_secrets(runs)

    def of_source(self, source: str) -> Iterator[Trajectory]:
        for (task,) in self._query("SELECT DISTINCT task FROM runs WHERE source = ?", (source,)):
            rows = self._query("SELECT trajectory FROM runs WHERE task = ? AND source = ?", (task, source))
            yield from (_trajectory(data) for (data,) in rows)

    def packet(self, task: str) -> Packet | None:
        """All attempts at a task, with values as placeholders and the signals that separate them."""
        runs = self.runs(task)
        return packet_of(runs, self.vocabulary()) if runs else None

    def vocabulary(self) -> Vocabulary:
        if self._vocabulary is None:
            tasks = self._query("SELECT task FROM tasks ORDER BY task LIMIT ?", (VOCABULARY_TASKS,))
            self._vocabulary = Vocabulary(self.runs(task) for (task,) in tasks)
        return self._vocabulary

    def close(self) -> None:
        self._connection.close()

    def _query(self, text: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(text, values).fetchall()


def _row(run: Trajectory) -> tuple[object, ...]:
    data = zlib.compress(_encode(run), 1)
    passed = None if run.outcome.passed is None else int(run.outcome.passed)
    ability = run.ability or "general"
    return (
        content_digest(run), run.task_key, ability, run.source, run.run, passed, run.outcome.ended, len(run.calls),
        str(run.origin), data,
    )  # fmt: skip


def _trajectory(data: object) -> Trajectory:
    assert isinstance(data, bytes)
    return _decode(zlib.decompress(data))


def _matching(words: str, ability: str) -> tuple[str, tuple[object, ...]]:
    """The condition for tasks whose key or text holds every word."""
    holds, values = _all_words(words, ("task", "text"))
    if ability:
        return f"WHERE {holds} AND ability = ?", (*values, ability)
    return f"WHERE {holds}", values


def _all_words(words: str, columns: tuple[str, ...]) -> tuple[str, tuple[object, ...]]:
    """The condition that each word stands in one of the columns."""
    likes = [f"%{escape_like(word)}%" for word in words.split()[:8]]
    anywhere = " OR ".join(f"{column} LIKE ? ESCAPE '!'" for column in columns)
    holds = " AND ".join(f"({anywhere})" for _ in likes)
    return holds or "1", tuple(like for like in likes for _ in columns)
