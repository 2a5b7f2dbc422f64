"""Every framework and platform that we read tells the same story the same way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.readers.block_samples import BLOCK_SAMPLES
from tests.traces.readers.samples import FAILED, FIRST, OTHERS, SAMPLES, SECOND, TASK, TERMINAL_LOG, WORKED
from tests.traces.readers.span_samples import SPAN_SAMPLES

from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory

JUDGED = {"openhands-output": True, "langsmith": True, "langfuse": False, "mlflow": True, "weave": True,
          "openinference": True, "langfuse-download": False, "braintrust": True,
          "braintrust-fetched": False, "opik": True}  # fmt: skip
NAMED = {"steps", "sharegpt", "smolagents", "openhands-output", "swe-agent", "langsmith", "langfuse", "mlflow", "weave",
         "openai-agents", "openinference", "openinference-rows", "verifiers", *SPAN_SAMPLES}  # fmt: skip
ALL_SAMPLES = SAMPLES | SPAN_SAMPLES | BLOCK_SAMPLES


def write(path: Path, content: Any) -> Path:
    lines = path.suffix == ".jsonl"
    path.write_text("\n".join(map(json.dumps, content)) if lines else json.dumps(content))
    return path


def read_only_run(path: Path) -> Trajectory:
    reading = read_traces([path])
    runs = list(reading)
    assert not reading.problems, reading.problems
    (run,) = runs
    return run


@pytest.mark.parametrize("name", ALL_SAMPLES)
def test_a_sample_reads_as_one_failed_and_one_working_call(tmp_path: Path, name: str) -> None:
    file, content = ALL_SAMPLES[name]
    run = read_only_run(write(tmp_path / file, content))
    sends = [call for call in run.calls if call.function.endswith(".send")]
    assert [call.arguments for call in sends] == [FIRST, SECOND]
    first, second = (call.result for call in sends)
    assert first is not None and second is not None
    assert FAILED in str(first.error)
    assert (second.content, second.error) == (WORKED, None)
    assert TASK in run.task
    assert run.events[-1].kind == "final" and run.events[-1].text == "Done."


@pytest.mark.parametrize("name", ALL_SAMPLES)
def test_a_sample_names_its_task_source_and_outcome_where_the_format_does(tmp_path: Path, name: str) -> None:
    file, content = ALL_SAMPLES[name]
    run = read_only_run(write(tmp_path / file, content))
    assert run.source == {"openhands-sdk": "openhands", "openai-responses": "unknown"}.get(name, "m-1")
    assert (run.task_id == "t1") == (name in NAMED)
    assert run.outcome.passed is JUDGED.get(name)


def test_a_call_that_raised_in_smolagents_is_read_from_what_the_model_asked_for(tmp_path: Path) -> None:
    """Version 1.26 lists no call of a step that failed, and gives the final answer as an observation only."""
    task, failed, worked, last = SAMPLES["smolagents"][1]["steps"]
    asked = {"role": "assistant", "tool_calls": failed["tool_calls"]}
    failed = {**failed, "tool_calls": [], "model_output_message": asked}
    run = read_only_run(write(tmp_path / "memory.json", [task, failed, worked, {**last, "action_output": None}]))
    assert [(call.arguments, bool(call.result and call.result.error)) for call in run.calls][:2] == [
        (FIRST, True),
        (SECOND, False),
    ]
    assert run.events[-1].kind == "final" and run.events[-1].text == "Done."


def test_a_weave_evaluation_as_its_library_writes_it(tmp_path: Path) -> None:
    """The example is a reference, an exception is JSON, and a scorer is a call like any other."""

    def call(number: int, name: str, parent: int | None, **fields: Any) -> dict[str, Any]:
        about = {"id": f"i{number}", "trace_id": "x", "parent_id": None if parent is None else f"i{parent}"}
        return {**about, "op_name": f"weave:///a/b/op/{name}:v1", "started_at": f"2026-01-01T00:00:0{number}", **fields}

    thrown = json.dumps({"type": "ValueError", "message": "unknown recipient", "traceback": "..."})
    calls = [
        call(0, "Evaluation.evaluate", None, inputs={}),
        call(1, "Evaluation.predict_and_score", 0, inputs={"example": "weave:///a/b/object/Dataset:d/attr/rows/id/r7"},
             output={"scores": {"Right": {"passed": True}}}),
        call(2, "Agent.predict", 1, inputs={"self": "weave:///a/b/object/Agent:v1"}),
        call(3, "send", 2, inputs={"to": "Bob"}, exception=thrown),
        call(4, "Right.score", 1, inputs={"output": "Done."}, output={"passed": True}),
    ]  # fmt: skip
    run = read_only_run(write(tmp_path / "calls.jsonl", calls))
    (sent,) = run.calls
    assert (run.task_id, run.outcome.passed) == ("r7", True)
    assert sent.result is not None and sent.result.error == "ValueError: unknown recipient"


def test_an_old_swe_agent_file_reads_each_step_as_a_shell_command(tmp_path: Path) -> None:
    run = read_only_run(write(tmp_path / "t1.traj", OTHERS["swe-agent"][1]))
    assert [call.function for call in run.calls] == ["shell.send", "shell.send"]
    assert [bool(call.result and call.result.error) for call in run.calls] == [True, False]


def test_code_that_a_terminal_of_a_group_chat_ran_is_a_call_with_its_exit_code(tmp_path: Path) -> None:
    run = read_only_run(write(tmp_path / "ag2.json", OTHERS["group-chat"][1]))
    assert (run.task_id, run.task, run.outcome.passed) == ("t1", TASK, True)
    assert [call.function for call in run.calls] == ["group-chat.python"] * 2
    assert [bool(call.result and call.result.error) for call in run.calls] == [True, False]


def test_a_member_that_the_orchestrator_hands_a_step_to_is_called_like_a_tool(tmp_path: Path) -> None:
    run = read_only_run(write(tmp_path / "magentic.json", OTHERS["group-chat-magentic"][1]))
    assert [(call.function, call.result and call.result.content) for call in run.calls] == [
        ("group-chat.WebSurfer", "Bob is id-7."),
        ("group-chat.Assistant", "Sent."),
    ]
    assert run.outcome.passed is False


def test_a_terminal_bench_trial_is_read_from_its_log(tmp_path: Path) -> None:
    trial = tmp_path / "run" / "t1" / "t1.1-of-1"
    (trial / "sessions").mkdir(parents=True)
    write(trial / "results.json", OTHERS["terminal-bench"][1])
    (trial / "sessions" / "agent.log").write_text(TERMINAL_LOG)
    write(tmp_path / "run" / "run_metadata.json", {"agent_name": "terminus", "model_name": "m-1"})
    (run,) = read_traces([tmp_path])
    assert (run.task_id, run.source, run.outcome.passed) == ("t1", "terminus/m-1", True)
    assert [call.arguments["command"] for call in run.calls] == ["send Bob", "send id-7"]


def test_a_folder_of_openhands_events_is_one_run(tmp_path: Path) -> None:
    folder = tmp_path / "conversation" / "events"
    folder.mkdir(parents=True)
    write(tmp_path / "conversation" / "base_state.json", {"agent": {"llm": {"model": "m-1"}}})
    for number, event in enumerate(SAMPLES["openhands-sdk"][1]):
        write(folder / f"event-{number:05d}-x.json", event)
    (run,) = read_traces([tmp_path])
    assert (run.source, run.run, len(run.calls)) == ("m-1", "conversation", 2)


def test_messages_one_per_line_are_one_run(tmp_path: Path) -> None:
    run = read_only_run(write(tmp_path / "lines.jsonl", SAMPLES["langchain"][1]))
    assert len(run.calls) == 2


def test_records_of_framework_messages_take_the_fields_of_chat_records(tmp_path: Path) -> None:
    record = {"task_id": "a", "model": "m", "passed": False, "messages": SAMPLES["langchain"][1]}
    run = read_only_run(write(tmp_path / "records.jsonl", [record]))
    assert (run.task_id, run.source, run.outcome.passed) == ("a", "m", False)


def test_phoenix_rows_read_the_same_from_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [
        {**row, "attributes.metadata": json.dumps(row.get("attributes.metadata"))}
        for row in SAMPLES["openinference-rows"][1]
    ]
    columns = sorted({name for row in rows for name in row} - {"events"})
    table = pyarrow.Table.from_pylist([{name: row.get(name) for name in columns} for row in rows])
    parquet.write_table(table, tmp_path / "frame.parquet")
    run = read_only_run(tmp_path / "frame.parquet")
    assert [call.arguments for call in run.calls] == [FIRST, SECOND]


def test_a_cline_result_belongs_to_the_call_of_its_tool_in_the_turn_before(tmp_path: Path) -> None:
    """A call that was never answered takes no result of a later turn, and the user's feedback is the user's."""
    calls = [{"type": "tool_use", "id": name, "name": name, "input": {}} for name in ("look", "send")]
    answers = ["[send for 'x'] Result:\nsent", "<feedback>\nAgain.\n</feedback>", "# TODO LIST\nmind it"]
    messages = [
        SAMPLES["cline"][1][0],
        {"role": "assistant", "content": calls},
        {"role": "user", "content": [{"type": "text", "text": text} for text in answers]},
    ]
    run = read_only_run(write(tmp_path / "api_conversation_history.json", messages))
    assert [(call.function.rpartition(".")[2], call.result and call.result.content) for call in run.calls] == [
        ("look", None),
        ("send", "sent"),
    ]
    assert [event.text for event in run.events if event.actor == "user"] == [TASK, "Again."]


def test_one_document_that_was_saved_as_json_lines_is_read_as_a_document(tmp_path: Path) -> None:
    file = tmp_path / "full.jsonl"
    file.write_text(json.dumps(SAMPLES["gemini-cli"][1], indent=2))
    assert len(read_only_run(file).calls) == 2
