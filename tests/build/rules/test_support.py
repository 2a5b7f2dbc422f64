"""How the runs of an ability fared under a rule."""

from __future__ import annotations

import pytest
from tests.made_runs import call, packet, run

from contramem.build.rules.support import (
    FollowRecord,
    can_be_broken,
    follow_record,
    replays,
    speaks_about,
    support_from,
)
from contramem.guards.guard import parse_guard

SEARCH, DELETE = call("Mail.search", {"query": "news"}, [{"id": "m-17"}]), call("Mail.delete", {"id": "m-17"})
FIRST = parse_guard("precedence(Mail.search, Mail.delete)")
STORY = packet(run("a", True, SEARCH, DELETE, "Done."), run("b", False, DELETE, "Done."))
ELSEWHERE = packet(run("a", True, call("Chat.send", {"text": "hi"}), "Done.", task_id="t2"))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (FollowRecord(3, 13, 12, 5, 0), "12 of 13 runs that followed it passed; of the 5 that didn't, none did"),
        (FollowRecord(1, 1, 1, 1, 0), "1 of 1 run that followed it passed; the one that didn't failed"),
        (FollowRecord(1, 2, 1, 1, 1), "1 of 2 runs that followed it passed; the one that didn't passed too"),
    ],
)
def test_a_record_is_put_into_words(record: FollowRecord, words: str) -> None:
    assert str(record) == words


def test_a_record_speaks_against_a_rule_only_with_enough_runs_of_both_sorts() -> None:
    assert FollowRecord(2, 5, 2, 5, 2).speaks_against_it
    assert not FollowRecord(2, 4, 0, 5, 5).speaks_against_it
    assert not FollowRecord(2, 5, 5, 5, 1).speaks_against_it


def test_a_rule_that_hardly_anybody_passes_without_is_not_done_without() -> None:
    assert FollowRecord(5, 40, 20, 30, 10).is_done_without
    assert not FollowRecord(5, 34, 25, 138, 13).is_done_without  # 13 of 138 passed without it, 25 of 34 with it


def test_a_rule_makes_a_difference_when_runs_that_follow_it_pass_clearly_more_often() -> None:
    assert FollowRecord(2, 10, 9, 10, 5).makes_a_difference
    assert not FollowRecord(2, 10, 6, 10, 5).makes_a_difference
    assert FollowRecord(2, 10, 1, 10, 5).passes_more_without


def test_runs_are_counted_in_tasks_that_the_rule_is_about() -> None:
    assert follow_record([FIRST], [STORY, ELSEWHERE]) == FollowRecord(1, 1, 1, 1, 0)
    assert can_be_broken(FIRST, STORY)
    assert not can_be_broken(FIRST, ELSEWHERE)


def test_a_guard_that_asks_for_a_call_says_nothing_where_passing_runs_do_without_it() -> None:
    assert speaks_about(parse_guard("existence(Mail.search)"), STORY)
    assert not speaks_about(parse_guard("existence(Mail.search)"), ELSEWHERE)
    assert speaks_about(parse_guard("absence(Mail.forward)"), STORY)


def test_replays_become_the_support_of_a_card() -> None:
    support = support_from(replays([FIRST], [STORY, ELSEWHERE]))
    assert support.tasks == (STORY.task_key,)
    assert support.contradicted_by == ()
    counts = support.guard_counts[str(FIRST)]
    assert (counts.held, counts.broken, counts.contradicted) == (1, 1, 0)


def test_a_call_that_a_condition_demands_counts_in_tasks_in_which_nobody_makes_it() -> None:
    """As `try` counts it: whoever reads the guard there is told to make the call."""
    business = call("Desk.find", {"name": "Elm"}, {"kind": "business"})
    guard = parse_guard("existence(Desk.look_up) when Desk.find.kind = business")
    fees = packet(run("a", True, business, call("Desk.look_up"), "Done."), run("b", False, business, "Done."))
    refund = packet(run("a", True, business, "Done.", task_id="t2"), run("b", False, business, "Done.", task_id="t2"))
    assert follow_record([guard], [fees, refund]) == FollowRecord(2, 1, 1, 3, 1)
    assert follow_record([guard], [fees, ELSEWHERE]) == FollowRecord(1, 1, 1, 1, 0)
