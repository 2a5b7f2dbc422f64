"""Logs of a team's own making: steps under any of the usual names, in JSON lines or a CSV table."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from contramem.cli import cli
from contramem.traces.read import read_traces
from contramem.traces.readers.steps import StepCall, call_in


@pytest.mark.parametrize(
    "step",
    [
        pytest.param({"tool": "pay", "args": {"n": 1}, "result": "ok"}, id="flat"),
        pytest.param({"action": {"tool": "pay", "input": {"n": 1}}, "observation": "ok"}, id="action-object"),
        pytest.param({"action": "pay", "action_input": {"n": 1}, "output": "ok"}, id="react"),
        pytest.param({"function": {"name": "pay", "arguments": {"n": 1}}, "response": "ok"}, id="function-object"),
    ],
)
def test_a_call_is_found_under_the_usual_names(step: dict[str, Any]) -> None:
    assert call_in(step) == StepCall("pay", {"n": 1}, "ok", "")


def test_a_step_that_only_says_something_is_no_call() -> None:
    assert call_in({"name": "planner", "text": "Let me think."}) is None


def write_log(path: Path) -> None:
    """Two agents at two cases: one pays, the other is refused."""
    rows = []
    for case in range(2):
        for agent, paid in (("alpha", True), ("beta", False)):
            steps = [{"action": {"tool": "pay", "input": {"n": case}}, "observation": "ok" if paid else "Error: no"}]
            about = {"id": f"{case}-{agent}", "case": f"case-{case}", "goal": f"Pay {case}"}
            rows.append({**about, "agent": {"name": agent}, "run": {"steps": steps}, "metrics": {"success": paid}})
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["case", "agent", "request", "tool_log", "resolved"])
            for row in rows:
                log = json.dumps(row["run"]["steps"])
                table.writerow([row["case"], row["agent"]["name"], row["goal"], log, row["metrics"]["success"]])
    else:
        path.write_text("\n".join(map(json.dumps, rows)))


@pytest.mark.parametrize("name", ["log.jsonl", "tickets.csv"])
def test_the_command_that_doctor_prints_for_an_unknown_log_reads_it(tmp_path: Path, name: str) -> None:
    write_log(tmp_path / name)
    doctor = CliRunner().invoke(cli, ["doctor", str(tmp_path / name)])
    words = shlex.split(doctor.output.splitlines()[-1])
    assert words[0] == "contramem"
    read = CliRunner().invoke(cli, [*words[1:], "--json"])
    assert read.exit_code == 0, read.output
    summary = json.loads(read.output)
    assert (summary["runs"], summary["passed"], summary["failed"], summary["contrastive_tasks"]) == (4, 2, 2, 2)


def test_a_table_without_steps_says_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    result = CliRunner().invoke(cli, ["traces", str(tmp_path / "t.csv"), "--format", "steps"])
    assert result.exit_code == 1 and "has no list of steps (keys: a, b)" in str(result.exception)


def test_the_plain_form_is_recognised(tmp_path: Path) -> None:
    run = {"task_id": "t", "source": "s", "passed": True, "task": "Pay.", "steps": [{"tool": "pay", "result": "ok"}]}
    (tmp_path / "runs.jsonl").write_text(json.dumps(run))
    reading = read_traces([tmp_path / "runs.jsonl"])
    (found,) = reading
    assert dict(reading.formats) == {"steps": 1} and found.outcome.passed is True
