"""The exact probability that runs which broke a guard fail so often, were outcomes dealt at random within tasks."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.chance import OutcomeTable, chance


@st.composite
def table(draw: st.DrawFn, most: int) -> OutcomeTable:
    """Any numbers of runs that can be: up to `most` that passed and up to `most` that failed."""
    passing, failing = draw(st.integers(1, most)), draw(st.integers(1, most))
    broken = draw(st.integers(1, passing + failing))
    failed = draw(st.integers(max(0, broken - passing), min(broken, failing)))
    return OutcomeTable(passing - (broken - failed), failing - failed, broken - failed, failed)


def test_two_against_two_in_one_task_by_hand() -> None:
    # Of the 6 ways to deal two failures to four runs, one gives both to the two that broke it.
    assert chance([OutcomeTable(kept_passed=2, broke_failed=2)]) == pytest.approx(1 / 6)


def test_tasks_multiply_when_each_shows_the_same_in_full() -> None:
    pair = OutcomeTable(kept_passed=1, broke_failed=1)
    assert chance([pair] * 5) == pytest.approx(1 / 32)


@given(st.lists(table(most=3), min_size=1, max_size=2))
def test_it_is_the_share_of_all_ways_to_deal_the_failures(seen: list[OutcomeTable]) -> None:
    # Runs are numbered so that those that broke the guard come first.
    dealt = [list(combinations(range(task.passed + task.failed), task.failed)) for task in seen]
    observed = sum(task.broke_failed for task in seen)
    ways = list(product(*dealt))
    as_many = sum(
        sum(run < task.broke for task, failures in zip(seen, way, strict=True) for run in failures) >= observed
        for way in ways
    )
    assert chance(seen) == pytest.approx(as_many / len(ways))


@pytest.mark.slow  # importing scipy takes longer than the fast suite has for it
@given(table(most=8))
def test_one_task_is_the_hypergeometric_tail(seen: OutcomeTable) -> None:
    stats = pytest.importorskip("scipy.stats")
    dealt = stats.hypergeom(seen.passed + seen.failed, seen.failed, seen.broke)
    assert chance([seen]) == pytest.approx(dealt.sf(seen.broke_failed - 1))


def test_a_task_in_which_every_run_kept_the_guard_tells_nothing() -> None:
    assert chance([OutcomeTable(kept_passed=3, kept_failed=3)]) == 1.0
