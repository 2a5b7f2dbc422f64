"""STATE-Bench from a checkout: verdicts by replay, conversations with a user, learnings through its own hook."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from contramem.errors import UsageError
from contramem.traces.read import read_traces
from contramem_lab.agent import attempt
from contramem_lab.state_bench import StateBench, StateBenchEnvironment, replay_train_runs
from contramem_lab.target import ChatMessage, ScriptedTarget, ToolCall

MADE = Path(__file__).parent / "made_state_bench"


@pytest.fixture
def bench() -> StateBench:
    return StateBench(MADE, "travel")


def run_contramem(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "contramem", "lab", *arguments], capture_output=True, text=True)


def test_recorded_runs_get_the_verdict_of_the_state_that_their_calls_lead_to(bench: StateBench) -> None:
    replay = replay_train_runs(bench)
    assert {run.task_id: run.outcome.passed for run in replay.runs} == {"cancel-one": True, "cancel-none": False}
    assert (replay.calls, replay.different) == (4, 1)  # one recorded result is not what the tool returns
    assert {tool.function for tool in replay.runs[0].tools} == {"travel.get_booking", "travel.cancel_booking"}
    assert {event.function for event in replay.runs[0].events if event.function} <= {
        "travel.get_booking",
        "travel.cancel_booking",
    }


def test_verdicts_open_nothing_of_the_test_split(tmp_path: Path) -> None:
    checkout = shutil.copytree(MADE, tmp_path / "checkout")
    (checkout / "state_bench/domains/travel/tasks/cancel-other.json").write_text("opening this is an error")
    done = run_contramem("state-bench", "verdicts", str(checkout), "travel", "--out", str(tmp_path / "runs.jsonl"))
    assert done.stdout.startswith("2 runs, 1 satisfy the state requirements."), done.stderr
    assert len(list(read_traces([tmp_path / "runs.jsonl"]))) == 2


def test_a_recorded_run_of_a_test_task_is_refused(tmp_path: Path) -> None:
    checkout = shutil.copytree(MADE, tmp_path / "checkout")
    runs = checkout / "datasets/train_task_trajectories/travel"
    (runs / "cancel-one.json").rename(runs / "cancel-other.json")
    done = run_contramem("state-bench", "verdicts", str(checkout), "travel")
    assert done.returncode == 1
    assert "'cancel-other' is no task of the train split" in done.stderr


def test_a_run_is_judged_by_its_file_name_however_long(tmp_path: Path) -> None:
    checkout = shutil.copytree(MADE, tmp_path / "checkout")
    long = "cancel-one-of-several-bookings-that-somebody-made-for-a-trip-with-colleagues-which-was-called-off"
    domain = checkout / "state_bench/domains/travel"
    (checkout / "datasets/train_task_trajectories/travel/cancel-one.json").rename(
        checkout / f"datasets/train_task_trajectories/travel/{long}.json"
    )
    (domain / "tasks/cancel-one.json").rename(domain / f"tasks/{long}.json")
    splits = domain / "splits/train_test.json"
    splits.write_text(splits.read_text().replace('"cancel-one"', f'"{long}"'))
    done = run_contramem("state-bench", "verdicts", str(checkout), "travel")
    assert done.stdout.startswith("2 runs, 1 satisfy the state requirements."), done.stderr


def test_cards_learned_from_other_tasks_of_a_type_are_shown(bench: StateBench) -> None:
    user = ScriptedTarget.playing(["[TASK_DONE]"], "user")
    assert StateBenchEnvironment(bench, "train", user).tasks()["cancel-one"].query(()).scenario_id is None


def test_the_user_answers_until_the_user_is_done(bench: StateBench) -> None:
    user = ScriptedTarget.playing(["B1, as I said.", "Thanks. [TASK_DONE]"], "user")
    agent = ScriptedTarget.playing(["Which one?", ToolCall("cancel_booking", {"booking": "B1"}), "It is cancelled."])
    run = attempt(StateBenchEnvironment(bench, "train", user), "cancel-one", agent)
    assert [event.text for event in run.events if event.actor == "user"] == ["Cancel B1, please.", "B1, as I said."]
    assert run.outcome.passed


def test_a_user_who_never_ends_meets_the_limit_of_turns(bench: StateBench) -> None:
    user = ScriptedTarget(lambda messages, tools: "Go on.", "user")
    agent = ScriptedTarget(lambda messages, tools: "And now?")
    run = attempt(StateBenchEnvironment(bench, "train", user), "cancel-none", agent)
    assert sum(event.actor == "agent" for event in run.events) == 3


def test_the_judge_of_the_dialogue_can_fail_a_run_whose_state_is_right(bench: StateBench) -> None:
    user = ScriptedTarget.playing(["[TASK_DONE]"], "user")
    judge = ScriptedTarget.playing(['{"passed": false}'], "judge")
    run = attempt(StateBenchEnvironment(bench, "train", user, judge), "cancel-none", ScriptedTarget.playing(["No."]))
    assert run.outcome.passed is False
    assert run.outcome.feedback == "the dialogue"


def test_an_agent_can_ask_for_learnings_by_the_tool_of_the_benchmark(bench: StateBench) -> None:
    asked: list[tuple[str, int]] = []

    def retrieve(query: str, top_k: int) -> list[str]:
        asked.append((query, top_k))
        return ["Look before you cancel."]

    def play(messages: Sequence[ChatMessage], tools: Sequence[object]) -> ToolCall | str:
        answered = any(message.role == "tool" and "Look before you cancel." in message.text for message in messages)
        return "Done." if answered else ToolCall("retrieve_learnings", {"query": "cancel a booking"})

    user = ScriptedTarget.playing(["[TASK_DONE]"], "user")
    run = attempt(StateBenchEnvironment(bench, "train", user, retrieve=retrieve), "cancel-none", ScriptedTarget(play))
    assert asked == [("cancel a booking", 3)]
    assert run.outcome.passed


def test_a_folder_that_is_no_checkout_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no checkout of STATE-Bench"):
        StateBench(tmp_path, "travel")


@pytest.mark.slow
@pytest.mark.parametrize(("domain", "passed"), [("travel", 78), ("customer_support", 82), ("shopping_assistant", 86)])
def test_every_result_of_the_real_train_runs_is_reproduced(domain: str, passed: int) -> None:
    checkout = os.environ.get("CONTRAMEM_STATE_BENCH")
    if not checkout:
        pytest.skip("$CONTRAMEM_STATE_BENCH names no checkout of microsoft/STATE-Bench")
    done = run_contramem("state-bench", "verdicts", checkout, domain, "--json")
    counts = json.loads(done.stdout)
    assert (counts["runs"], counts["passed"], counts["different"]) == (100, passed, 0)
