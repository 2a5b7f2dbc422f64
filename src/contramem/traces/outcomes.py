"""Outcomes that a user supplies with the traces: sessions of coding agents contain neither a task nor a verdict.

A CSV with a column `run` (file name, path ending or session id) and any of `passed`, `reward`, `task_id`, `source`,
`trial`, `feedback`, or the usual other names of these. An empty cell leaves what the trace says.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from contramem.errors import UsageError
from contramem.traces.decoding import number
from contramem.traces.files import find_separator
from contramem.traces.trajectory import Trajectory
from contramem.traces.verdict_files import verdict_of

COLUMNS = {
    "run": ("file", "filename", "path", "run_id", "session", "session_id", "log", "trace", "trace_id", "id"),
    "passed": ("success", "verdict", "resolved", "correct", "is_correct", "outcome", "result", "status", "grade"),
    "reward": ("score",),
    "task_id": ("task", "case", "case_id", "ticket", "instance_id"),
    "source": ("model", "agent", "llm"),
    "trial": ("attempt",),
    "feedback": ("comment", "notes", "reason"),
}
"""The columns, with other names that people give them."""


class OutcomeRows:
    """Rows by the run they are about; keeps track of rows that matched no run."""

    def __init__(self, rows: Mapping[str, Mapping[str, str]], path: str) -> None:
        self._rows = rows
        self.path = path
        self.used: set[str] = set()
        """The rows that matched a run."""

    def copy(self) -> OutcomeRows:
        """The same rows, with none of them matched."""
        return OutcomeRows(self._rows, self.path)

    def apply(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory with the values from its row, or unchanged if there is none."""
        for name in _names(trajectory):
            if name in self._rows:
                self.used.add(name)
                return _apply_row(trajectory, self._rows[name])
        return trajectory

    def unused(self) -> Iterator[tuple[str, str, str]]:
        """(where, what, hint) for each row that matched no run: most likely a misspelt name."""
        for name in self._rows:
            if name not in self.used:
                hint = "Name a run by its file, the end of its path, or its session id."
                yield self.path, f"row {name!r} matches no run that was read", hint


def _names(trajectory: Trajectory) -> Iterator[str]:
    yield trajectory.run
    yield str(trajectory.origin)
    path = PurePosixPath(trajectory.origin.file.replace("!", "/").replace("\\", "/"))
    for count in range(1, len(path.parts) + 1):
        yield "/".join(path.parts[-count:])
    yield path.name.partition(".")[0]


def _apply_row(trajectory: Trajectory, row: Mapping[str, str]) -> Trajectory:
    outcome = trajectory.outcome
    reward = number(row["reward"]) if row.get("reward") else outcome.reward
    passed = outcome.passed
    if row.get("passed"):
        passed, _ = verdict_of(row["passed"])
    elif row.get("reward") and reward is not None:
        passed = reward >= 1
    feedback = row.get("feedback") or outcome.feedback
    return msgspec.structs.replace(
        trajectory,
        outcome=msgspec.structs.replace(outcome, passed=passed, reward=reward, feedback=feedback),
        task_id=row.get("task_id") or trajectory.task_id,
        # A task id given by the user says which runs belong together, whatever their requests were.
        authored=False if row.get("task_id") else trajectory.authored,
        source=row.get("source") or trajectory.source,
        run=row.get("trial") or trajectory.run,
    )


def read_outcomes(path: Path) -> OutcomeRows:
    """Read and check the whole file before any trace is read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    table = csv.DictReader(text.splitlines(), delimiter=find_separator(text))
    columns = _find_columns(table.fieldnames or [])
    if "run" not in columns or len(columns) < 2:
        raise UsageError(
            f"{path}: has columns {', '.join(table.fieldnames or [])}; "
            f"it needs 'run' and any of {', '.join(list(COLUMNS)[1:])}."
        )
    rows: dict[str, Mapping[str, str]] = {}
    for line, cells in enumerate(table, 2):
        row = {column: (cells[name] or "").strip() for column, name in columns.items()}
        if row.get("passed") and verdict_of(row["passed"])[0] is None:
            raise UsageError(f"{path}:{line}: passed is {row['passed']!r}; write true or false, or leave it empty.")
        if row["run"] in rows:
            raise UsageError(f"{path}:{line}: {row['run']!r} appears in an earlier row too. Keep one of them.")
        rows[row["run"]] = row
    return OutcomeRows(rows, str(path))


def _find_columns(header: Sequence[str]) -> dict[str, str]:
    """Our column -> the table's, by its name or one of the other names."""
    by_name = {name.strip().lower(): name for name in header}
    found = {}
    for column, others in COLUMNS.items():
        name = next((by_name[name] for name in (column, *others) if name in by_name), None)
        if name is not None:
            found[column] = name
    return found
