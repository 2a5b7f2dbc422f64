"""AppWorld over HTTP, against a server of ours with the same routes. The real server and its data were not used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.lab.bench.appworld_server import serve, write_root
from tests.lab.bench.appworld_target import careful, cell, follower, hasty

from contramem.cli import main
from contramem.errors import UsageError
from contramem.inject.provider import TextMemory
from contramem_lab.appworld import AppWorldEnvironment
from contramem_lab.environment import Limits
from contramem_lab.target import ScriptedTarget

LIMITS = Limits(steps=6)


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[AppWorldEnvironment]:
    with serve() as url:
        yield AppWorldEnvironment(url, write_root(tmp_path), ("train", "test_normal"))


def test_tasks_come_from_the_data_sets_and_scenarios_from_their_ids(environment: AppWorldEnvironment) -> None:
    tasks = environment.tasks()
    assert list(tasks) == ["aa1_1", "aa1_2", "bb2_1", "bb2_2"]
    assert (tasks["bb2_1"].family, tasks["bb2_1"].ability) == ("bb2", "test_normal")
    assert tasks["aa1_1"].wording == "Add milk to my shopping list."


def test_every_documented_api_is_a_tool_with_its_parameters(environment: AppWorldEnvironment) -> None:
    tools = {tool.function: tool for tool in environment.tools("aa1_1")}
    assert tools["notes.add_item"].parameters["required"] == ["item", "access_token"]
    assert set(tools) >= {"notes.login", "supervisor.complete_task"}


def test_a_cell_becomes_calls_with_their_results_and_the_verdict_is_the_servers(
    environment: AppWorldEnvironment,
) -> None:
    run = environment.attempt("aa1_1", careful(), None, LIMITS)
    assert run.outcome.passed and run.outcome.ended == "complete"
    assert [event.function for event in run.calls] == [
        "supervisor.show_account_passwords", "notes.login", "notes.add_item", "supervisor.complete_task",
    ]  # fmt: skip
    added = run.calls[2]
    assert added.arguments == {"item": "milk"}
    assert added.result is not None and added.result.content == {"item": "milk", "count": 1}
    assert "pw-7781" not in str(run)


def test_a_cell_that_fails_gives_its_last_call_the_error(environment: AppWorldEnvironment) -> None:
    run = environment.attempt("aa1_1", hasty(), None, LIMITS)
    assert run.outcome.passed is False
    assert "the list is exactly [milk]" in run.outcome.feedback
    assert run.calls[0].result is not None and "401" in (run.calls[0].result.error or "")


def test_guidance_is_shown_once_at_the_start(environment: AppWorldEnvironment) -> None:
    memory = TextMemory(lambda query: "Call `notes.login` before `notes.add_item`.")
    assert environment.attempt("bb2_1", follower(), None, LIMITS).outcome.passed is False
    run = environment.attempt("bb2_1", follower(), memory, LIMITS)
    assert run.outcome.passed
    assert [shown.text for shown in run.guidance] == ["Call `notes.login` before `notes.add_item`."]


@pytest.mark.parametrize("reply", ["I only think.", cell("x = 1")])
def test_a_target_that_never_finishes_meets_the_limit_and_is_judged(
    environment: AppWorldEnvironment, reply: str
) -> None:
    run = environment.attempt("aa1_1", ScriptedTarget(lambda messages, tools: reply), None, LIMITS)
    assert (run.outcome.passed, run.outcome.ended) == (False, "limit")
    assert "6 steps" in run.outcome.feedback


def test_an_unreachable_server_is_reported_with_the_command_that_starts_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="appworld serve environment"):
        AppWorldEnvironment("http://127.0.0.1:9", write_root(tmp_path), ("train",)).tasks()


def test_a_missing_data_set_is_reported_with_the_command_that_downloads_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="appworld download data"):
        AppWorldEnvironment("http://127.0.0.1:9", tmp_path).tasks()


def test_the_command_runs_a_data_set_and_goes_on_where_it_stopped(
    environment: AppWorldEnvironment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = f"{Path(__file__).with_name('appworld_target.py')}:careful"
    asked = ["lab", "bench", "appworld", str(tmp_path), "--server", environment.url, "--engine", engine, "--json",
             "--out", str(tmp_path / "out")]  # fmt: skip
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            main(asked)
        assert not ended.value.code
        rows = json.loads(capsys.readouterr().out)["runs"]
        assert [row["passed"] for row in rows] == [True, True]
    assert len(list((tmp_path / "out" / "runs").rglob("*.jsonl"))) == 2
