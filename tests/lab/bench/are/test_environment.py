"""Runs in ARE's own environment. Slow; skipped where ARE is not installed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from tests.lab.bench.are_engine import SAY_DONE, ScriptedEngine
from tests.lab.bench.are_runs import LIMITS, SCENARIOS, made_up, needs_are, run

from contramem.evaluate.compare import compare
from contramem.inject.provider import TextMemory
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory
from contramem_lab.are import AreSettings, AreTarget, Installation, Judge, Message, default_folder
from contramem_lab.are_runs import AreEnvironment, workers_of
from contramem_lab.environment import Limits

slow = pytest.mark.slow


def calls_of(done: Trajectory) -> list[tuple[str, object]]:
    """Functions with their arguments, without those that ARE fills in by default."""
    filled_in = ("cc", "bcc", "attachment_paths", "offset", "limit")
    return [
        (call.function, {name: value for name, value in call.arguments.items() if name not in filled_in})
        for call in done.calls
    ]


def test_a_missing_judge_is_refused_before_anything_runs() -> None:
    with pytest.raises(Exception, match="needs a model as its judge"):
        AreEnvironment((str(SCENARIOS),)).attempt("made_up_time_1", AreTarget("x"), None, LIMITS)


@needs_are
@slow
@pytest.mark.parametrize("ability", ["execution", "search", "ambiguity", "adaptability", "time"])
def test_memory_that_names_what_is_missing_turns_a_failing_run_into_a_passing_one(ability: str) -> None:
    words = "Use search_contacts, list_emails and wait_for_notification."
    assert run(f"made_up_{ability}_2", "follower").outcome.passed is False
    helped = run(f"made_up_{ability}_2", "follower", TextMemory(lambda query: words))
    assert helped.outcome.passed
    assert [shown.text for shown in helped.guidance] == [words]


@needs_are
@slow
@pytest.mark.parametrize("task_id", ["made_up_execution_1", "made_up_ambiguity_1", "made_up_time_1"])
def test_hf_and_lite_traces_read_back_as_what_was_driven(task_id: str, tmp_path: Path) -> None:
    """The engine's own replies are the record of what was driven."""
    engine = RememberingEngine("careful")
    target = AreTarget("careful", engine=engine)
    done = made_up().attempt(task_id, target, None, LIMITS, raw=tmp_path)
    hf, lite = (next(iter(read_traces([tmp_path / half]))) for half in ("hf", "lite"))
    assert [function.rpartition(".")[2] for function, _ in calls_of(done)] == engine.driven
    assert calls_of(done) == calls_of(hf) == calls_of(lite)
    assert done.events == hf.events
    assert done.task == hf.task == lite.task
    assert done.outcome.passed and hf.outcome.passed and lite.outcome.passed


class RememberingEngine(ScriptedEngine):
    """Keeps the names of the functions that it called, and the last messages it was shown."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.driven: list[str] = []
        self.messages: Sequence[Message] = ()

    def complete(self, messages: Sequence[Message]) -> str:
        reply = super().complete(messages)
        self.messages = messages
        self.driven.append(reply.partition('"action": "')[2].partition('"')[0].rpartition("__")[2])
        return reply


@needs_are
@slow
def test_the_first_task_and_its_memory_are_still_there_after_waits() -> None:
    engine = RememberingEngine("careful")
    done = run("made_up_time_1", engine, TextMemory(lambda query: "Look at the clock."))
    prompt = "\n".join(message["content"] for message in engine.messages)
    assert "wait_for_notification" in engine.driven
    assert prompt.count("Look at the clock.") == 1
    assert done.task in prompt and done.task.startswith("Email Ann Lee")


@needs_are
@slow
def test_an_engine_that_never_acts_meets_the_limit_and_counts_as_failed() -> None:
    idle = AreTarget("idle", engine=ScriptedEngine("idle"))
    done = made_up().attempt("made_up_search_1", idle, None, Limits(steps=3, seconds=200))
    assert (done.outcome.passed, done.outcome.ended) == (False, "limit")


class StuckEngine(ScriptedEngine):
    """Does not answer its second request while it is not released."""

    def __init__(self) -> None:
        super().__init__("careful")
        self.released = threading.Event()

    def complete(self, messages: Sequence[Message]) -> str:
        if any(message["role"] == "assistant" for message in messages):
            self.released.wait(60)
        return super().complete(messages)


@needs_are
@slow
def test_a_run_that_takes_too_long_is_kept_as_a_failure_and_paired() -> None:
    """It has no exported trace; what it did until then is not forgotten."""
    engine = StuckEngine()
    threading.Timer(30, engine.released.set).start()
    target = AreTarget("careful", engine=engine)
    late = made_up().attempt("made_up_execution_1", target, None, Limits(steps=9, seconds=20))
    assert (late.outcome.passed, late.outcome.ended) == (False, "limit")
    assert "20 seconds" in late.outcome.feedback
    assert [call.function for call in late.calls] == ["ContactsApp.search_contacts"]
    assert_paired_as_lost(late)


class KillingEngine(ScriptedEngine):
    """Ends ARE's process in the middle of the run."""

    def complete(self, messages: Sequence[Message]) -> str:
        if any(message["role"] == "assistant" for message in messages):
            server = workers_of(Installation(default_folder())).pid
            children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
            os.kill(int(children[-1]), signal.SIGKILL)
        return super().complete(messages)


@needs_are
@slow
def test_a_run_whose_process_is_killed_is_kept_as_a_failure_and_paired() -> None:
    killed = run("made_up_execution_1", KillingEngine("careful"))
    assert killed.outcome.passed is False
    assert "ended by itself" in killed.outcome.feedback
    assert [call.function for call in killed.calls] == ["ContactsApp.search_contacts"]
    assert_paired_as_lost(killed)


def assert_paired_as_lost(failed: Trajectory) -> None:
    comparison = compare([run(failed.task_id)], [failed], rng=Random(0))
    assert (comparison.gained, comparison.lost) == (0, 1)


@needs_are
@slow
def test_a_built_in_scenario_runs() -> None:
    environment = AreEnvironment(("scenario_tutorial",), AreSettings(Judge("scripted")))
    done = environment.attempt(
        "scenario_tutorial", AreTarget("done", engine=SAY_DONE), None, Limits(steps=3, seconds=200)
    )
    assert done.task
    assert done.calls[-1].function == "AgentUserInterface.send_message_to_user"
