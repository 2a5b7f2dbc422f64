"""The words with which passing runs make a call that a guard demands."""

from __future__ import annotations

from tests.made_runs import call, run

from contramem.guards.guard import parse_guard
from contramem.study.demanded_words import name_words
from contramem.study.run_set import RunSet


def incidents(task: str = "Deal with incident {}.") -> RunSet:
    """Serious incidents are handed over to the patrol, with a note of the agent's own."""
    return RunSet.of(
        run(
            source,
            True,
            call("Desk.plan", {"incident": f"N-{number}"}),
            call("Desk.hand_over", {"desk": "ski-patrol", "note": f"note {source}{number}"}),
            "Done.",
            task=task.format(number),
            task_id=f"t{number}",
        )
        for number in range(3)
        for source in "ab"
    )


def test_a_demanded_call_gets_the_word_that_passing_runs_share() -> None:
    guard = parse_guard("response(Desk.plan, Desk.hand_over)")
    assert name_words(guard, incidents().runs) == parse_guard("response(Desk.plan, Desk.hand_over[desk = ski-patrol])")


def test_a_word_of_the_request_is_not_named() -> None:
    guard = parse_guard("existence(Desk.hand_over)")
    assert name_words(guard, incidents("Give {} to the ski-patrol.").runs) == guard


def test_a_guard_that_forbids_a_call_or_says_how_it_is_made_stays_as_it_is() -> None:
    for text in ("absence(Desk.hand_over)", "existence(Desk.hand_over[note given])"):
        assert name_words(parse_guard(text), incidents().runs) == parse_guard(text)
