"""Models that ARE asks itself, behind an OpenAI-compatible server on this machine. Slow; skipped without ARE."""

from __future__ import annotations

from typing import Any

import pytest
from tests.lab.bench.are_engine import ScriptedEngine
from tests.lab.bench.are_runs import LIMITS, SCENARIOS, needs_are
from tests.loopback import Answer, Loopback, loopback

from contramem.errors import ModelError
from contramem.traces.trajectory import Trajectory
from contramem_lab.are import AreSettings, AreTarget, Judge
from contramem_lab.are_runs import AreEnvironment

pytestmark = [needs_are, pytest.mark.slow]
APPROVAL = "[[Success]] [[True]]"


def careful(body: dict[str, Any], before: int) -> Answer:
    """The target is asked with a task, the judge without one."""
    if not any(str(message["content"]).startswith("[TASK]") for message in body["messages"]):
        return Answer(APPROVAL)
    return Answer(ScriptedEngine("careful").complete(body["messages"]).replace("It is sent.", "I have sent it."))


def attempt(server: Loopback, judge: Judge, task_id: str = "made_up_execution_1") -> Trajectory:
    target = AreTarget("mine", url=server.url, key="MY_KEY", extra={"seed": 7})
    return AreEnvironment((str(SCENARIOS),), AreSettings(judge)).attempt(task_id, target, None, LIMITS)


def is_judged(body: dict[str, Any]) -> bool:
    return "seed" not in body


def test_model_key_and_settings_reach_the_server_and_its_usage_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret-1")
    with loopback(careful) as server:
        done = attempt(server, Judge("scripted"))
    assert done.outcome.passed
    assert set(server.keys) == {"Bearer secret-1"}
    assert {(body["model"], body["seed"]) for body in server.bodies} == {("mine", 7)}
    assert (done.usage.model_calls, done.usage.tokens_in, done.usage.tokens_out) == (3, 3000, 300)


def test_a_judge_that_is_the_same_model_gets_neither_the_settings_nor_the_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret-1")
    monkeypatch.setenv("JUDGE_KEY", "of-the-judge")
    with loopback(careful) as server:
        done = attempt(server, Judge("llm", "mine", None, server.url, "JUDGE_KEY"))
    judged = [body for body in server.bodies if is_judged(body)]
    assert done.outcome.passed
    assert judged
    assert set(server.keys) == {"Bearer secret-1", "Bearer of-the-judge"}
    assert done.usage.model_calls == 3


def test_a_server_that_refuses_is_an_error_and_no_failed_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret-1")
    with (
        loopback(lambda body, before: Answer(status=401)) as server,
        pytest.raises(ModelError, match="does not answer"),
    ):
        attempt(server, Judge("scripted"))


def test_a_judge_that_does_not_answer_is_an_error_and_no_failed_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret-1")
    monkeypatch.setenv("JUDGE_KEY", "of-the-judge")

    def only_target(body: dict[str, Any], before: int) -> Answer:
        return Answer(status=401) if is_judged(body) else careful(body, before)

    with loopback(only_target) as server, pytest.raises(ModelError, match="judge"):
        attempt(server, Judge("llm", "judge", None, server.url, "JUDGE_KEY"))
