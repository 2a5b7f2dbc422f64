"""Convention: a guard of any template as a rule."""

from __future__ import annotations

import pytest

from contramem.build.rules.kinds.convention import Convention


@pytest.mark.parametrize(
    ("guard", "rule"),
    [
        ("existence(Desk.log)", "Call `log`."),
        ("absence(Desk.call)", "Do not call `call`."),
        ("at_most_once(Desk.pay by bill)", "Call `pay` only once with the same `bill`."),
        ("at_most_once(Desk.pay)", "Call `pay` only once with the same arguments."),
        ("response(Desk.pay, Desk.log)", "After `pay`, call `log`."),
        ("known_value(Desk.pay.bill)", "Give `pay` only values of `bill` that you have seen before."),
        ("covers(Desk.list.id, Desk.pay.bill)", "Call `pay` for every `id` that `list` returns."),
    ],
)
def test_every_template_has_words_that_an_agent_can_follow(guard: str, rule: str) -> None:
    words = Convention(guard=guard, functions=()).words()
    assert words.core_rule == rule
    assert words.completion


def test_a_condition_stands_in_the_rule_and_confines_its_guard() -> None:
    rule = Convention(guard="existence(Desk.approve) when Desk.pay[amount > 500]", functions=("Desk.approve",))
    assert rule.words().core_rule == "Call `approve` if `pay` is called with `amount` above 500."
    assert rule.words().applies_when == "You call `pay` with `amount` above 500."
    assert [str(guard) for guard in rule.guards] == ["existence(Desk.approve) when Desk.pay[amount > 500]"]


def test_the_condition_on_a_guarded_call_stands_with_the_call() -> None:
    words = Convention(guard="precedence(Desk.hold, Desk.pay) when Desk.pay[amount > 500]", functions=()).words()
    assert words.applies_when == "You are about to call `pay` with `amount` above 500."
    assert words.core_rule == "Call `hold` and confirm that it succeeded before calling `pay` with `amount` above 500."
    assert words.title == "Call hold before pay with amount above 500"


def test_a_word_of_the_request_is_what_the_title_is_about() -> None:
    words = Convention(guard="existence(Desk.list) when task contains files", functions=()).words()
    assert words.title == "Requests about “files”: look with list"
    assert words.applies_when == "The request says “files”."


@pytest.mark.parametrize(
    ("guard", "instead", "rule"),
    [
        (
            "absence(Desk.send[to from Desk.find.email]) when Desk.send",
            "Desk.send[to from Desk.find.owner]",
            "Call `send` with `to` from the `owner` of `find`, not with `to` from the `email` of `find`.",
        ),
        (
            "absence(Desk.pay[bill picks highest date of Desk.list]) when Desk.pay",
            "Desk.pay[bill picks lowest date of Desk.list]",
            "Call `pay` with the `bill` of the item of `list` with the lowest `date`.",
        ),
        (
            "absence(Desk.release) when Desk.list.status = overdue",
            "Desk.assign[owner = credit-desk]",
            "Do not call `release` if `list` shows a `status` of overdue; call `assign` with `owner` set to "
            "credit-desk instead. Look with `list` before you decide.",
        ),
        ("absence(Desk.move[count > 40]) when Desk.move", "", "Call `move` with `count` of at most 40."),
    ],
)
def test_a_ban_says_what_passing_runs_do_instead(guard: str, instead: str, rule: str) -> None:
    assert Convention(guard=guard, functions=(), instead=instead).words().core_rule == rule


def test_a_form_is_called_by_its_name_where_it_has_one() -> None:
    guard = "existence(Desk.order[due like 9-A9]) when Desk.order"
    named = Convention(guard=guard, functions=(), form="an ISO week, YYYY-Www").words()
    assert named.core_rule == "Call `order` with `due` as an ISO week, YYYY-Www."
    plain = Convention(guard=guard, functions=()).words()
    assert plain.core_rule == "Call `order` with `due` as `9-A9` (9: digits, A: capitals)."
