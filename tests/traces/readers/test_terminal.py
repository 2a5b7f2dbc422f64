"""Harbor trials and bare ATIF files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contramem.traces.read import TraceReading, read_traces
from contramem.traces.trajectory import Trajectory

CALL = {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls"}}


def step(source: str, message: str, calls: Any = None, results: Any = None, **more: Any) -> dict[str, Any]:
    observation = {"observation": {"results": results}} if results is not None else {}
    return {"source": source, "message": message, **({"tool_calls": calls} if calls else {}), **observation, **more}


def atif(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One agent lists a folder and says that it is done."""
    tool = {"type": "function", "function": {"name": "bash", "description": "Run a command.", "parameters": {}}}
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": "session-1",
        "agent": {"name": "coder", "version": "1", "model_name": "m-large", "tool_definitions": [tool]},
        "steps": list(steps)
        or [
            step("system", "You are a coder."),
            step("user", "List the files."),
            step("agent", "I look.", [CALL], [{"source_call_id": "c1", "content": "a.txt"}]),
            step("agent", "There is a.txt.", metrics={"prompt_tokens": 5, "completion_tokens": 2, "cost_usd": 0.5}),
        ],
        **more,
    }


def trial(**more: Any) -> dict[str, Any]:
    return {
        "task_name": "list-files",
        "trial_name": "list-files__7abc",
        "source": "terminal-bench",
        "agent_info": {"name": "coder", "version": "1", "model_info": {"name": "m-large", "provider": "acme"}},
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        **more,
    }


def read(folder: Path, files: dict[str, Any]) -> tuple[list[Trajectory], TraceReading]:
    for name, document in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(document))
    reading = read_traces([folder])
    return list(reading), reading


def test_a_trial_takes_task_source_and_verdict_from_its_result(tmp_path: Path) -> None:
    [run], reading = read(tmp_path, {"t/agent/trajectory.json": atif(), "t/result.json": trial()})
    assert (run.environment, run.task_id, run.run) == ("harbor/terminal-bench", "list-files", "list-files__7abc")
    assert run.source == "coder/acme/m-large"
    assert (run.outcome.passed, run.outcome.reward) == (True, 1.0)
    assert run.task == "List the files."
    assert [tool.function for tool in run.tools] == ["coder.bash"]
    assert (run.usage.model_calls, run.usage.tokens_in, run.usage.cost_usd) == (2, 5, 0.5)
    assert reading.ignored == 0 and reading.problems == []


def test_calls_are_tied_to_the_results_of_their_step(tmp_path: Path) -> None:
    [run], _ = read(tmp_path, {"trajectory.json": atif()})
    [call] = run.calls
    assert call.arguments == {"command": "ls"}
    assert call.result is not None and call.result.content == "a.txt"
    assert run.events[-1].kind == "final"


def test_results_without_ids_are_tied_by_order_when_the_counts_match(tmp_path: Path) -> None:
    two = [CALL, {**CALL, "tool_call_id": "c2"}]
    tied = step("agent", "", two, [{"content": "first"}, {"content": "second"}])
    loose = step("agent", "", [{**CALL, "tool_call_id": "c3"}], [{"content": "x"}, {"content": "y"}])
    [run], _ = read(tmp_path, {"trajectory.json": atif(step("user", "go"), tied, loose)})
    assert [call.result.content if call.result else None for call in run.calls] == ["first", "second", None]
    assert [event.text for event in run.events if event.kind == "observation"] == ["x", "y"]


def test_a_producers_error_mark_is_an_error(tmp_path: Path) -> None:
    failed = {"source_call_id": "c1", "content": "no such file", "extra": {"tool_result_is_error": True}}
    [run], _ = read(tmp_path, {"trajectory.json": atif(step("user", "go"), step("agent", "", [CALL], [failed]))})
    assert run.calls[0].result is not None and run.calls[0].result.error == "no such file"


def test_a_bare_trajectory_has_no_verdict_and_is_grouped_by_its_prompt(tmp_path: Path) -> None:
    runs, _ = read(tmp_path, {"a.json": atif(), "b.json": atif(), "c.json": atif(step("user", "else"))})
    assert [run.outcome.passed for run in runs] == [None, None, None]
    assert runs[0].task_key == runs[1].task_key != runs[2].task_key


