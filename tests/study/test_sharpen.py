"""How many conditions fit by luck, in two counts checked by hand; which condition is suggested first."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import pytest
from tests.made_runs import call, run

from contramem.guards.guard import parse_guard
from contramem.study.replays import replay_guard
from contramem.study.run_set import RunSet
from contramem.study.sharpen import find_splits, share_at_least, share_in_front
from contramem.traces.trajectory import Trajectory


def test_the_share_of_blind_draws_that_are_as_good() -> None:
    # 5 tasks, 2 of them wrong and 3 right: of the 10 ways to draw 3, one takes all right ones and no wrong one.
    share = share_at_least(tasks=5, chosen=3, wrong=2, most_wrong=0, right=3, least_right=3)
    assert share == pytest.approx(1 / 10)
    # One of the 2 wrong ones may be among 3 of 6 tasks, with at least one of the 2 right ones; 2 are neither.
    drawn = [(bad, good) for bad in (0, 1) for good in (1, 2) if 3 - bad - good <= 2]
    ways = sum(comb(2, bad) * comb(2, good) * comb(2, 3 - bad - good) for bad, good in drawn)
    share = share_at_least(tasks=6, chosen=3, wrong=2, most_wrong=1, right=2, least_right=1)
    assert share == pytest.approx(ways / comb(6, 3))


def test_the_share_of_rows_in_which_a_threshold_can_be_drawn() -> None:
    # 2 right, 1 wrong: in 1 of 3 rows the wrong one comes last, in 2 of 3 at least one right one comes before it.
    assert share_in_front(1, 2, 2) == pytest.approx(1 / 3)
    assert share_in_front(1, 2, 1) == pytest.approx(2 / 3)


def passes() -> Iterator[Trajectory]:
    """A pass of more than five days is paid for before it is issued. Who takes a long one has few lessons booked."""
    for number, (days, lessons) in enumerate([(3, 6), (5, 4), (4, 5), (6, 1), (7, 2), (8, 1)]):
        look = call("School.list_lessons", {"pupil": f"P-{number}"}, [{"hours": lessons}])
        pay = call("School.charge", {"pupil": f"P-{number}"})
        issue = call("School.issue_pass", {"pupil": f"P-{number}", "days": days})
        is_long = days > 5
        for source, pays in (("a", is_long), ("b", is_long), ("c", is_long), ("d", days not in (7, 8))):
            passed = pays == is_long
            steps = [look, *([pay] if pays else []), issue, "Done."]
            yield run(source, passed, *steps, task=f"Issue a pass to pupil {number}.", task_id=f"p{number}")


def test_a_condition_on_what_the_guard_is_about_is_suggested_before_one_that_happens_to_fit() -> None:
    run_set = RunSet.of(passes())
    guard = parse_guard("precedence(School.charge, School.issue_pass)")
    runs = run_set.select()
    first, *_ = find_splits(guard, runs, replay_guard(guard, runs), run_set)
    assert str(first.guard) == "precedence(School.charge, School.issue_pass) when School.issue_pass[days > 5]"
