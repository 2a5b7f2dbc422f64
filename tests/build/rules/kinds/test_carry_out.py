"""Carry out: a change that the request asks for is made, not announced."""

from __future__ import annotations

from dataclasses import replace

from tests.made_runs import call, run

from contramem.build.rules.kinds.carry_out import CarryOut
from contramem.build.rules.rule import MAX_CALLS, load_rule
from contramem.study.recorded_actions import RecordedActions

SENT = call("Mail.send", {"to": "ann@x.org"})


def rule(verb: str, runs: int = 4) -> CarryOut:
    guard = f"existence(Mail.{verb}) when task contains {verb}"
    return CarryOut(functions=(f"Mail.{verb}",), deeds=(guard,), left_out=(runs,), gets_replies=False)


def replay(task: str, *steps: object) -> str:
    (guard,) = rule("send").guards
    return RecordedActions(run("a", True, *steps, task=task)).replay(guard)  # type: ignore[arg-type]


def test_a_request_that_asks_for_the_change_is_kept_by_making_it_and_broken_by_announcing_it() -> None:
    assert replay("Please send it to Ann.", SENT, "Sent.") == "holds"
    assert replay("Please send it to Ann.", "I will send it to Ann.") == "broken"


def test_a_request_without_the_word_is_not_affected() -> None:
    assert replay("Who is Ann?", "A customer.") == "vacuous"


def test_two_changes_become_one_card_that_counts_each() -> None:
    joined = rule("send", 4).join(rule("move", 5))
    assert joined is not None
    assert joined.functions == ("Mail.send", "Mail.move")
    assert joined.left_out == (4, 5)
    words = joined.words()
    assert words.title == "Make the change before you answer: send and move"
    assert "the request says “send” or “move”" in words.applies_when
    assert "4 where the request says “send” and 5 where the request says “move”" in words.success_failure_contrast
    assert len(words.completion) == 2


def test_a_change_that_the_card_already_has_is_not_joined() -> None:
    assert rule("send").join(rule("send")) is None


def test_a_full_card_takes_no_further_change() -> None:
    card = rule("send")
    for verb in [f"verb{number}" for number in range(1, MAX_CALLS)]:
        joined = card.join(rule(verb))
        assert joined is not None
        card = joined
    assert card.join(rule("archive")) is None


def test_a_card_names_only_functions_that_its_task_shows() -> None:
    assert rule("send").name_only(["Mail.search"]).functions == ()
    assert "(`send`)" not in rule("send").name_only(["Mail.search"]).words().core_rule


def test_a_change_that_every_request_asks_for_needs_no_words() -> None:
    every = CarryOut(functions=(), deeds=("existence(writes(Mail))",), left_out=(7,), gets_replies=False)
    joined = every.join(rule("send"))
    assert joined is not None
    words = joined.words()
    assert "the request asks for a change" in words.applies_when
    assert words.completion[0] == "a call that changes Mail has succeeded"
    assert "7 changed nothing and 4 where the request says “send”" in words.success_failure_contrast


def test_agents_are_told_not_to_ask_where_nobody_replies() -> None:
    assert "nobody replies" in rule("send").words().core_rule
    assert "nobody replies" not in replace(rule("send"), gets_replies=True).words().core_rule


def test_the_rule_survives_the_store() -> None:
    assert load_rule(rule("send").store()) == rule("send")
