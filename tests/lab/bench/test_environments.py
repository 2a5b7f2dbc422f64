"""Environments by name, and AgentDojo against the real package."""

from __future__ import annotations

import importlib.util

import pytest
from tests.lab.bench.soundness import find_unsolved_tasks, idle_tasks

from contramem.errors import UsageError
from contramem.traces.read import read_traces
from contramem_lab.agent import attempt
from contramem_lab.agentdojo import LEFT_OUT, SUITES, AgentDojoEnvironment
from contramem_lab.environment import NAMES, open_environment
from contramem_lab.target import ScriptedTarget, ToolCall

needs_agentdojo = pytest.mark.skipif(
    importlib.util.find_spec("agentdojo") is None, reason="agentdojo is missing: pip install 'contramem[agentdojo]'"
)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("are/search", "contramem lab bench are", id="are"),
        pytest.param("appworld", "contramem lab bench appworld", id="appworld"),
        pytest.param("tau2/retail", "Python 3.12", id="tau2"),
        pytest.param("agentdojo/cooking", "no suite 'cooking'", id="unknown suite"),
        pytest.param("bfcl/hard", "no multi-turn category 'hard'", id="unknown category"),
        pytest.param("agentdojo", "environments: agentdojo/banking", id="no suite"),
        pytest.param("chess", "there is no environment 'chess'", id="unknown"),
    ],
)
def test_what_cannot_be_run_says_why(name, message):
    with pytest.raises(UsageError, match=message):
        open_environment(name)


@pytest.mark.skipif(importlib.util.find_spec("agentdojo") is not None, reason="agentdojo is installed here")
def test_without_agentdojo_the_error_says_what_to_install():
    with pytest.raises(UsageError, match=r"pip install 'contramem\[agentdojo\]'"):
        open_environment("agentdojo/slack")


@pytest.mark.slow
@needs_agentdojo
class TestAgentDojo:
    @pytest.mark.parametrize(("suite", "tasks"), list(zip(SUITES, (16, 21, 20, 40), strict=True)))
    def test_every_task_accepts_its_own_solution_and_those_left_out_accept_doing_nothing(self, suite, tasks):
        everything = AgentDojoEnvironment(suite, everything=True)
        assert len(everything.tasks()) == tasks
        assert list(find_unsolved_tasks(everything)) == []
        assert tuple(idle_tasks(everything)) == LEFT_OUT.get(suite, ())
        assert len(open_environment(f"agentdojo/{suite}").tasks()) == tasks - len(LEFT_OUT.get(suite, ()))

    def test_a_run_is_an_attempt_at_the_same_task_as_the_recorded_ones(self, shared_data):
        moves = [
            ToolCall("get_channels"),
            ToolCall("add_user_to_channel", {"user": "Charlie", "channel": "External_0"}),
            "Charlie is in External_0.",
        ]
        run = attempt(open_environment("agentdojo/slack"), "user_task_7", ScriptedTarget.playing(moves))
        assert run.outcome.passed is True
        recorded = next(
            other
            for other in read_traces([shared_data / "agentdojo" / "runs_no_attack.tar.xz"])
            if (other.environment, other.task_id) == ("agentdojo/slack", "user_task_7")
        )
        assert run.task_key == recorded.task_key
        assert run.calls[0].function in {event.function for event in recorded.calls}
        assert run.calls[0].result.content in {event.result.content for event in recorded.calls}

    def test_a_call_that_fails_is_an_error_and_a_call_inside_an_argument_is_never_run(self):
        session = open_environment("agentdojo/slack").start("user_task_7")
        assert "does not exist" in (session.call("slack.read_channel_messages", {"channel": "x"}).error or "")
        hidden = {"function": "get_channels", "args": {}}
        assert session.call("slack.read_channel_messages", {"channel": hidden}).error
        assert session.call("slack.__init__", {}).error == "There is no function slack.__init__."
        assert session.call("banking.send_money", {}).error == "There is no function banking.send_money."

    def test_sessions_share_nothing(self):
        environment = open_environment("agentdojo/slack")
        first, second = environment.start("user_task_7"), environment.start("user_task_7")
        first.call("slack.send_direct_message", {"recipient": "Alice", "body": "hello there"})
        assert "hello there" not in str(second.call("slack.read_inbox", {"user": "Alice"}).content)

    def test_verifiers_that_find_nothing_to_look_at_say_failed(self):
        session = open_environment("agentdojo/slack").start("user_task_2")
        session.call("slack.remove_user_from_slack", {"user": "Alice"})
        assert session.verify().passed is False


@pytest.mark.slow
@needs_agentdojo
@pytest.mark.skipif(importlib.util.find_spec("bfcl_eval") is None, reason="bfcl_eval is missing")
@pytest.mark.parametrize("name", NAMES)
def test_every_name_gives_the_environment_that_runs_are_called_by(name):
    environment = open_environment(name)
    assert environment.name == name
    task_id = next(iter(environment.tasks()))
    assert attempt(environment, task_id, ScriptedTarget.playing([])).environment == name
