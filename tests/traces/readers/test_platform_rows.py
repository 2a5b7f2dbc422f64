"""Platforms that export each step as a row: Braintrust and Opik."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.readers.samples import CHAT, FAILED, FIRST, LANGCHAIN, PYDANTIC_AI, SECOND, TASK, WORKED
from tests.traces.readers.span_samples import BRAINTRUST, OPIK, OPIK_SPANS, braintrust, braintrust_model, opik
from tests.traces.readers.test_frameworks import read_only_run, write

from contramem.traces.files import TraceFile
from contramem.traces.read import claiming_readers, read_traces
from contramem.traces.readers.platform_rows import without_traceback
from contramem.traces.trajectory import Trajectory


def calls_of(run: Trajectory) -> list[tuple[Any, ...]]:
    return [(call.arguments, call.result and call.result.content) for call in run.calls]


def read_rows(tmp_path: Path, *rows: dict[str, Any]) -> Trajectory:
    return read_only_run(write(tmp_path / "rows.jsonl", rows))


@pytest.mark.parametrize("sample", [("experiment.jsonl", BRAINTRUST), ("trace.json", OPIK)], ids=["braintrust", "opik"])
def test_what_a_scorer_does_is_no_part_of_the_run(tmp_path: Path, sample: tuple[str, Any]) -> None:
    run = read_only_run(write(tmp_path / sample[0], sample[1]))
    assert (run.source, run.usage.model_calls) == ("m-1", 3)
    assert "Is it right?" not in [event.text for event in run.events]


def test_traces_of_one_file_are_told_apart_in_any_order(tmp_path: Path) -> None:
    other = [{**row, "root_span_id": "trace-2"} for row in BRAINTRUST]
    mixed = [row for pair in zip(BRAINTRUST, other, strict=True) for row in pair]
    runs = list(read_traces([write(tmp_path / "two.jsonl", mixed[::-1])]))
    assert sorted((run.run, len(run.calls)) for run in runs) == [("trace-1", 2), ("trace-2", 2)]


@pytest.mark.parametrize(
    "first", [*BRAINTRUST, *OPIK["spans"], {**OPIK["trace"], "project_id": "p"}], ids=lambda row: str(row["id"])
)
def test_a_file_is_recognised_by_any_of_its_rows(first: dict[str, Any]) -> None:
    """What a step was given and gave back looks like a conversation, and like a call to a model."""
    answer = {"messages": [line["data"] for line in LANGCHAIN]}
    for row in (first, {**first, "output": answer}, {**first, "input": {"messages": CHAT[:1]}, "output": CHAT[1]}):
        file = TraceFile.of_bytes("rows.jsonl", b"\n".join([json.dumps(row).encode()] * 2))
        claimed = [reader.name for reader in claiming_readers(file)]
        assert claimed == (["braintrust"] if first in BRAINTRUST else ["opik"])


def test_a_trace_and_its_spans_may_stand_beside_each_other(tmp_path: Path) -> None:
    run = read_only_run(write(tmp_path / "all.jsonl", [*OPIK["spans"], OPIK["trace"]]))
    assert (run.task_id, run.run, run.task, run.outcome.passed) == ("t1", "thread-1", TASK, True)
    assert run.outcome.ended == "complete", "the failure of a tool is none of the run's"


@pytest.mark.parametrize(("row", "name"), [(BRAINTRUST[2], "root_span_id"), (OPIK_SPANS[2], "start_time")])
def test_a_damaged_row_is_named_and_the_others_are_read(tmp_path: Path, row: dict[str, Any], name: str) -> None:
    rows = BRAINTRUST if row in BRAINTRUST else OPIK_SPANS
    damaged = [{key: value for key, value in row.items() if key != name} if each is row else each for each in rows]
    reading = read_traces([write(tmp_path / "rows.jsonl", damaged)])
    (run,) = reading
    assert run.calls
    (problem,) = reading.problems
    assert problem.where.endswith("rows.jsonl:3") and name in problem.what


def test_a_loop_that_logs_no_call_of_its_model_answers_after_its_tools(tmp_path: Path) -> None:
    """As the Vercel AI SDK's plugin logs it. A tool is given its arguments and the context of the call."""
    given = [SECOND, {"toolCallId": "c1", "messages": CHAT[:1]}]
    loop = braintrust("llm", 1, "generateText", input={"prompt": TASK}, output={"text": "Done.", "steps": []})
    loop["metrics"]["end"] += 5
    tool = braintrust("tool", 2, "send", input=given, output=WORKED, span_parents=["s1"])
    run = read_rows(tmp_path, braintrust("task", 0, "root"), loop, tool)
    assert [(event.kind, event.text) for event in run.events if event.text] == [("message", TASK), ("final", "Done.")]
    assert calls_of(run) == [(SECOND, WORKED)]


def test_a_model_step_around_other_model_steps_is_not_one_more(tmp_path: Path) -> None:
    around = braintrust("llm", 0, "agent_run", input=TASK, output="Done.", metadata={"model": "m-1", "prompt": "x"})
    run = read_rows(tmp_path, around, *BRAINTRUST[1:6])
    assert (run.usage.model_calls, len(run.calls), run.events[-1].text) == (3, 2, "Done.")


