"""Look first: some call reads before the answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.made_runs import call, run

from contramem.build.rules.kinds.look_first import LookFirst
from contramem.build.rules.rule import load_rule
from contramem.study.recorded_actions import RecordedActions

LOOK, CHANGE = call("Mail.search", {"query": "ann"}, []), call("Mail.send_email", {"to": "ann@x.org"})


def rule(app: str = "Mail") -> LookFirst:
    return LookFirst(functions=("Mail.search", "Mail.list"), app=app, answered=6, asked=2, gets_replies=False)


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        pytest.param([LOOK, "Done."], "holds", id="looks"),
        pytest.param([CHANGE, "Done."], "broken", id="only-changes"),
        pytest.param(["What is the address?"], "broken", id="answers-without-a-look"),
    ],
)
def test_only_a_call_that_reads_keeps_it(steps: list[object], verdict: str) -> None:
    (guard,) = rule().guards
    assert RecordedActions(run("a", True, *steps)).replay(guard) == verdict  # type: ignore[arg-type]


def test_the_same_app_is_the_same_rule_whatever_functions_are_named() -> None:
    assert rule().says(rule().name_only(["Mail.search"]))
    assert not rule().says(rule(app="Files"))


def test_a_card_names_only_functions_that_its_task_shows() -> None:
    named = rule().name_only(["Mail.search"])
    assert named.functions == ("Mail.search",)
    assert "Look with `search` or another function" in named.words().core_rule


def test_agents_are_told_that_nobody_replies_where_nobody_does() -> None:
    assert "nobody replies" in rule().words().core_rule
    assert "ask only for what you did not find there" in replace(rule(), gets_replies=True).words().core_rule


def test_where_no_run_asked_the_card_does_not_speak_of_questions() -> None:
    words = replace(rule(), asked=0).words()
    assert words.title == "Look into Mail before you answer"
    assert "question" not in words.core_rule + words.solves


def test_the_rule_survives_the_store() -> None:
    assert load_rule(rule().store()) == rule()
