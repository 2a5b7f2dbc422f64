"""Inspect logs. What needs the inspect-ai package is skipped without it; knowing a log when one sees it is not."""

from __future__ import annotations

import gc
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from contramem.traces.files import TraceFile
from contramem.traces.read import TraceReading, read_traces, readers
from contramem.traces.reader import ReadOptions
from contramem.traces.trajectory import Trajectory


@pytest.fixture
def inspect_ai() -> Any:
    return pytest.importorskip("inspect_ai", reason="Inspect logs are read with inspect-ai: install contramem[inspect]")


CALL = {"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"}


def sample(number: int = 1, **more: Any) -> dict[str, Any]:
    """One model lists a folder and answers."""
    return {
        "id": f"s{number}",
        "epoch": 2,
        "input": "Which file is there?",
        "target": "a.txt",
        "messages": [
            {"role": "system", "content": "You are a helper."},
            {"role": "user", "content": "Which file is there?"},
            {"role": "assistant", "content": "I look.", "tool_calls": [CALL]},
            {"role": "tool", "content": "a.txt", "tool_call_id": "c1", "function": "bash"},
            {"role": "assistant", "content": "a.txt"},
        ],
        "scores": {"includes": {"value": "C", "explanation": "found it"}},
        "model_usage": {
            "acme/m-large": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
            "acme/grader": {"input_tokens": 50, "output_tokens": 20, "total_tokens": 70},
        },
        **more,
    }


def log(*samples: Any) -> dict[str, Any]:
    about = {
        "task": "files",
        "task_id": "1",
        "run_id": "1",
        "created": "2026-01-01T00:00:00Z",
        "dataset": {},
        "model": "acme/m-large",
        "config": {},
    }
    score = {"name": "includes", "scorer": "includes", "metrics": {}}
    return {
        "version": 2,
        "status": "success",
        "eval": about,
        "results": {"total_samples": 1, "completed_samples": 1, "scores": [score]},
        "samples": list(samples),
    }


def read(folder: Path, *samples: Any, options: ReadOptions | None = None) -> tuple[list[Trajectory], TraceReading]:
    (folder / "log.json").write_text(json.dumps(log(*samples)))
    reading = read_traces([folder], options)
    return list(reading), reading


@pytest.mark.parametrize("name", ["header.json", "_journal/start.json"])
def test_a_log_is_known_without_the_package(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr(name, "{}")
    (tmp_path / "b.json").write_text(json.dumps(log()))
    assert readers()["inspect"].claims(TraceFile(tmp_path / "a.eval"))
    assert readers()["inspect"].claims(TraceFile(tmp_path / "b.json"))


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.eval", b"PK\x03\x04 no zip"), ("b.json", b'{"eval": "x", "version": 1}'), ("c.json", b"[]")],
)
def test_what_only_looks_like_a_log_is_not_claimed(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert not readers()["inspect"].claims(TraceFile(tmp_path / name))


def test_without_the_package_the_problem_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    reading = read_traces([tmp_path])
    assert list(reading) == []
    assert "install contramem[inspect]" in reading.problems[0].hint


def test_a_plain_log_reads_the_same_without_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inspect_ai: Any, shared_data: Path
) -> None:
    (tmp_path / "log.json").write_text(json.dumps(log(sample(), sample(2))))
    files = [tmp_path / "log.json", *sorted((shared_data / "formats" / "inspect").glob("*.json"))]
    by_package = list(read_traces(files))
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    assert list(read_traces(files)) == by_package


def test_a_sample_is_a_run(tmp_path: Path, inspect_ai: Any) -> None:
    [run], reading = read(tmp_path, sample())
    assert reading.problems == []
    assert (run.environment, run.task_id, run.run, run.source) == ("inspect/files", "s1", "2", "acme/m-large")
    assert (run.task, run.authored, run.ability) == ("Which file is there?", True, "files")
    assert run.system == "You are a helper."
    assert (run.outcome.passed, run.outcome.reward, run.outcome.feedback) == (True, 1.0, "found it")
    assert [(event.kind, event.text or event.function) for event in run.events] == [
        ("message", "Which file is there?"),
        ("message", "I look."),
        ("call", "shell.ls"),
        ("final", "a.txt"),
    ]
    assert run.calls[0].result is not None and run.calls[0].result.content == "a.txt"
    assert (run.usage.tokens_in, run.usage.tokens_out) == (5, 2), "the grader's tokens are not the model's"


@pytest.mark.parametrize(
    ("value", "passed", "reward"),
    [
        ("C", True, 1.0),
        ("I", False, 0.0),
        ("P", False, 0.5),
        ("N", False, 0.0),
        (1, True, 1.0),
        (0.7, False, 0.7),
        (True, True, 1.0),
        ("yes", True, 1.0),
        ("blue", None, None),
        ({"a": 1, "b": 0}, None, None),
    ],
)
def test_score_values(tmp_path: Path, inspect_ai: Any, value: Any, passed: bool | None, reward: float | None) -> None:
    [run], _ = read(tmp_path, sample(scores={"includes": {"value": value}}))
    assert (run.outcome.passed, run.outcome.reward) == (passed, reward)


