"""The calls of one function, sorted out."""

from __future__ import annotations

from tests.observed_calls import call, failed

from contramem.build.functions.calls import Calls, Retry, by_form, fail_more, is_more, leaves_out, runs_of, tasks


def test_the_order_in_which_calls_are_given_makes_no_difference() -> None:
    observations = [call({"email_id": f"<ID_{n}>"}, run=run, position=n) for run in "BA" for n in (2, 0, 1)]
    assert Calls("Mail.delete_email", observations).all == Calls("Mail.delete_email", observations[::-1]).all


def test_calls_without_a_known_result_count_only_where_no_call_has_one() -> None:
    unseen, seen = call(run="A", form=None), call(run="B")
    assert Calls("Mail.delete_email", [unseen, seen]).all == [seen]
    assert Calls("Mail.delete_email", [unseen]).worked == [unseen]


def test_a_retry_knows_which_arguments_were_given_differently() -> None:
    first = failed("no", {"query": "a", "folder": "x"})
    assert Retry(first, call({"query": "b", "folder": "x"}, position=1)).changed == {"query"}
    assert Retry(first, call({"query": "a"}, position=1)).changed == {"folder"}


def test_an_argument_that_is_null_is_left_out() -> None:
    assert leaves_out(call({"cc": None}), "cc")
    assert leaves_out(call({}), "cc")
    assert not leaves_out(call({"cc": "x"}), "cc")


def test_a_group_fails_more_only_where_chance_does_not_explain_it() -> None:
    good = [call(run=f"g{n}") for n in range(20)]
    bad = [failed("no", run=f"b{n}") for n in range(4)]
    assert fail_more(bad, good)
    assert not fail_more(bad[:1], good)
    assert not fail_more(good, bad)


def test_a_share_is_more_only_when_it_is_twice_the_other_and_no_accident() -> None:
    assert is_more(9, 10, 1, 10)
    assert not is_more(6, 10, 4, 10)
    assert not is_more(1, 1, 0, 1)


def test_tasks_and_runs_are_counted_once() -> None:
    observations = [call(task="t1", run="A"), call(task="t1", run="A", position=1), call(task="t2", run="A")]
    assert (tasks(observations), runs_of(observations)) == (2, 2)


def test_calls_are_grouped_by_the_form_of_an_argument() -> None:
    text, number = call({"day": "monday"}), call({"day": 3}, run="B")
    assert by_form([text, number], "day") == {"text": [text], "integer": [number]}
