"""The exact probability that runs which broke a guard fail at least this often by chance."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.chance import OutcomeTable, chance, least_chance


@st.composite
def table(draw: st.DrawFn, most: int) -> OutcomeTable:
    """Any table with up to `most` passing and up to `most` failing runs."""
    passing, failing = draw(st.integers(1, most)), draw(st.integers(1, most))
    broken = draw(st.integers(1, passing + failing))
    failed = draw(st.integers(max(0, broken - passing), min(broken, failing)))
    return OutcomeTable(passing - (broken - failed), failing - failed, broken - failed, failed)


def test_chance_of_two_passing_and_two_failing_runs_of_one_task_by_hand() -> None:
    # Of the 6 ways to deal two failures to four runs, one gives both to the two that broke it.
    assert chance([OutcomeTable(kept_passed=2, broke_failed=2)]) == pytest.approx(1 / 6)


def test_chances_of_tasks_with_the_same_clear_result_multiply() -> None:
    pair = OutcomeTable(kept_passed=1, broke_failed=1)
    assert chance([pair] * 5) == pytest.approx(1 / 32)


def test_the_least_chance_is_that_of_the_clearest_result_of_as_many_runs() -> None:
    mixed = OutcomeTable(kept_passed=1, kept_failed=1, broke_passed=1, broke_failed=1)
    assert least_chance([mixed]) == pytest.approx(1 / 6)
    assert least_chance([OutcomeTable(kept_passed=4, kept_failed=4)]) == 1.0


@given(st.lists(table(most=3), min_size=1, max_size=3))
def test_no_result_is_less_likely_than_the_least_chance(tables: list[OutcomeTable]) -> None:
    assert least_chance(tables) <= chance(tables) + 1e-12


@given(st.lists(table(most=3), min_size=1, max_size=2))
def test_chance_is_the_share_of_all_assignments_of_the_failures(tables: list[OutcomeTable]) -> None:
    # Runs are numbered so that those that broke the guard come first.
    assignments = [list(combinations(range(task.passed + task.failed), task.failed)) for task in tables]
    observed = sum(task.broke_failed for task in tables)
    ways = list(product(*assignments))
    as_many = sum(
        sum(run < task.broke for task, failures in zip(tables, way, strict=True) for run in failures) >= observed
        for way in ways
    )
    assert chance(tables) == pytest.approx(as_many / len(ways))


@pytest.mark.slow  # importing scipy takes longer than the fast suite has for it
@given(table(most=8))
def test_chance_of_one_task_is_the_hypergeometric_tail(outcomes: OutcomeTable) -> None:
    stats = pytest.importorskip("scipy.stats")
    distribution = stats.hypergeom(outcomes.passed + outcomes.failed, outcomes.failed, outcomes.broke)
    assert chance([outcomes]) == pytest.approx(distribution.sf(outcomes.broke_failed - 1))


def test_a_task_in_which_every_run_kept_the_guard_carries_no_information() -> None:
    assert chance([OutcomeTable(kept_passed=3, kept_failed=3)]) == 1.0
