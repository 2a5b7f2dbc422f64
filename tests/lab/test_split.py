"""What belongs together is never on two sides, whoever divides."""

from __future__ import annotations

import pytest
from tests.made_runs import run
from tests.shipped import shipped

from contramem.collection.runs import Collection
from contramem.errors import UsageError
from contramem_lab.split import Finder, SplitTask, group_names, group_tasks, halves


def test_halves_keep_templates_and_wordings_together() -> None:
    with Collection(shipped()) as pool:
        everything = list(pool)
    split = halves(everything, 3)
    group = group_names(everything)
    sides = [{group[runs[0].task_key] for runs in side} for side in split]
    assert sides[0].isdisjoint(sides[1])
    assert sum(map(len, split)) == len(everything)
    assert halves(everything, 3) == split != halves(everything, 4)
    with pytest.raises(UsageError, match="cannot be split"):
        halves(everything[:1], 0)


def test_tasks_without_a_wording_are_not_grouped_by_it() -> None:
    assert len(halves([[run("a", True, task="", task_id=str(number))] for number in range(4)], 0).held_out) == 2


def ids(*environments: str) -> list[tuple[str, ...]]:
    """The groups of tasks that have their id in common and nothing else."""
    tasks = [SplitTask(f"{name}/7", name, "7", wording=f"In {name}") for name in environments]
    return sorted(tuple(task.environment for task in group) for group in group_tasks(tasks, "task"))


def test_an_id_counts_only_within_an_environment_and_its_parts() -> None:
    assert ids("bfcl/drive", "bfcl/trip") == [("bfcl/drive",), ("bfcl/trip",)]
    assert ids("bfcl/drive", "bfcl/trip", "bfcl") == [("bfcl", "bfcl/drive", "bfcl/trip")]
    assert ids("bfcl/drive", "") == [("", "bfcl/drive")]


def test_tasks_that_share_marks_through_a_third_task_are_grouped() -> None:
    one = SplitTask("one", "e", "1", scenario="s", wording="Pay the bill")
    two = SplitTask("two", "e", "2", scenario="s", wording="Call Ann")
    three = SplitTask("three", "e", "3", scenario="t", wording="call  ANN")
    assert group_tasks([three, two, one], "scenario") == [(one, three, two)]
    assert sorted(map(len, group_tasks([three, two, one], "task"))) == [1, 2]


def test_the_task_of_a_run_is_found_by_key_id_or_wording() -> None:
    made = run("a", True, task="Pay the bill", task_id="7")
    known = SplitTask.of(made)
    for other in (
        known,
        SplitTask("x", known.environment, "7"),
        SplitTask("x", "elsewhere", "8", wording="pay the BILL"),
    ):
        assert Finder([other])(made) == other
    assert Finder([SplitTask("x", "elsewhere", "7", wording="Pay")])(made) is None
