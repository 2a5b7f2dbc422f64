"""A split is a function of tasks, rules and seed, and nothing crosses from one side to the other."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.errors import UsageError
from contramem_lab.config import SplitConfig as Rules
from contramem_lab.split import Fold, SplitTask, divide, fold_wording, template_of

GROUPINGS = st.sampled_from(["scenario", "template", "task"])


@st.composite
def some_tasks(draw: st.DrawFn) -> list[SplitTask]:
    """Tasks of few scenarios, abilities and wordings, so that they collide in every way."""
    found = []
    for number in range(draw(st.integers(4, 30))):
        wording = draw(st.sampled_from(["Pay 3 bills", "Pay 4 bills", "pay  4 BILLS", "Call 'Ann'", "Call 'Bob'", ""]))
        found.append(
            SplitTask(
                key=f"env/{number}",
                environment="env",
                id=draw(st.sampled_from([str(number), "same"])),
                ability=draw(st.sampled_from(["search", "time"])),
                scenario=draw(st.sampled_from([None, "a", "b", f"own{number}"])),
                wording=f"{wording} {number}" if wording and draw(st.booleans()) else wording,
            )
        )
    return found


def sides(tasks: list[SplitTask], fold: Fold) -> tuple[list[SplitTask], list[SplitTask]]:
    return [t for t in tasks if t.key in fold.reference], [t for t in tasks if t.key in fold.held_out]


def marks(task: SplitTask, by: str) -> set[object]:
    found: set[object] = {("id", task.id)}
    if task.wording:
        found.add(("wording", fold_wording(task.wording)))
    if by == "scenario" and task.scenario:
        found.add(("scenario", task.scenario))
    if by == "template" and task.wording:
        found.add(("template", template_of(task.wording)))
    return found


def possible(tasks: list[SplitTask], rules: Rules, seed: int) -> tuple[Fold, ...] | None:
    try:
        return divide(tasks, rules, seed)
    except UsageError:
        return None


@given(some_tasks(), GROUPINGS, st.integers(0, 5), st.sampled_from([None, 2, 3]))
def test_no_task_scenario_or_wording_is_on_both_sides_and_none_is_lost(tasks, by, seed, folds):
    found = possible(tasks, Rules(by=by, folds=folds), seed)
    for fold in found or ():
        reference, held_out = sides(tasks, fold)
        assert len(reference) + len(held_out) == len(tasks)
        assert not set(fold.reference) & set(fold.held_out)
        taught = set().union(*(marks(task, by) for task in reference))
        assert not any(marks(task, by) & taught for task in held_out)
    if found and folds:
        assert sorted(key for fold in found for key in fold.held_out) == sorted(task.key for task in tasks)


@given(some_tasks(), GROUPINGS, st.integers(0, 5), st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(tasks, by, seed, rng: Random):
    shuffled = rng.sample(tasks, len(tasks))
    assert possible(tasks, Rules(by=by), seed) == possible(shuffled, Rules(by=by), seed)


@given(some_tasks(), GROUPINGS, st.integers(0, 5), st.integers(1, 6), st.integers(1, 6))
def test_counts_are_kept_exactly_for_every_ability_or_refused(tasks, by, seed, reference, held_out):
    found = possible(tasks, Rules(by=by, reference=reference, held_out=held_out), seed)
    if found is None:
        return
    taught, tested = sides(tasks, found[0])
    abilities = {task.ability for task in tasks}
    assert Counter(task.ability for task in taught) == dict.fromkeys(abilities, reference)
    assert Counter(task.ability for task in tested) == dict.fromkeys(abilities, held_out)
    assert not set().union(*(marks(t, by) for t in taught)) & set().union(*(marks(t, by) for t in tested))


def plain(count: int, ability: str = "search") -> list[SplitTask]:
    return [
        SplitTask(f"{ability}/{n}", "env", f"{ability}{n}", ability, f"s{n}", f"do {ability} no {n}")
        for n in range(count)
    ]


def test_forty_and_forty_of_each_ability_as_in_the_paper():
    tasks = [task for ability in ("execution", "search", "time") for task in plain(100, ability)]
    (fold,) = divide(tasks, Rules(reference=40, held_out=40), 20260610)
    taught, tested = sides(tasks, fold)
    assert set(Counter(task.ability for task in taught).values()) == {40}
    assert set(Counter(task.ability for task in tested).values()) == {40}


def test_another_seed_gives_another_split():
    assert divide(plain(40), Rules(), 1) != divide(plain(40), Rules(), 2)


def test_only_one_count_leaves_the_rest_to_the_other_side():
    (fold,) = divide(plain(30), Rules(held_out=10), 0)
    assert (len(fold.reference), len(fold.held_out)) == (20, 10)


def test_sides_can_be_given_by_name_and_pattern():
    tasks = plain(3, "desk") + plain(3, "trip")
    (fold,) = divide(tasks, Rules(by="task", held_out_tasks=("trip*", "desk0")), 0)
    assert fold.held_out == ("desk/0", "trip/0", "trip/1", "trip/2")
    assert fold.reference == ("desk/1", "desk/2")


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        pytest.param(Rules(reference=40, held_out=40), "There are, by ability: search 6;", id="too-many"),
        pytest.param(Rules(abilities=("tme",)), "no task is of tme. There are: search", id="unknown-ability"),
        pytest.param(Rules(held_out_tasks=("serch1",)), "no task is called serch1", id="unknown-task"),
        pytest.param(Rules(held_out_tasks=("*",)), "no reference task is left", id="empty-side"),
        pytest.param(Rules(folds=9), "9 folds need as many groups of tasks; there are 6", id="folds"),
        pytest.param(
            Rules(held_out_tasks=("search1",), reference_tasks=("*",)), "on both sides: search1", id="both-sides"
        ),
    ],
)
def test_a_split_that_cannot_be_made_says_why(rules, complaint):
    with pytest.raises(UsageError, match=complaint):
        divide(plain(6), rules, 0)


def test_an_experiment_without_tasks_is_refused():
    with pytest.raises(UsageError, match="no tasks to divide"):
        divide([], Rules(), 0)