def test_a_call_that_is_logged_twice_counts_once(tmp_path: Path) -> None:
    """Braintrust logs PydanticAI's calls where they run, and once more on the agent."""
    ids = {"metadata": {"tool_call_id": "c1"}}
    agent = braintrust("task", 1, "agent_run")
    again = braintrust("tool", 2, "send", input=FIRST, output=FAILED, **ids)
    inner = braintrust("tool", 3, "send", input=FIRST, error=f"ToolRetryError: {FAILED}", span_parents=["s1"], **ids)
    (call,) = read_rows(tmp_path, braintrust("task", 0, "root", input=TASK), agent, again, inner).calls
    assert call.result is not None and call.result.error == f"ToolRetryError: {FAILED}"


def test_a_call_that_only_a_later_request_shows_is_that_of_the_tool(tmp_path: Path) -> None:
    """Braintrust's handler for LangChain writes a model's reply without its calls."""
    reply = {"generations": [[{"message": {"type": "ai", "content": ""}}]]}
    said = [line["data"] for line in LANGCHAIN]
    rows = [
        braintrust("task", 0, "LangGraph", input={"messages": [["user", TASK]]}, output={"messages": said}),
        braintrust("llm", 1, "ChatX", input=[said[:1]], output=reply),
        braintrust("tool", 2, "send", input=FIRST, error=FAILED),
        braintrust("llm", 3, "ChatX", input=[said[:3]], output=reply),
        braintrust("tool", 4, "send", input=SECOND, output=said[4]),
        braintrust("llm", 5, "ChatX", input=[said[:5]], output={"generations": [[{"message": said[5]}]]}),
    ]
    run = read_rows(tmp_path, *rows)
    assert (run.task, calls_of(run)) == (TASK, [(FIRST, None), (SECOND, WORKED)])


def test_messages_of_pydantic_ai_are_read_where_a_platform_logs_them(tmp_path: Path) -> None:
    model = braintrust("llm", 1, "chat", input={"messages": PYDANTIC_AI[:-1]}, output=PYDANTIC_AI[-1])
    run = read_rows(tmp_path, braintrust("task", 0, "agent"), model)
    assert (run.task, [call.arguments for call in run.calls]) == (TASK, [FIRST, SECOND])
    assert run.events[-1].text == "Done."


def test_a_tool_of_claudes_sdk_answers_with_a_block(tmp_path: Path) -> None:
    answer = {"content": [{"type": "text", "text": FAILED}], "is_error": True}
    tool = braintrust("tool", 1, "tool: mail/send", input=FIRST, output=answer)
    (call,) = read_rows(tmp_path, braintrust("task", 0, "root"), tool).calls
    assert call.function.endswith(".send")
    assert call.result is not None and (call.result.content, call.result.error) == (FAILED, FAILED)


def test_a_tool_of_the_vercel_sdk_is_named_by_what_it_was_given(tmp_path: Path) -> None:
    tool = opik("tool", 1, "ai.toolCall", {"toolName": "send", "args": SECOND}, {"result": WORKED})
    run = read_rows(tmp_path, tool)
    assert run.calls[0].function.endswith(".send") and calls_of(run) == [(SECOND, WORKED)]


def test_spans_of_an_evaluation_name_their_item_in_its_scoring(tmp_path: Path) -> None:
    scoring = opik("general", 6, "metrics_calculation", {"test_case_": {"dataset_item_id": "t2"}}, None)
    root = opik("general", 0, "agent", {"query": TASK}, None)
    assert read_rows(tmp_path, root, *OPIK["spans"][:5], scoring).task_id == "t2"


def test_prompts_and_guardrails_that_opik_types_as_tools_are_none(tmp_path: Path) -> None:
    prompt = opik("tool", 1, "ChatPromptTemplate", {"name": "Bob"}, {"output": "Mail Bob"})
    guard = opik("tool", 2, "no_spam", None, None, metadata={"type": "guardrail", "triggered": False})
    run = read_rows(tmp_path, prompt, guard, opik("tool", 3, "send", SECOND, {"output": WORKED}))
    assert calls_of(run) == [(SECOND, WORKED)]


@pytest.mark.parametrize(("category", "passed"), [("Incorrect", False), ("Fine", True), (None, True)])
def test_a_category_decides_where_it_is_a_verdict(tmp_path: Path, category: str | None, passed: bool) -> None:
    score = {"name": "correct", "value": 1.0, "category_name": category}
    trace = {**OPIK, "trace": {**OPIK["trace"], "feedback_scores": [score]}}
    assert read_only_run(write(tmp_path / "trace.json", trace)).outcome.passed is passed


def test_a_score_of_none_decides_nothing(tmp_path: Path) -> None:
    scored = braintrust("score", 2, "correct", scores={"correct": None})
    assert read_rows(tmp_path, braintrust("eval", 0, "eval"), braintrust_model(1, 5), scored).outcome.passed is None


@pytest.mark.parametrize(
    "thrown",
    [
        "ValueError: no",
        "Traceback (most recent call last):\n  File 'a.py', line 1\n    f()\nValueError: no",
        "ValueError: no\n\nTraceback (most recent call last):\n  File 'a.py', line 1\n    f()\n",
        "KeyErrorTraceback (most recent call last):\n\n\n  File 'a.py', line 1\n    f()\n\n\nValueError: no\n",
        "ValueError: no\n    at f (a.js:1:2)\n    at g (a.js:3:4)",
    ],
)
def test_an_error_is_what_was_thrown(thrown: str) -> None:
    assert without_traceback(thrown) == "ValueError: no"
