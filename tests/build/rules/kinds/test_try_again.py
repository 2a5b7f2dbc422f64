"""Try again: a call that found nothing is made again with another value."""

from __future__ import annotations

from tests.made_runs import call, run

from contramem.build.rules.kinds.look_first import LookFirst
from contramem.build.rules.kinds.try_again import TryAgain
from contramem.build.rules.rule import MAX_CALLS, load_rule
from contramem.study.recorded_actions import RecordedActions

MISS = call("Mail.search", {"query": "the person"}, error="No contact found")
HIT = call("Mail.search", {"query": "person"}, {"address": "p@x.org"})


def rule(function: str = "Mail.search", change: str = "query", runs: int = 4) -> TryAgain:
    return TryAgain(functions=(function,), change=change, gave_up=(runs,))


def replay(*steps: object) -> str:
    (guard,) = rule().guards
    return RecordedActions(run("a", True, *steps)).replay(guard)  # type: ignore[arg-type]


def test_a_run_keeps_it_by_getting_past_the_miss_and_breaks_it_by_giving_up() -> None:
    assert replay(MISS, HIT, "Found.") == "holds"
    assert replay(MISS, "Nobody there.") == "broken"


def test_a_run_that_never_makes_the_call_is_not_affected() -> None:
    assert replay("Nobody there.") == "vacuous"


def test_functions_that_take_the_same_argument_share_a_card() -> None:
    joined = rule("Mail.search").join(rule("Mail.find", runs=5))
    assert joined is not None
    assert joined.functions == ("Mail.search", "Mail.find")
    assert "4 at `search` and 5 at `find`" in joined.words().success_failure_contrast


def test_another_argument_the_same_function_and_another_kind_stay_apart() -> None:
    assert rule().join(rule("Mail.list", change="day")) is None
    assert rule().join(rule()) is None
    assert (
        rule().join(LookFirst(functions=("Mail.search",), app="Mail", answered=3, asked=1, gets_replies=False)) is None
    )


def test_a_full_card_takes_no_further_function() -> None:
    card = TryAgain(functions=tuple(f"Mail.f{n}" for n in range(MAX_CALLS)), change="query", gave_up=(1,) * MAX_CALLS)
    assert card.join(rule()) is None


def test_the_rule_survives_the_store() -> None:
    assert load_rule(rule().store()) == rule()
