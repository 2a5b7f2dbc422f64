"""A Function Card that a Skill Card of its bank contradicts says what the Skill Card says, once it is served."""

from __future__ import annotations

import pytest

from contramem.bank.acts import edit, person
from contramem.bank.bank import ArgumentFacts, Bank, BankEntry, CardSupport
from contramem.bank.card import Argument, FunctionCard, Skill, SkillCard
from contramem.bank.frozen import freeze, parse_frozen
from contramem.bank.settlement import settle_functions

BOOK = "office.book"
RULE = "Take `day` exactly as earlier results show it."


def function_card(form: str = "text", meaning: str = "as documented", *rules: str) -> FunctionCard:
    return FunctionCard(
        card_id=f"function::{BOOK}",
        tool=BOOK,
        app="office",
        function="book",
        what_it_does="Book a visit.",
        arguments=(
            Argument(name="day", meaning=meaning, form=form),
            Argument(name="who", meaning="who", form="text"),
        ),
        returns="A record.",
        usage_rules=rules,
    )


def skill_card(*guards: str) -> SkillCard:
    return SkillCard(
        title="Book visits",
        applies_when="You are about to call `book`.",
        solves="Visits that are not booked.",
        skill=Skill(core_rule="Book visits.", completion=("booked",)),
        functions_used=(BOOK,),
        guards=guards,
        card_id="skill::a",
        ability="office",
    )


def facts(forms: str = "", sources: str = "", *rules: str) -> dict[str, ArgumentFacts]:
    named = {form: f"{form} in words" for form in forms.split(" or ")} if forms else {}
    return {"day": ArgumentFacts(forms=named, sources=tuple(sources.split()), form_rules=rules)}


def settle(card: FunctionCard, facts: dict[str, ArgumentFacts], guard: str) -> FunctionCard:
    [settled] = settle_functions([(card, facts)], [skill_card(guard)])
    return settled


@pytest.mark.parametrize(
    ("forms", "guard", "settled"),
    [
        (
            "date YYYY-MM-DD HH:MM",
            'existence(office.book[day like "9999-99-99"]) when office.book',
            "written like 9999-99-99",
        ),
        (
            "date YYYY-MM-DD HH:MM",
            "existence(office.book[day is date DD.MM.YYYY]) when office.book",
            "as date DD.MM.YYYY",
        ),
        (
            "date YYYY-MM-DD HH:MM or date DD.MM.YYYY",
            "existence(office.book[day is date DD.MM.YYYY]) when office.book",
            "date DD.MM.YYYY in words",
        ),
        ("date DD.MM.YYYY", "absence(office.book[day is date DD.MM.YYYY])", "not as date DD.MM.YYYY"),
    ],
)
def test_another_form_than_a_guard_demands_is_replaced(forms: str, guard: str, settled: str) -> None:
    assert settle(function_card("in any words"), facts(forms), guard).arguments[0].form == settled


@pytest.mark.parametrize(
    ("sources", "guard", "settled"),
    [
        (
            "office.find.email",
            "existence(office.book[day from office.find.owner]) when office.book",
            "from the `owner` of `find`",
        ),
        (
            "office.find.email",
            "absence(office.book[day from office.find.email]) when office.book",
            "not from the `email` of `find`",
        ),
        (
            "task",
            "existence(office.book[day picks lowest visits of office.list_slots]) when office.book",
            "that of the item of `list_slots` with the lowest `visits`",
        ),
        ("task", "absence(office.book[day from task])", "not from the task"),
    ],
)
def test_another_source_than_a_guard_demands_is_replaced(sources: str, guard: str, settled: str) -> None:
    card = settle(function_card(meaning="in any words"), facts("", sources), guard)
    assert card.arguments[0].meaning == settled


