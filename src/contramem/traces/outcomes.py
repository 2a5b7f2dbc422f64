"""Outcomes that a user supplies with the traces: sessions of coding agents contain neither a task nor a verdict.

A CSV with a column `run` (file name, path ending or session id) and any of `passed`, `reward`, `task_id`, `source`,
`trial`, `feedback`. An empty cell leaves what the trace says.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import msgspec

from contramem.errors import UsageError
from contramem.traces.decoding import number
from contramem.traces.trajectory import Trajectory

COLUMNS = ("run", "passed", "reward", "task_id", "source", "trial", "feedback")
_TRUE, _FALSE = {"true", "1", "yes", "pass", "passed", "success"}, {"false", "0", "no", "fail", "failed", "failure"}


class OutcomeRows:
    """Rows by the run they are about; keeps track of rows that matched no run."""

    def __init__(self, rows: Mapping[str, Mapping[str, str]], path: str) -> None:
        self._rows = rows
        self._path = path
        self.used: set[str] = set()
        """The rows that matched a run."""

    def copy(self) -> OutcomeRows:
        """The same rows, with none of them matched."""
        return OutcomeRows(self._rows, self._path)

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
                yield self._path, f"row {name!r} matches no run that was read", hint


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
        passed = row["passed"].strip().lower() in _TRUE
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
    table = csv.DictReader(text.splitlines())
    columns = table.fieldnames or []
    if "run" not in columns or not set(columns) <= set(COLUMNS):
        raise UsageError(
            f"{path}: has columns {', '.join(columns)}; it needs 'run' and any of {', '.join(COLUMNS[1:])}."
        )
    rows: dict[str, Mapping[str, str]] = {}
    for line, row in enumerate(table, 2):
        passed = (row.get("passed") or "").strip().lower()
        if passed and passed not in _TRUE | _FALSE:
            raise UsageError(f"{path}:{line}: passed is {passed!r}; write true or false, or leave it empty.")
        if row["run"] in rows:
            raise UsageError(f"{path}:{line}: {row['run']!r} appears in an earlier row too. Keep one of them.")
        rows[row["run"]] = {column: value or "" for column, value in row.items() if column is not None}
    return OutcomeRows(rows, str(path))
