"""The author by rules: what it writes no card about, and that it never pays."""

from __future__ import annotations

from tests.build.skill_builds import refusing
from tests.guard_builds import task
from tests.made_runs import call

from contramem.build.author import AuthorCost
from contramem.build.rules.author import RuleAuthor
from contramem.contrast.observation import by_function

UNKNOWN = call("Mail.erase", {"id": 3}, "", error="unknown tool")


def test_a_function_that_never_worked_and_nobody_documents_gets_no_card() -> None:
    observed = by_function([task("one", (False, (UNKNOWN,)), (False, (UNKNOWN,)))])["Mail.erase"]
    assert RuleAuthor().build_function("Mail.erase", observed, None) is None


def test_a_function_that_was_refused_and_then_worked_gets_a_card_that_says_so() -> None:
    observed = by_function([refusing("push_tag", 1), refusing("push_tag", 2)])["Pipeline.push_tag"]
    card = RuleAuthor().build_function("Pipeline.push_tag", observed, None)
    assert card is not None
    assert [argument.name for argument in card.arguments] == ["tag"]
    assert any("unlock_branch" in text for text in (*card.usage_rules, *card.common_mistakes))


def test_the_same_packet_always_gives_the_same_candidates_and_costs_nothing() -> None:
    author = RuleAuthor()
    first = author.reflect(refusing("push_tag", 1))
    assert first
    assert author.reflect(refusing("push_tag", 1)) == first
    assert author.spent() == AuthorCost()
