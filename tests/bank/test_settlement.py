"""A Function Card that a Skill Card of its bank contradicts says what the Skill Card says, once it is served."""

from __future__ import annotations

import pytest

from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import Argument, FunctionCard, Skill, SkillCard
from contramem.bank.frozen import freeze, parse_frozen
from contramem.bank.settlement import settle_functions

BOOK = "office.book"


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


def settle(card: FunctionCard, guard: str) -> FunctionCard:
    [settled] = settle_functions([card], [skill_card(guard)])
    return settled


@pytest.mark.parametrize(
    ("form", "guard", "settled"),
    [
        ("date YYYY-MM-DD HH:MM", 'existence(office.book[day like "9999-99-99"]) when office.book', "9999-99-99"),
        ("date YYYY-MM-DD HH:MM", "existence(office.book[day is date DD.MM.YYYY]) when office.book", "date DD.MM.YYYY"),
        (
            "date YYYY-MM-DD HH:MM or date DD.MM.YYYY",
            "existence(office.book[day is date DD.MM.YYYY]) when office.book",
            "date DD.MM.YYYY",
        ),
        ("date DD.MM.YYYY", "absence(office.book[day is date DD.MM.YYYY])", "not as date DD.MM.YYYY"),
    ],
)
def test_another_form_than_a_guard_demands_is_replaced(form: str, guard: str, settled: str) -> None:
    assert settle(function_card(form), guard).arguments[0].form.endswith(settled)
    assert "HH:MM" not in settle(function_card(form), guard).arguments[0].form


@pytest.mark.parametrize(
    ("meaning", "guard", "settled"),
    [
        (
            "values come from results of `find` (`email`)",
            "existence(office.book[day from office.find.owner]) when office.book",
            "from the `owner` of `find`",
        ),
        (
            "values come from results of `find` (`email`)",
            "absence(office.book[day from office.find.email]) when office.book",
            "not from the `email` of `find`",
        ),
        (
            "values come from the task",
            "existence(office.book[day picks lowest visits of office.list_slots]) when office.book",
            "that of the item of `list_slots` with the lowest `visits`",
        ),
        ("values come from the task", "absence(office.book[day from task])", "not from the task"),
    ],
)
def test_another_source_than_a_guard_demands_is_replaced(meaning: str, guard: str, settled: str) -> None:
    assert settle(function_card(meaning=meaning), guard).arguments[0].meaning == settled


@pytest.mark.parametrize(
    ("card", "guard"),
    [
        pytest.param(
            function_card("date DD.MM.YYYY", "as documented", "Give `day` as DD.MM.YYYY."),
            'existence(office.book[day like "99.99.9999"]) when office.book',
            id="the same form",
        ),
        pytest.param(
            function_card("identifier", "values come from results of `list_slots`", "Take `day` exactly as shown."),
            "existence(office.book[day picks lowest visits of office.list_slots]) when office.book",
            id="the same source",
        ),
        pytest.param(
            function_card("text", "values come from results of `find` (`owner`)"),
            "absence(office.book[day from office.find.email])",
            id="a source that is not forbidden",
        ),
        pytest.param(
            function_card("date YYYY-MM-DD"),
            'existence(office.book[day like "99.99.9999"]) when office.find.tier = A',
            id="under a condition only",
        ),
        pytest.param(
            function_card("date YYYY-MM-DD"), "precedence(office.find, office.book)", id="nothing about an argument"
        ),
        pytest.param(function_card("number"), "absence(office.book[day > 20])", id="neither form nor source"),
    ],
)
def test_a_function_card_that_is_not_contradicted_stays(card: FunctionCard, guard: str) -> None:
    assert settle(card, guard) == card


def test_a_rule_about_the_form_of_such_an_argument_goes_and_other_rules_stay() -> None:
    rules = (
        "Take `day` exactly as earlier results show it.",
        "Call `find` before it.",
        "Take `day` and `who` as shown.",
    )
    card = settle(
        function_card("number written as text", "as documented", *rules),
        "existence(office.book[day like 99999]) when office.book",
    )
    assert card.usage_rules == rules[1:]


def test_a_frozen_bank_is_settled_and_stays_so() -> None:
    cards = (
        function_card("date YYYY-MM-DD"),
        skill_card('existence(office.book[day like "99.99.9999"]) when office.book'),
    )
    bank = Bank({card.card_id: BankEntry(card=card) for card in cards})
    frozen = parse_frozen(freeze(bank), "bank")
    assert frozen.functions[0].arguments[0].form == "written like 99.99.9999"
    assert settle_functions(frozen.functions, frozen.skills) == list(frozen.functions)
    assert bank.functions[0].arguments[0].form == "date YYYY-MM-DD", "the store keeps what calls showed"
