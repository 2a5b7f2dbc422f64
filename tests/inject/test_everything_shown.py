"""While they fit into the budget, an agent is shown all skills that it can use; above it, those that it may need."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from contramem.bank.bank import Bank, BankEntry, CardSupport, Grade
from contramem.bank.card import Skill, SkillCard
from contramem.bank.frozen import freeze, parse_frozen
from contramem.counting import count_tokens
from contramem.inject.guidance import sentence_of
from contramem.inject.run import Memory
from contramem.retrieve.profiles import PROFILES
from contramem.traces.trajectory import digest

REQUEST = "Someone ought to drop by and take a look; please arrange that."
DEFAULT = PROFILES["default"]


def card(
    name: str,
    rule: str,
    *guards: str,
    functions: tuple[str, ...] = ("shop.pay",),
    when: str = "A bill is to be paid.",
    title: str = "",
) -> SkillCard:
    return SkillCard(
        title=title or f"Bills: {name}",
        applies_when=when,
        solves="Bills that go wrong.",
        skill=Skill(core_rule=rule, completion=("the rule is kept",)),
        functions_used=functions,
        guards=guards,
        card_id=f"skill::{name}",
        ability="bills",
    )


CAPPED = card("cap", "Pay at most 40 at once.", "absence(shop.pay[amount > 40]) when shop.pay")


def memory_of(*cards: SkillCard, grades: dict[str, Grade] | None = None) -> Memory:
    grades = grades or {}
    entries = {
        card.card_id: BankEntry(card=card, support=CardSupport(grade=grades.get(card.card_id))) for card in cards
    }
    return Memory(parse_frozen(freeze(Bank(entries)), "bank"))


def test_a_sentence_has_the_condition_and_the_whole_rule() -> None:
    rule = "Look at the bill, then at the account, and pay what both show; never pay twice, ask the customer instead."
    sentence = sentence_of(card("a", rule, title="Bills: look …", when="A bill is to be paid by somebody else."))
    assert sentence == f"When: A bill is to be paid by somebody else. Rule: {rule}"


@pytest.mark.parametrize(
    ("when", "rule"),
    [
        ("You are about to call `pay` with `unit`.", "Call `pay` with `unit` set to cents."),
        ("You are about to call `pay`, and you call `ship`.", "Call `hold` before calling `pay` if `ship` is called."),
    ],
)
def test_a_condition_that_the_rule_repeats_is_not_said_twice(when: str, rule: str) -> None:
    assert sentence_of(card("a", rule, when=when)) == rule


def test_everything_is_shown_guard_or_no_guard_graded_or_not() -> None:
    cards = (
        CAPPED,
        card("b", "Pay on Fridays."),
        card("c", "Wrap it.", 'existence(shop.wrap) when task contains "gift"'),
    )
    guidance = memory_of(*cards, grades={"skill::cap": "observed"}).start(REQUEST).guidance
    assert set(guidance.listed) == {"skill::cap", "skill::b", "skill::c"}
    assert guidance.text.endswith(
        "`pay`:\n- When: A bill is to be paid. Rule: Pay at most 40 at once.\n"
        "- When: A bill is to be paid. Rule: Pay on Fridays.\n- When: A bill is to be paid. Rule: Wrap it."
    )
    assert guidance.card_ids == guidance.listed and not guidance.whole_card_ids
    assert guidance.tokens == count_tokens(guidance.text)


def test_those_that_fit_the_request_come_first_and_in_full() -> None:
    other = card("b", "Ship it by train.", functions=("shop.ship",), when="Goods leave.")
    guidance = memory_of(CAPPED, other).start("Pay the bills, at most 40 at once").guidance
    assert guidance.whole_card_ids == {"skill::cap"} and guidance.listed == ("skill::b",)
    assert guidance.text.index("### Bills: cap") < guidance.text.index("Ship it by train.")


def test_rules_are_grouped_by_the_function_that_they_change_something_with() -> None:
    functions = (("shop.find", "shop.ship"), ("shop.pay",), ("shop.ship",))
    cards = [card(f"c{number}", "Do it.", functions=used) for number, used in enumerate(functions)]
    guidance = memory_of(*cards).start(REQUEST).guidance
    assert guidance.listed == ("skill::c1", "skill::c0", "skill::c2")
    assert guidance.text.count("`ship`:") == guidance.text.count("`pay`:") == 1


@pytest.mark.parametrize("profile", ["gaia2", "time", "appworld"])
def test_the_profiles_of_the_paper_show_what_the_request_finds(profile: str) -> None:
    assert not memory_of(CAPPED).start(REQUEST, profile=profile).guidance


def test_an_agent_is_shown_only_rules_about_functions_that_it_has() -> None:
    memory = memory_of(CAPPED, card("b", "Keep to it.", "absence(shop.ship) when shop.ship", functions=("shop.ship",)))
    assert memory.start(REQUEST, tools=["mcp__shop__pay"]).guidance.listed == ("skill::cap",)
    assert not memory.start("Keep to the bill and ship it", tools=["other"]).guidance
    assert len(memory.start(REQUEST).guidance.listed) == 2, "all, where the tools are unknown"


def many(count: int) -> list[SkillCard]:
    """Cards about as many functions and things, more than a budget holds."""
    return [
        card(
            f"n{number:03}",
            f"Take the thing of kind q{number} and give it the mark z{number} before it leaves the house.",
            functions=(f"shop.do_{number}",),
            when=f"A q{number} is to be handled.",
        )
        for number in range(count)
    ]


def test_above_the_budget_come_those_that_the_request_is_about_within_the_budget() -> None:
    memory = memory_of(*many(300))
    guidance = memory.start("Handle the q7 and the q8 and also the q123 and the q200 and the q250.").guidance
    assert {f"skill::n{number:03}" for number in (7, 8, 123, 200, 250)} <= set(guidance.card_ids)
    assert 500 < guidance.tokens <= DEFAULT.budget_tokens
    assert guidance.tokens == count_tokens(guidance.text)


def test_above_the_budget_a_card_comes_with_others_about_the_function_that_the_request_may_lead_to() -> None:
    silent = card("silent", "Write it in cents.", functions=("shop.do_7",), when="Always.")
    guidance = memory_of(silent, *many(300)).start("Handle the q7.").guidance
    assert "skill::silent" in guidance.card_ids


def test_no_rule_is_shown_for_the_task_that_taught_it() -> None:
    support = CardSupport(taught_by=(digest("t1"),))
    memory = Memory(parse_frozen(freeze(Bank({CAPPED.card_id: BankEntry(card=CAPPED, support=support)})), "bank"))
    assert not memory.start(REQUEST, task_id="t1").guidance
    assert memory.start(REQUEST, task_id="t2").guidance


def test_a_later_request_brings_a_listed_card_in_full_and_nothing_else_twice() -> None:
    other = card("b", "Keep to it.", functions=("shop.ship",), when="Goods leave.")
    run = memory_of(CAPPED, other).start(REQUEST)
    assert len(run.guidance.listed) == 2
    assert not run.more("And now something else entirely")
    more = run.more("Pay the bills, at most 40 at once")
    assert more.whole_card_ids == {"skill::cap"} and not more.listed


def test_a_later_request_brings_what_the_first_had_no_room_for() -> None:
    run = memory_of(*many(300)).start("Handle the q7.")
    assert "skill::n123" not in run.guidance.card_ids
    more = run.more("Handle the q123.")
    assert "skill::n123" in more.card_ids and "skill::n007" not in more.listed


def test_the_inject_log_counts_listed_cards_as_shown(tmp_path: Path) -> None:
    memory = memory_of(CAPPED)
    logged = Memory(memory.bank, log=tmp_path / "inject.jsonl")
    run = logged.start(REQUEST)
    run.finish(True)
    [start, _] = [json.loads(line) for line in (tmp_path / "inject.jsonl").read_text().splitlines()]
    assert start["cards"] == {"skill::cap": count_tokens(f"- {sentence_of(CAPPED)}\n")}


@pytest.mark.parametrize("budget", [0, 100, 150, 200, 300, 1000])
@pytest.mark.parametrize("request_", [REQUEST, "Handle the q7 and pay the bill."])
def test_the_budget_is_kept(budget: int, request_: str) -> None:
    guidance = memory_of(CAPPED, *many(20)).start(request_, profile=replace(DEFAULT, budget_tokens=budget)).guidance
    assert guidance.tokens <= budget
    assert len(guidance.card_ids) == len(set(guidance.card_ids))
