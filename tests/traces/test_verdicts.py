"""Verdicts that lie beside runs are found, and never taken from above the folder that was named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.readers.samples import CHAT, CLAUDE_STREAM, SWE_AGENT

from contramem.errors import UsageError
from contramem.traces.map import check_location
from contramem.traces.read import read_traces
from contramem.traces.reader import ReadOptions

RUN = {"task_id": "t1", "model": "m", "messages": CHAT}


def put(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("name", "content", "passed"),
    [
        pytest.param("report.json", {"t1": {"resolved": True}}, True, id="swe-bench-by-instance"),
        pytest.param("report.json", {"resolved": False}, False, id="swe-bench-of-one-run"),
        pytest.param("results.json", {"resolved_ids": ["t1"], "unresolved_ids": []}, True, id="listed-as-resolved"),
        pytest.param("results.json", {"resolved_ids": [], "unresolved_ids": ["t1"]}, False, id="listed-as-unresolved"),
        pytest.param(
            "results.json", [{"task_id": "t1", "reward": 0.0}, {"task_id": "t2", "reward": 1}], False, id="rows"
        ),
        pytest.param("result.json", {"verifier_result": {"rewards": {"reward": 1.0}}}, True, id="rewards"),
        pytest.param("result.json", {"task_id": "another", "passed": True}, None, id="about-another-task"),
        pytest.param("exit_code.txt", "1\n", False, id="exit-code"),
        pytest.param("reward.txt", "1.0", True, id="reward"),
        pytest.param("junit.xml", "<testsuite><testcase name='a'/></testsuite>", True, id="junit-passed"),
        pytest.param("junit.xml", "<t><testcase name='a'><failure/></testcase></t>", False, id="junit-failed"),
        pytest.param("junit.xml", "<!DOCTYPE x [<!ENTITY a 'b'>]><t><testcase/></t>", None, id="junit-with-entities"),
        pytest.param("report.json", "not json", None, id="unreadable"),
    ],
)
def test_a_file_beside_a_run_gives_its_verdict(tmp_path: Path, name: str, content: Any, passed: bool | None) -> None:
    put(tmp_path / "t1" / "run.json", RUN)
    put(tmp_path / "t1" / name, content)
    (run,) = read_traces([tmp_path])
    assert run.outcome.passed is passed


def test_a_tree_of_logs_that_mirrors_the_runs_gives_their_verdicts(tmp_path: Path) -> None:
    put(tmp_path / "trajs" / "t1" / "t1.traj", SWE_AGENT)
    put(tmp_path / "logs" / "t1" / "report.json", {"resolved": True})
    (run,) = read_traces([tmp_path])
    assert run.outcome.passed is True


def test_nothing_above_the_named_folder_is_looked_at(tmp_path: Path) -> None:
    put(tmp_path / "report.json", {"resolved": True})
    put(tmp_path / "runs" / "run.json", RUN)
    (run,) = read_traces([tmp_path / "runs"])
    assert run.outcome.passed is None


def test_a_run_that_knows_its_verdict_keeps_it(tmp_path: Path) -> None:
    put(tmp_path / "run.json", {**RUN, "passed": False})
    put(tmp_path / "report.json", {"resolved": True})
    (run,) = read_traces([tmp_path])
    assert run.outcome.passed is False


def test_a_session_inside_a_harbor_trial_is_a_run_of_that_trial(tmp_path: Path) -> None:
    trial = {"trial_name": "t1__x", "task_name": "t1", "agent_info": {"name": "claude-code"}, "source": "bench"}
    put(tmp_path / "t1__x" / "result.json", {**trial, "verifier_result": {"rewards": {"reward": 1.0}}})
    put(tmp_path / "t1__x" / "agent" / "sessions" / "s.jsonl", "\n".join(map(json.dumps, CLAUDE_STREAM)))
    reading = read_traces([tmp_path])
    (run,) = reading
    assert (run.environment, run.task_id, run.run) == ("harbor/bench", "t1", "t1__x")
    assert (run.source, run.outcome.passed) == ("claude-code/m-1", True)
    assert not reading.skipped


def test_fields_are_taken_from_the_path_and_from_other_files(tmp_path: Path) -> None:
    put(tmp_path / "fast" / "mail-bob" / "run.json", {"messages": CHAT})
    put(tmp_path / "fast" / "verdict.json", {"judged": {"ok": 1}})
    fields = {"source": "path:1", "task_id": "path:-2", "outcome": "file:../verdict.json#judged.ok"}
    (run,) = read_traces([tmp_path], ReadOptions(fields=fields))
    assert (run.source, run.task_id, run.outcome.passed) == ("fast", "mail-bob", True)


@pytest.mark.parametrize(("field", "place"), [("source", "path:0"), ("source", "path:x"), ("tools", "path:1")])
def test_a_malformed_location_is_refused(field: str, place: str) -> None:
    with pytest.raises(UsageError, match="--map"):
        check_location(field, place)
