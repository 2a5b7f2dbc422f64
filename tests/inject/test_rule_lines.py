"""The list of rules at the start of a run: a line for each Skill Card that the words of the request did not find."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import Skill, SkillCard
from contramem.bank.frozen import freeze, parse_frozen
from contramem.bank.support import CardSupport, Grade
from contramem.counting import count_tokens
from contramem.inject.rule_lines import LINE_TOKENS, write_rule_line
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


LONG = "Look at the bill, then at the customer, then at the account, and weigh each against the others. " * 4
CAPPED = card("cap", "Pay at most 40 at once.", "absence(shop.pay[amount > 40]) when shop.pay")


def memory_of(*cards: SkillCard, grades: dict[str, Grade] | None = None) -> Memory:
    grades = grades or {}
    entries = {
        card.card_id: BankEntry(card=card, support=CardSupport(grade=grades.get(card.card_id))) for card in cards
    }
    return Memory(parse_frozen(freeze(Bank(entries)), "bank"))


@pytest.mark.parametrize(
    ("guards", "line"),
    [
        pytest.param(
            ("absence(shop.pay) when shop.find.tier = A",),
            "- When `find` shows a `tier` of A: keep to the rule.",
            id="forbids a call under a condition",
        ),
        pytest.param(
            ("existence(shop.note) when shop.find.tier = A",),
            "- When `find` shows a `tier` of A: keep to the rule.",
            id="demands a call that nobody may think of",
        ),
        pytest.param(
            ("existence(shop.pay[unit = cents]) when shop.pay",),
            "- `pay`: keep to the rule.",
            id="demands a way to make a call",
        ),
        pytest.param(
            ("precedence(shop.hold, shop.pay[amount > 500])",),
            "- When you call `pay` with `amount` above 500: keep to the rule.",
            id="demands another call first",
        ),
        pytest.param(
            ("response(shop.pay, shop.note) when shop.pay[amount > 500]",),
            "- When you call `pay` with `amount` above 500: keep to the rule.",
            id="demands another call afterwards",
        ),
        pytest.param(
            ("precedence(shop.hold, shop.pay)", "response(shop.pay, shop.note)"),
            "- `pay`: keep to the rule.",
            id="two guards about one call",
        ),
        pytest.param(
            ("precedence(shop.hold, shop.pay)", "response(shop.ship, shop.note)"),
            "- `pay`, `ship`: keep to the rule.",
            id="two guards about two calls",
        ),
        pytest.param(
            ("existence(shop.pay[unit = cents]) when shop.pay and shop.ship",),
            "- When you call `pay` and `ship`: keep to the rule.",
            id="two calls together",
        ),
        pytest.param(
            ("precedence(shop.hold, shop.pay) unless shop.find.tier = A",),
            "- When you call `pay`, unless `find` shows a `tier` of A: keep to the rule.",
            id="has an exception",
        ),
    ],
)
def test_a_line_starts_with_the_call_or_the_condition_of_its_guard(guards: tuple[str, ...], line: str) -> None:
    assert write_rule_line(card("a", "Keep to the rule.", *guards)) == line


def test_a_long_rule_is_told_by_its_guards_with_their_values_and_its_title() -> None:
    guards = "response(shop.pay, shop.refer[desk = treasurer]) when shop.pay[amount > 200]"
    line = write_rule_line(card("a", LONG, guards, title="Large sums are referred"))
    assert line == (
        "- When you call `pay` with `amount` above 200: afterwards call `refer` with `desk` set to treasurer. "
        "(Large sums are referred)"
    )


def test_a_rule_that_no_line_can_hold_is_told_by_its_title() -> None:
    guards = [f"absence(shop.pay[reason = word{number}]) when shop.find.tier = A" for number in range(9)]
    line = write_rule_line(card("a", LONG, *guards, title="Some reasons are refused"))
    assert line == "- `pay`: some reasons are refused"
    assert count_tokens(line) <= LINE_TOKENS


def test_a_card_without_guards_that_was_checked_on_the_runs_is_told_by_its_title() -> None:
    cards = (card("a", LONG), card("b", LONG), card("c", LONG, functions=()))
    memory = memory_of(*cards, grades={"skill::a": "observed", "skill::c": "observed"})
    assert "- `pay`: bills: a" in memory.start(REQUEST).guidance.text.splitlines()
    assert "bills: b" not in memory.start(REQUEST).guidance.text
    assert "bills: c" not in memory.start(REQUEST).guidance.text


def test_a_card_without_guards_is_told_by_its_rule_if_a_line_can_hold_it() -> None:
    cards = (card("a", "Pay at most 40 at once."), card("b", "Pay on Fridays.", functions=("shop.find_bill",)))
    memory = memory_of(*cards, grades={"skill::a": "observed", "skill::b": "observed"})
    lines = memory.start(REQUEST).guidance.text.splitlines()
    assert "- `pay`: pay at most 40 at once." in lines
    assert "- Bills: b (Applies when: a bill is to be paid)" in lines


def test_a_card_that_names_no_call_that_changes_something_says_when_it_applies() -> None:
    cards = (card("a", LONG, functions=("shop.find_bill",), when="pay a bill, settle it"),)
    text = memory_of(*cards, grades={"skill::a": "observed"}).start(REQUEST).guidance.text
    assert "- Bills: a (Applies when: pay a bill, settle it)" in text.splitlines()


def test_a_list_without_room_for_every_rule_tells_the_last_ones_by_their_titles() -> None:
    rule = "Look at the bill and at the account of the customer, and pay what both of them show, in one payment."
    cards = [card(f"r{number}", rule, "absence(shop.pay[amount > 40])") for number in range(9)]
    lines = write_rule_line(cards[0]), "- `pay`: bills: r{number}"
    wide, narrow = (
        memory_of(*cards).start(REQUEST, profile=replace(DEFAULT, rule_list_tokens=size)).guidance
        for size in (700, 200)
    )
    assert wide.text.count(lines[0]) == 9
    assert len(narrow.listed) == 9
    assert [line == lines[0] for line in narrow.text.splitlines()[-9:]] == sorted(
        [line == lines[0] for line in narrow.text.splitlines()[-9:]], reverse=True
    )
    assert lines[1].format(number=8) in narrow.text and lines[0] in narrow.text


@pytest.mark.parametrize("guards", [("existence(shop.pay)",), ("precedence(reads(shop), finalize)",)])
def test_a_card_for_every_run_of_certain_requests_has_no_line(guards: tuple[str, ...]) -> None:
    assert write_rule_line(card("a", "Keep to the rule.", *guards)) == ""


@pytest.mark.parametrize("rule", ["When the request says “gift”, wrap it.", "Wrap it."])
def test_a_rule_for_the_words_of_this_request_is_the_line(rule: str) -> None:
    assert write_rule_line(card("a", rule, 'existence(shop.wrap) when task contains "gift"')) == f"- {rule}"


@pytest.mark.parametrize(
    "rule", ["Keep to the rule.", "When `find` shows a `tier` of A, pay.", "Pay if `find` shows a `tier` of A."]
)
def test_the_condition_in_front_does_not_depend_on_the_words_of_the_rule(rule: str) -> None:
    line = write_rule_line(card("a", rule, "absence(shop.pay) when shop.find.tier = A"))
    assert line.startswith("- When `find` shows a `tier` of A: ")


@pytest.mark.parametrize(
    ("rule", "guard", "line"),
    [
        (
            "Call `pay` with `unit` set to cents.",
            "existence(shop.pay[unit = cents]) when shop.pay",
            "- `pay`: with `unit` set to cents.",
        ),
        (
            "Do not call `pay` if `find` shows a `tier` of A.",
            "absence(shop.pay) when shop.find.tier = A",
            "- When `find` shows a `tier` of A: do not call `pay`.",
        ),
        (
            "Do not call `pay` if `find` shows a `tier` of A. Look before you decide.",
            "absence(shop.pay) when shop.find.tier = A",
            "- When `find` shows a `tier` of A: do not call `pay`. Look before you decide.",
        ),
        (
            "Call `pay` with `unit` set to cents if `ship` is called.",
            "existence(shop.pay[unit = cents]) when shop.pay and shop.ship",
            "- When you call `pay` and `ship`: call `pay` with `unit` set to cents.",
        ),
        (
            "Call `pay` with `unit` set to cents, never euros.",
            "existence(shop.pay[unit = cents]) when shop.pay",
            "- `pay`: with `unit` set to cents, never euros.",
        ),
        (
            "Do not call `pay` with `unit` set to cents.",
            "absence(shop.pay[unit = cents])",
            "- `pay`: not with `unit` set to cents.",
        ),
        (
            "Call `hold` and confirm that it succeeded before calling `pay`.",
            "precedence(shop.hold, shop.pay)",
            "- `pay`: first call `hold` and confirm that it succeeded.",
        ),
        (
            "Do not call `pay` if `find` shows a `tier` of A; call `note` instead.",
            "absence(shop.pay) when shop.find.tier = A",
            "- When `find` shows a `tier` of A: do not call `pay`; call `note` instead.",
        ),
    ],
)
def test_what_a_rule_says_like_its_guard_is_not_told_twice(rule: str, guard: str, line: str) -> None:
    assert write_rule_line(card("a", rule, guard)) == line


def test_a_rule_about_requests_that_say_something_else_is_not_listed() -> None:
    memory = memory_of(CAPPED, card("b", "Wrap it.", 'existence(shop.wrap) when task contains "gift"'))
    assert memory.start(REQUEST).guidance.listed == ("skill::cap",)
    assert set(memory.start(f"{REQUEST} It is a gift.").guidance.listed) == {"skill::b", "skill::cap"}


def test_the_list_says_that_only_lines_apply_whose_condition_holds() -> None:
    guidance = memory_of(CAPPED).start(REQUEST).guidance
    assert 'A line that starts with "When" applies only if that is true in this run' in guidance.text
    assert guidance.text.endswith("- `pay`: pay at most 40 at once.")
    assert guidance.listed == guidance.card_ids == ("skill::cap",) and not guidance.whole_card_ids
    assert guidance.tokens == count_tokens(guidance.text)


def test_a_card_shown_in_full_is_not_listed() -> None:
    guidance = memory_of(CAPPED).start("Pay the bills, at most 40 at once").guidance
    assert "### Bills: cap" in guidance.text and not guidance.listed


@pytest.mark.parametrize("profile", ["gaia2", "time", "appworld", "small"])
def test_other_profiles_have_no_list(profile: str) -> None:
    assert not memory_of(CAPPED).start(REQUEST, profile=profile).guidance


def test_an_agent_is_listed_only_rules_about_functions_that_it_has() -> None:
    memory = memory_of(CAPPED, card("b", "Keep to it.", "absence(shop.ship) when shop.ship", functions=("shop.ship",)))
    assert memory.start(REQUEST, tools=["mcp__shop__pay"]).guidance.listed == ("skill::cap",)
    assert not memory.start(REQUEST, tools=["other"]).guidance
    assert len(memory.start(REQUEST).guidance.listed) == 2, "all, where the tools are unknown"


def test_the_list_has_a_budget_of_its_own_and_the_best_proven_rules_come_first() -> None:
    names = [f"r{number:02}" for number in range(90)]
    cards = [card(name, "Pay at most 40 at once.", f"absence(shop.{name}[amount > 40])") for name in names]
    memory = memory_of(*cards, grades={"skill::r50": "proven", "skill::r40": "observed"})
    guidance = memory.start(REQUEST).guidance
    assert guidance.listed[:2] == ("skill::r50", "skill::r40")
    assert 10 < len(guidance.listed) < 90
    assert DEFAULT.rule_list_tokens - 30 < guidance.tokens < DEFAULT.rule_list_tokens + 150, "and the policy"


def test_a_rule_that_shares_a_word_with_the_request_comes_before_a_better_proven_one() -> None:
    other = card("b", "Arrange a visit.", "absence(shop.visit[amount > 40]) when shop.visit")
    memory = memory_of(CAPPED, other, grades={"skill::cap": "proven"})
    assert memory.start(REQUEST).guidance.listed == ("skill::b", "skill::cap")


def test_rules_about_functions_that_the_request_may_need_come_first() -> None:
    mail, pay = ("send_mail", "pay_invoice")
    cards = [
        card(name, "Keep to it.", f"absence(shop.{name}[x > 1])", functions=(f"shop.{name}",)) for name in (mail, pay)
    ]
    memory = memory_of(*cards)
    assert memory.start("Put some cash onto their deposit").guidance.listed == (f"skill::{pay}", f"skill::{mail}")
    assert memory.start("Drop a letter to the office").guidance.listed == (f"skill::{mail}", f"skill::{pay}")


def test_no_rule_is_listed_for_the_task_that_taught_it_or_for_a_request_without_words() -> None:
    support = CardSupport(taught_by=(digest("t1"),))
    memory = Memory(parse_frozen(freeze(Bank({CAPPED.card_id: BankEntry(card=CAPPED, support=support)})), "bank"))
    assert not memory.start(REQUEST, task_id="t1").guidance
    assert memory.start(REQUEST, task_id="t2").guidance
    assert not memory.start("?!").guidance


def test_a_later_request_brings_a_listed_card_in_full_and_no_second_list() -> None:
    other = card("b", "Keep to it.", "absence(shop.ship) when shop.ship", functions=("shop.ship",))
    run = memory_of(CAPPED, other).start(REQUEST)
    assert len(run.guidance.listed) == 2
    assert not run.more("And now something else entirely")
    more = run.more("Pay the bills, at most 40 at once")
    assert "skill::cap" in more.whole_card_ids and not more.listed


def test_a_run_whose_first_request_has_no_words_gets_the_list_with_a_later_one() -> None:
    run = memory_of(CAPPED).start("?!")
    assert not run.guidance
    assert run.more(REQUEST).listed == ("skill::cap",)
    assert not run.more(REQUEST).listed, "once"


def test_the_inject_log_counts_listed_cards_as_shown(tmp_path: Path) -> None:
    memory = memory_of(CAPPED)
    logged = Memory(memory.bank, log=tmp_path / "inject.jsonl")
    run = logged.start(REQUEST)
    run.finish(True)
    [start, _] = [json.loads(line) for line in (tmp_path / "inject.jsonl").read_text().splitlines()]
    assert start["cards"] == {"skill::cap": count_tokens("- `pay`: pay at most 40 at once.\n")}


def test_the_size_of_the_list_is_a_setting_of_the_profile() -> None:
    memory = memory_of(CAPPED)
    assert not memory.start(REQUEST, profile=replace(DEFAULT, rule_list_tokens=0)).guidance