def test_a_trial_without_a_trajectory_is_counted(tmp_path: Path) -> None:
    runs, reading = read(tmp_path, {"t/result.json": trial()})
    assert runs == [] and dict(reading.skipped) == {"trial has no trajectory": 1}


def test_a_continuation_is_part_of_its_run_and_copied_context_is_not_told_twice(tmp_path: Path) -> None:
    main = atif(continued_trajectory_ref="trajectory.cont-1.json")
    more = atif(
        step("user", "List the files."),
        step("user", "You take over."),
        step("agent", "What was done?", is_copied_context=True),
        step("agent", "Now I stop."),
        step("user", "Thanks."),
    )
    [run], reading = read(tmp_path, {"trajectory.json": main, "trajectory.cont-1.json": more})
    assert [event.text for event in run.events if not event.function] == [
        "List the files.",
        "I look.",
        "There is a.txt.",
        "Now I stop.",
        "Thanks.",
    ]
    assert reading.problems == []


def test_half_a_run_is_a_problem(tmp_path: Path) -> None:
    runs, reading = read(tmp_path, {"trajectory.json": atif(continued_trajectory_ref="gone.json"), "ok.json": atif()})
    assert len(runs) == 1
    assert "gone.json" in reading.problems[0].what


@pytest.mark.parametrize("reference", ["../secret.json", "/etc/hostname", "x" * 5000, "a\0b"])
def test_a_trajectory_cannot_point_to_a_file_elsewhere(tmp_path: Path, reference: str) -> None:
    (tmp_path / "secret.json").write_text(json.dumps(atif(step("agent", "secret"))))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "trajectory.json").write_text(json.dumps(atif(continued_trajectory_ref=reference)))
    reading = read_traces([tmp_path / "in" / "trajectory.json"])
    assert list(reading) == []
    assert "not found beside it" in reading.problems[0].what


def test_trajectories_that_continue_each_other_in_a_circle_are_a_problem(tmp_path: Path) -> None:
    runs, reading = read(tmp_path, {"a.json": atif(continued_trajectory_ref="a.json")})
    assert runs == [] and "circle" in reading.problems[0].hint


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        pytest.param({"verifier_result": {"rewards": {"reward": 0.0}}}, (False, 0.0, "complete"), id="failed"),
        pytest.param(
            {"verifier_result": {"rewards": {"a": 1, "b": 0.5}}}, (False, 0.5, "complete"), id="all-must-pass"
        ),
        pytest.param({"verifier_result": {"rewards": {"reward": 1, "speed": 0}}}, (True, 1.0, "complete"), id="named"),
        pytest.param({"verifier_result": None}, (None, None, "complete"), id="not-verified"),
        pytest.param(
            {"verifier_result": None, "exception_info": {"exception_type": "AgentTimeoutError"}},
            (None, None, "limit"),
            id="time-out",
        ),
        pytest.param(
            {"verifier_result": None, "exception_info": {"exception_type": "APIConnectionError"}},
            (None, None, "interrupted"),
            id="cut-off",
        ),
    ],
)
def test_outcomes(tmp_path: Path, result: dict[str, Any], expected: tuple[object, ...]) -> None:
    [run], _ = read(tmp_path, {"t/agent/trajectory.json": atif(), "t/result.json": trial(**result)})
    assert (run.outcome.passed, run.outcome.reward, run.outcome.ended) == expected


def test_a_malformed_trajectory_does_not_stop_the_others(tmp_path: Path) -> None:
    runs, reading = read(tmp_path, {"bad.json": atif({"message": "who?"}), "good.json": atif()})
    assert len(runs) == 1
    assert "'source' is missing" in reading.problems[0].what


def test_real_trajectories_read_whole(shared_data: Path) -> None:
    reading = read_traces([shared_data / "formats" / "atif"])
    runs = list(reading)
    assert [run.source for run in runs] == ["openhands", "terminus-2/openai/gpt-4o"]
    assert reading.problems == []
    assert [len(run.tools) for run in runs] == [6, 0]


def test_the_official_model_sees_the_same_calls(shared_data: Path) -> None:
    atif_package = pytest.importorskip("atif", reason="the atif package is the oracle of this test")
    for run in read_traces([shared_data / "formats" / "atif" / "openhands_hello-world.trajectory.json"]):
        official = atif_package.Trajectory.model_validate_json(Path(run.origin.file).read_bytes())
        named = [call.function_name for each in official.steps for call in each.tool_calls or ()]
        assert [call.function.partition(".")[2] for call in run.calls] == named
