"""mini-swe-agent's trajectories, in both forms."""

import json
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.read import readers
from contramem.traces.reader import ReadOptions
from contramem.traces.trajectory import Trajectory

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


def step(command: str, thought: str = "THOUGHT: go on") -> dict[str, Any]:
    return {"role": "assistant", "content": thought, "extra": {"actions": [{"command": command}]}}


def answer(code: int, output: str) -> dict[str, Any]:
    return {"role": "user", "content": "...", "extra": {"returncode": code, "raw_output": output}}


def document(*messages: dict[str, Any], status: str = "Submitted") -> dict[str, Any]:
    opening = [{"role": "system", "content": "You have a shell."}, {"role": "user", "content": "Fix the parser."}]
    return {
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {
            "config": {"model": {"model_name": "model-a"}},
            "model_stats": {"api_calls": 3, "instance_cost": 0.5},
            "exit_status": status,
        },
        "messages": [*opening, *messages],
    }


def read(found: object, name: str = "runs/repo__repo-7.traj.json") -> Trajectory:
    file = TraceFile.of_bytes(name, json.dumps(found).encode())
    assert readers()["mini-swe-agent"].claims(file)
    (run,) = readers()["mini-swe-agent"].read(file, ReadOptions())
    assert isinstance(run, Trajectory)
    return run


def test_every_command_is_a_call_of_its_program_until_the_run_is_submitted() -> None:
    run = read(
        document(step("pytest -q"), answer(1, "1 failed"), step("sed -i s/a/b/ x.py"), answer(0, ""), step(SUBMIT))
    )
    assert (run.task_id, run.source, run.task) == ("repo__repo-7", "model-a", "Fix the parser.")
    assert [event.function for event in run.calls] == ["shell.pytest", "shell.sed"]
    assert [event.result and event.result.error for event in run.calls] == ["1 failed", None]
    assert run.events[-1].kind == "final"
    assert (run.usage.model_calls, run.usage.cost_usd) == (3, 0.5)
    assert (run.outcome.passed, run.outcome.ended) == (None, "complete")


def test_a_run_that_met_its_limits_says_so() -> None:
    assert read(document(step("ls"), answer(0, "x"), status="LimitsExceeded")).outcome.ended == "limit"
    assert read(document(step("ls"), answer(0, "x"), status="BadRequestError")).outcome.ended == "interrupted"


def test_the_plain_list_of_version_1_is_read_by_its_code_blocks() -> None:
    run = read(
        [
            {"role": "system", "content": "You have a shell."},
            {"role": "user", "content": "Fix the parser."},
            {"role": "assistant", "content": "I look.\n```bash\ncd src && grep -rn parse .\n```"},
            {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py:1\n</output>"},
            {"role": "assistant", "content": f"Done.\n```bash\n{SUBMIT}\n```"},
            {"role": "user", "content": "diff --git a b"},
        ],
        "small-model/repo__repo-7.traj.json",
    )
    assert run.source == "small-model"
    assert [event.function for event in run.calls] == ["shell.grep"]
    assert run.events[-1].text == "Done."