@pytest.mark.parametrize(
    ("shown", "guard"),
    [
        pytest.param(
            facts("date DD.MM.YYYY", "", RULE),
            'existence(office.book[day like "99.99.9999"]) when office.book',
            id="the same form",
        ),
        pytest.param(
            facts("identifier", "office.list_slots", RULE),
            "existence(office.book[day picks lowest visits of office.list_slots]) when office.book",
            id="the same source",
        ),
        pytest.param(
            facts("text", "office.find"),
            "existence(office.book[day from office.find.owner]) when office.book",
            id="a function whose field is not known",
        ),
        pytest.param(
            facts("text", "office.find.owner"),
            "existence(office.book[day from office.find]) when office.book",
            id="a field of the function that is demanded",
        ),
        pytest.param(
            facts("text", "office.find.owner"),
            "absence(office.book[day from office.find.email])",
            id="a source that is not forbidden",
        ),
        pytest.param(facts(), "existence(office.book[day from task]) when office.book", id="no clear source"),
        pytest.param(
            facts("date YYYY-MM-DD"),
            'existence(office.book[day like "99.99.9999"]) when office.find.tier = A',
            id="under a condition only",
        ),
        pytest.param(
            facts("date YYYY-MM-DD"),
            'existence(office.book[day like "99.99.9999"]) when office.book unless office.find.tier = A',
            id="with an exception",
        ),
        pytest.param(facts("date YYYY-MM-DD"), "precedence(office.find, office.book)", id="nothing about an argument"),
        pytest.param(facts("number"), "absence(office.book[day > 20])", id="neither form nor source"),
        pytest.param({}, "existence(office.book[day from task]) when office.book", id="no facts, as in a frozen bank"),
    ],
)
def test_a_function_card_that_is_not_contradicted_stays(shown: dict[str, ArgumentFacts], guard: str) -> None:
    card = function_card("date YYYY-MM-DD", "values come from results of `find` (`email`)", RULE)
    assert settle(card, shown, guard) == card


def test_a_rule_about_the_form_of_such_an_argument_goes_and_other_rules_stay() -> None:
    rules = (RULE, "Call `find` before it.", "Call once per `day`.")
    card = settle(
        function_card("number written as text", "as documented", *rules),
        facts("number as text", "", RULE),
        "existence(office.book[day like 99999]) when office.book",
    )
    assert card.usage_rules == rules[1:]


def test_a_frozen_bank_is_settled_and_stays_so() -> None:
    cards = (
        function_card("date YYYY-MM-DD"),
        skill_card('existence(office.book[day like "99.99.9999"]) when office.book'),
    )
    support = CardSupport(arguments=facts("date YYYY-MM-DD"))
    bank = Bank({card.card_id: BankEntry(card=card, support=support) for card in cards})
    content = freeze(bank)
    frozen = parse_frozen(content, "bank")
    assert frozen.functions[0].arguments[0].form == "written like 99.99.9999"
    assert b"in words" not in content, "the facts stay in the store"
    assert freeze(frozen.to_bank()) == content
    assert bank.functions[0].arguments[0].form == "date YYYY-MM-DD", "the store keeps what calls showed"


def test_what_a_person_writes_about_an_argument_is_not_reworded() -> None:
    card = function_card("date YYYY-MM-DD")
    entry = BankEntry(card=card, support=CardSupport(arguments=facts("date YYYY-MM-DD")))
    rule = skill_card('existence(office.book[day like "99.99.9999"]) when office.book')
    bank = Bank({card.card_id: entry, rule.card_id: BankEntry(card=rule)})
    decision = edit(bank, card.card_id, function_card("day, month and year with dots"), person("anna"))
    frozen = parse_frozen(freeze(bank.with_changes(decision.changes)), "bank")
    assert frozen.functions[0].arguments[0].form == "day, month and year with dots"


def test_a_store_without_facts_loads_and_cards_without_facts_are_stored_as_before() -> None:
    old = {"tasks": ["t1"], "sources": ["m"]}
    assert CardSupport.model_validate(old).arguments == {}
    assert "arguments" not in CardSupport.model_validate(old).model_dump(mode="json")
    support = CardSupport(arguments=facts("date YYYY-MM-DD", "task", RULE))
    assert CardSupport.model_validate(support.model_dump(mode="json")) == support