@pytest.mark.parametrize(("wanted", "passed"), [(None, True), ("style", False), ("parts.b", True), ("missing", None)])
def test_of_several_scorers_the_logs_first_decides_or_the_one_named(
    tmp_path: Path, inspect_ai: Any, wanted: str | None, passed: bool | None
) -> None:
    scores = {"style": {"value": "I"}, "includes": {"value": "C"}, "parts": {"value": {"a": 0, "b": 1}}}
    options = ReadOptions(fields={"outcome": wanted} if wanted else {})
    [run], _ = read(tmp_path, sample(scores=scores), options=options)
    assert run.outcome.passed is passed


def test_errors_interrupt_and_limits_limit(tmp_path: Path, inspect_ai: Any) -> None:
    error = {"message": "connection lost", "traceback": "", "traceback_ansi": ""}
    runs, _ = read(
        tmp_path,
        sample(1, scores=None, error=error),
        sample(2, scores=None, limit={"type": "message", "limit": 3}),
        sample(3),
    )
    assert [run.outcome.ended for run in runs] == ["interrupted", "limit", "complete"]
    assert (runs[0].outcome.passed, runs[0].outcome.feedback) == (None, "connection lost")


def test_a_failed_call_has_its_error(tmp_path: Path, inspect_ai: Any) -> None:
    run = sample()
    run["messages"][3]["error"] = {"type": "timeout", "message": "took too long"}
    [read_run], _ = read(tmp_path, run)
    assert read_run.calls[0].result is not None and read_run.calls[0].result.error == "timeout: took too long"


def test_a_malformed_sample_does_not_stop_the_others(tmp_path: Path, inspect_ai: Any) -> None:
    runs, reading = read(tmp_path, sample(1), {"id": "s2", "epoch": 1, "messages": 7}, "no sample", sample(3))
    assert [run.task_id for run in runs] == ["s1", "s3"]
    assert [problem.where.rpartition(":")[2] for problem in reading.problems] == ["s2_epoch_1", "2"]


def test_a_truncated_log_is_a_problem(tmp_path: Path, inspect_ai: Any) -> None:
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("header.json", "{")
    reading = read_traces([tmp_path])
    assert list(reading) == []
    assert "inspect-ai cannot read it" in reading.problems[0].what


def test_real_logs_read_whole(shared_data: Path, inspect_ai: Any) -> None:
    reading = read_traces([shared_data / "formats" / "inspect"])
    runs = list(reading)
    assert len(runs) == 17
    assert reading.problems == []
    by_file = {run.origin.file.rpartition("/")[2]: run for run in runs}
    assert by_file["log_formats.eval"].events == by_file["log_formats.json"].events


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # inspect-ai's own
def test_a_log_written_today_keeps_the_submit_call_and_leaves_the_grader_out(tmp_path: Path, inspect_ai: Any) -> None:
    """react() answers with `submit`, which it takes out of the messages; a model grades; the log is a zstd zip."""
    log_file = evaluated(inspect_ai, tmp_path)
    with zipfile.ZipFile(log_file) as archive:
        assert {info.compress_type for info in archive.infolist()} == {93}
    runs = list(read_traces([tmp_path]))
    assert [(run.task_id, run.run) for run in runs] == [("1", "1"), ("1", "2")]
    for run in runs:
        assert [call.function for call in run.calls] == ["mailing.look", "mailing.submit"]
        assert run.calls[-1].effect == "finalize"
        assert run.outcome.passed is True
        assert "GRADE" not in str(run.events)
        assert run.usage.model_calls == 2 and run.usage.tokens_in == 20
        assert {tool.function for tool in run.tools} == {"mailing.look", "mailing.submit"}


def evaluated(inspect_ai: Any, folder: Path) -> Path:
    from inspect_ai.agent import react
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import model_graded_fact
    from inspect_ai.tool import Tool, tool

    @tool
    def look() -> Tool:
        async def execute(name: str) -> str:
            """Look a person up.

            Args:
                name: Whom to look up.
            """
            return f"{name} is id-7"

        return execute

    def reply(output: ModelOutput) -> ModelOutput:
        output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)  # else tokens are counted online
        return output

    def turns() -> list[ModelOutput]:
        calls = [("look", {"name": "Bob"}), ("submit", {"answer": "id-7"})]
        return [reply(ModelOutput.for_tool_call("mockllm/model", name, given)) for name, given in calls]

    agent = get_model("mockllm/model", custom_outputs=[*turns(), *turns()])
    grader = get_model("mockllm/grader", custom_outputs=[reply(ModelOutput.from_content("g", "GRADE: C"))] * 2)
    task = inspect_ai.Task(
        dataset=[Sample(input="Who is Bob?", target="id-7")],
        solver=react(tools=[look()]),
        scorer=model_graded_fact(model=grader),
        epochs=2,
        name="mailing",
    )
    [made] = inspect_ai.eval(task, model=agent, log_dir=str(folder), log_format="eval", display="none", max_samples=1)
    assert made.status == "success", made.error
    gc.collect()  # streams that inspect-ai leaves open complain here, not in the next test
    return Path(made.location.removeprefix("file://"))
