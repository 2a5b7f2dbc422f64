"""Runs that survive a restart: each step is recorded before it is answered, and repeated when the run is asked for."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeAlias

import msgspec

from contramem.errors import StoreError, UsageError
from contramem.inject.run import Memory, Run
from contramem.traces.trajectory import Event
from contramem.whole_file import make_private

Step: TypeAlias = Literal["before_call", "before_final", "observe", "allow", "finish"]
MAX_IN_MEMORY = 4_000
"""Further runs, and finished ones, are dropped from memory. They are restored from the journal on request."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, decision INTEGER, request TEXT, finished INTEGER DEFAULT 0)
  WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS steps (number INTEGER PRIMARY KEY, run TEXT, step TEXT, body TEXT);
CREATE INDEX IF NOT EXISTS steps_of_run ON steps (run, number);
"""
_encode = msgspec.json.Encoder().encode


class LiveRuns:
    """Runs by id. `memory_at` returns the memory as it was after a decision, for runs that began before a restart."""

    def __init__(self, path: Path, memory_at: Callable[[int], Memory]) -> None:
        self._memory_at = memory_at
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._lock = Lock()
        self._journal = sqlite3.connect(make_private(path), check_same_thread=False, isolation_level=None)
        try:
            for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):  # a killed process loses nothing
                self._journal.execute(f"PRAGMA {pragma}")
            self._journal.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            self._journal.close()
            raise StoreError(
                f"{path}: not a journal of live runs ({error}). Move it away; runs then start anew."
            ) from error

    def start(self, memory: Memory, decision: int, run_id: str | None, request: dict[str, Any]) -> Run:
        """Start a run, or return the run with this id: asking twice starts one run. Another task needs another id."""
        if run_id is not None and (known := self._find(run_id)) is not None:
            return _same_task(known, request["task"])
        run = memory.start(**request, run_id=run_id)
        with self._lock:
            self._journal.execute(
                "INSERT INTO runs (run, decision, request) VALUES (?,?,?)", (run.run_id, decision, _encode(request))
            )
            self._keep(run)
        return run

    def get(self, run_id: str) -> Run:
        run = self._find(run_id)
        if run is None:
            raise UsageError(f"there is no run {run_id!r}. Start one with POST runs.")
        return run

    def note(self, run_id: str, step: Step, body: dict[str, Any]) -> None:
        """Record a step that changes what the run knows."""
        with self._lock:
            self._journal.execute("INSERT INTO steps (run, step, body) VALUES (?,?,?)", (run_id, step, _encode(body)))
            if step == "finish":
                self._journal.execute("UPDATE runs SET finished = 1 WHERE run = ?", (run_id,))
                self._runs.pop(run_id, None)

    def counts(self) -> dict[str, int]:
        """Current and finished runs."""
        with self._lock:
            rows = self._journal.execute("SELECT finished, count(*) FROM runs GROUP BY finished").fetchall()
        counts = dict(rows)
        return {"open": counts.get(0, 0), "finished": counts.get(1, 0)}

    def close(self) -> None:
        self._journal.close()

    def _find(self, run_id: str) -> Run | None:
        with self._lock:
            if (run := self._runs.get(run_id)) is not None:
                return run
            row = self._journal.execute("SELECT decision, request FROM runs WHERE run = ?", (run_id,)).fetchone()
            if row is None:
                return None
            steps = self._journal.execute("SELECT step, body FROM steps WHERE run = ? ORDER BY number", (run_id,))
            run = _restore(self._memory_at(row[0]), run_id, msgspec.json.decode(row[1]), steps.fetchall())
            self._keep(run)
            return run

    def _keep(self, run: Run) -> None:
        self._runs[run.run_id] = run
        if len(self._runs) > MAX_IN_MEMORY:
            self._runs.popitem(last=False)


def _same_task(run: Run, task: str) -> Run:
    """A request with an existing id must not get the guidance and the state of another task."""
    if run.task != task:
        raise StoreError(f"run {run.run_id!r} is at another task. Choose another run_id, or leave it out.")
    return run


def _restore(memory: Memory, run_id: str, request: dict[str, Any], steps: list[tuple[str, str]]) -> Run:
    """Restore the run by repeating its steps. Nothing is logged a second time."""
    run = memory.without_log().start(**request, run_id=run_id)
    for step, text in steps:
        body = msgspec.json.decode(text)
        if step == "observe":
            run.observe(msgspec.convert(body, Event))
        elif step == "before_call":
            run.before_call(**body)
        elif step == "before_final":
            run.before_final()
        elif step == "allow":
            run.allow(**body)
    run._log = memory.log
    return run
