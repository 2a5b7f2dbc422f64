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
        ("known_value(Desk.pay.bill)", "Give `pay` only an `bill` that you have seen before."),
        ("covers(Desk.list.id, Desk.pay.bill)", "Call `pay` for every `id` that `list` returns."),
    ],
)
def test_every_template_has_words_that_an_agent_can_follow(guard: str, rule: str) -> None:
    words = Convention(guard=guard, functions=()).words()
    assert words.core_rule == rule
    assert words.completion


def test_a_condition_stands_in_the_rule_and_confines_its_guard() -> None:
    rule = Convention(guard="existence(Desk.approve) when Desk.pay[amount > 500]", functions=("Desk.approve",))
    assert rule.words().core_rule.startswith("Call `approve`, ")
    assert "500" in rule.words().core_rule
    assert [str(guard) for guard in rule.guards] == ["existence(Desk.approve) when Desk.pay[amount > 500]"]
