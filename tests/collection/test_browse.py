"""Recorded runs in lists: filters with counts, orders, neighbours and labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.made_runs import call, run

from contramem.collection.browse import RUNS, TASKS, RunIndex
from contramem.traces.trajectory import Origin, Trajectory


def made(source: str, passed: bool | None, task: str, line: int) -> Trajectory:
    attempt = run(source, passed, call("Shop.look", {"n": line}), task_id=task)
    return msgspec.structs.replace(attempt, origin=Origin("runs.jsonl", str(line)))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[RunIndex]:
    index = RunIndex(tmp_path / "runs.db")
    outcomes = [("a", True, "t1"), ("b", False, "t1"), ("a", True, "t2"), ("b", True, "t2"), ("b", None, "t3")]
    index.add(made(*each, line) for line, each in enumerate(outcomes))
    yield index
    index.close()


def test_tasks_are_counted_by_how_their_runs_end(index: RunIndex) -> None:
    counts = dict(index.count_values(TASKS, {"outcome": ""}, "", "outcome"))
    assert counts == {"diverges": 1, "always passes": 1, "unknown": 1}
    (row,) = index.select(TASKS, {"outcome": "diverges"})
    assert (row.passed, row.failed) == (1, 1)
    assert index.count_rows(TASKS, {}, "T2 test") == 1


def test_runs_have_neighbours_among_those_that_a_filter_leaves(index: RunIndex) -> None:
    rows = index.select(RUNS, {"source": "b"})
    assert [index.neighbours(row, {"source": "b"}) for row in rows] == [
        (None, rows[1]),
        (rows[0], rows[2]),
        (rows[1], None),
    ]


def test_labels_are_compared_with_verdicts_where_there_are_some(index: RunIndex) -> None:
    rows = index.select(RUNS, {})
    labels = zip(rows, ("passed", "passed", "unknown", "passed", "failed"), strict=True)
    index.label({index.label_name(row): label for row, label in labels})
    assert index.agreement() == (2, 3)  # the second is wrong; `unknown` and runs without a verdict don't count
    assert dict(index.count_values(RUNS, {"label": ""}, "", "label")) == {"passed": 3, "failed": 1, "unknown": 1}


def test_a_run_from_a_place_that_another_names_too_is_labelled_by_its_digest(index: RunIndex) -> None:
    index.add([made("c", True, "t1", 0)])
    twice = [row for row in index.select(RUNS, {}) if row.origin == "runs.jsonl:0"]
    assert [index.label_name(row) for row in twice] == [row.id for row in twice]
