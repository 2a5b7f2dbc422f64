"""Look first: some call reads, or makes a change, before the answer."""

from __future__ import annotations

from typing import Literal

import pytest
from tests.made_runs import call, run

from contramem.build.rules.kinds.look_first import LookFirst
from contramem.build.rules.rule import load_rule
from contramem.study.recorded_actions import RecordedActions

LOOK, CHANGE = call("Mail.search", {"query": "ann"}, []), call("Mail.send_email", {"to": "ann@x.org"})


def rule(effect: Literal["reads", "writes"], app: str = "Mail") -> LookFirst:
    return LookFirst(functions=("Mail.search", "Mail.send_email"), app=app, effect=effect, answered=6)


@pytest.mark.parametrize(
    ("effect", "steps", "verdict"),
    [
        pytest.param("reads", [LOOK, "Done."], "holds", id="looks"),
        pytest.param("reads", ["What is the address?"], "broken", id="answers-without-a-look"),
        pytest.param("writes", [LOOK, CHANGE, "Done."], "holds", id="changes"),
        pytest.param("writes", [LOOK, "Shall I send it?"], "broken", id="only-looks"),
    ],
)
def test_only_a_call_of_the_right_effect_keeps_it(
    effect: Literal["reads", "writes"], steps: list[object], verdict: str
) -> None:
    (guard,) = rule(effect).guards
    assert RecordedActions(run("a", True, *steps)).replay(guard) == verdict  # type: ignore[arg-type]


def test_the_same_app_and_effect_are_the_same_rule_whatever_functions_are_named() -> None:
    assert rule("reads").says(rule("reads").name_only(["Mail.search"]))
    assert not rule("reads").says(rule("writes"))
    assert not rule("reads").says(rule("reads", app="Files"))


def test_a_card_names_only_functions_that_its_task_shows() -> None:
    named = rule("reads").name_only(["Mail.search"])
    assert named.functions == ("Mail.search",)
    assert "Look with `search` or another function" in named.words().core_rule


def test_the_rule_survives_the_store() -> None:
    assert load_rule(rule("writes").store()) == rule("writes")
