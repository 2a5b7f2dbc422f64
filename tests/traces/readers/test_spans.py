"""Spans of agents, in both dialects and all encodings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contramem.traces.read import TraceReading, read_traces
from contramem.traces.reader import ReadOptions
from contramem.traces.trajectory import Trajectory


def span(name: str, second: int, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "context": {"trace_id": "0xa", "span_id": f"0x{second}"},
        "parent_id": "0xroot",
        "start_time": f"2026-01-01T00:00:{second:02d}.000000Z",
        "status": {"status_code": "UNSET"},
        "attributes": attributes,
        "events": [],
        "resource": {"attributes": {"service.name": "mailer"}},
        **more,
    }


def said(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "content": content}


ASKED = said("user", text("mail bob"))
CALLED = said("assistant", {"type": "tool_call", "id": "c1", "name": "send", "arguments": {"to": "Bob"}})
DONE = said("assistant", text("done"))


def chat(second: int, given: list[Any], reply: Any, **attributes: Any) -> dict[str, Any]:
    return span(
        "chat m-large",
        second,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m-large",
            "gen_ai.input.messages": json.dumps(given),
            "gen_ai.output.messages": json.dumps([reply]),
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.output_tokens": 2,
            **attributes,
        },
    )


def tool(second: int, **more: Any) -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "send",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"to": "Bob"}',
        "gen_ai.tool.call.result": "sent",
    }
    return span("execute_tool send", second, attributes, **more)


def answered(key: str) -> dict[str, Any]:
    return said("user", {"type": "tool_call_response", "id": "c1", key: "sent"})


RUN = [chat(1, [ASKED], CALLED), tool(2), chat(3, [ASKED, CALLED, answered("response")], DONE)]


def read(folder: Path, spans: list[Any], options: ReadOptions | None = None) -> tuple[list[Trajectory], TraceReading]:
    (folder / "spans.jsonl").write_text("\n".join(json.dumps(each) for each in spans))
    reading = read_traces([folder], options)
    return list(reading), reading


def told(run: Trajectory) -> list[tuple[str, str, Any]]:
    return [
        (event.kind, event.text or event.function, event.result.content if event.result else None)
        for event in run.events
    ]


WHOLE = [("message", "mail bob", None), ("call", "general.send", "sent"), ("final", "done", None)]


def test_a_conversation_that_every_span_repeats_is_told_once(tmp_path: Path) -> None:
    [run], reading = read(tmp_path, RUN)
    assert told(run) == WHOLE
    assert (run.source, run.task, run.environment) == ("m-large", "mail bob", "otel")
    assert (run.usage.model_calls, run.usage.tokens_in, run.usage.tokens_out) == (2, 20, 4)
    assert run.outcome.passed is None and reading.problems == []


def test_spans_are_ordered_by_time_not_by_line(tmp_path: Path) -> None:
    [run], _ = read(tmp_path, RUN[::-1])
    assert told(run) == WHOLE


@pytest.mark.parametrize("key", ["response", "result"])
def test_a_call_without_a_tool_span_has_its_result_in_the_messages(tmp_path: Path, key: str) -> None:
    [run], _ = read(tmp_path, [RUN[0], chat(3, [ASKED, CALLED, answered(key)], DONE)])
    assert told(run) == WHOLE


def test_tool_spans_alone_are_calls(tmp_path: Path) -> None:
    [run], _ = read(tmp_path, [tool(2)])
    assert told(run) == [("call", "general.send", "sent")]


def test_a_tool_span_with_error_status_is_a_failed_call(tmp_path: Path) -> None:
    thrown = {"name": "exception", "attributes": {"exception.type": "E", "exception.message": "unknown recipient"}}
    [run], _ = read(tmp_path, [RUN[0], tool(2, status={"status_code": "ERROR"}, events=[thrown])])
    assert run.calls[0].result is not None and run.calls[0].result.error == "unknown recipient"


def test_every_trace_is_a_run_and_the_same_prompt_is_the_same_task(tmp_path: Path) -> None:
    other = [{**each, "context": {"trace_id": "0xb", "span_id": "1"}} for each in RUN]
    runs, _ = read(tmp_path, RUN + other)
    assert len(runs) == 2
    assert runs[0].task_key == runs[1].task_key and runs[0].run != runs[1].run


def root(**attributes: Any) -> dict[str, Any]:
    return span("invoke_agent", 0, {"gen_ai.operation.name": "invoke_agent", **attributes}, parent_id=None)


def test_task_source_and_outcome_are_found_in_attributes(tmp_path: Path) -> None:
    marks = root(**{"metadata": '{"task_id": "t1"}', "app.who": "me", "app.score": 0.5, "gen_ai.conversation.id": "k"})
    [run], _ = read(tmp_path, [marks, *RUN], ReadOptions(fields={"source": "app.who", "outcome": "app.score"}))
    assert (run.task_id, run.source, run.run) == ("t1", "me", "k")
    assert (run.outcome.passed, run.outcome.reward) == (False, 0.5)


def evaluated(**values: Any) -> dict[str, Any]:
    return {
        "name": "gen_ai.evaluation.result",
        "attributes": {f"gen_ai.evaluation.{key.replace('_', '.')}": value for key, value in values.items()},
    }


@pytest.mark.parametrize(
    ("events", "passed"),
    [
        pytest.param([evaluated(score_value=1.0)], True, id="score"),
        pytest.param([evaluated(score_value=0.4)], False, id="low-score"),
        pytest.param([evaluated(score_value=0.9, score_label="pass")], True, id="label-before-score"),
        pytest.param([evaluated(score_label="pass"), evaluated(score_label="fail")], False, id="all-must-pass"),
        pytest.param([evaluated(score_label="relevant")], None, id="unknown-label"),
        pytest.param([], None, id="none"),
    ],
)
def test_evaluations_decide(tmp_path: Path, events: list[Any], passed: bool | None) -> None:
    [run], _ = read(tmp_path, [{**root(), "events": events}, *RUN])
    assert run.outcome.passed is passed


def test_openinference_evaluations_decide_too(tmp_path: Path) -> None:
    [run], _ = read(tmp_path, [root(**{"eval.Right.score": 0, "eval.Right.explanation": "wrong Bob"}), *RUN])
    assert (run.outcome.passed, run.outcome.feedback) == (False, "wrong Bob")


@pytest.mark.parametrize(
    ("scores", "passed"),
    [
        pytest.param({"correctness": 1, "hallucination": 0}, True, id="success-before-the-rest"),
        pytest.param({"taskSuccess": 0, "style": 1}, False, id="words-in-camel-case"),
        pytest.param({"toxicity": 0, "latency": 3}, None, id="nothing-about-success"),
        pytest.param({"style": 1, "toxicity": 0}, True, id="other-names-count"),
    ],
)
def test_only_evaluations_of_success_decide(tmp_path: Path, scores: dict[str, int], passed: bool | None) -> None:
    [run], _ = read(tmp_path, [root(**{f"eval.{name}.score": score for name, score in scores.items()}), *RUN])
    assert run.outcome.passed is passed


def test_a_run_whose_root_failed_was_interrupted(tmp_path: Path) -> None:
    failed = {**root(), "status": {"status_code": "ERROR", "description": "connection lost"}}
    [run], _ = read(tmp_path, [failed, *RUN])
    assert (run.outcome.passed, run.outcome.ended, run.outcome.feedback) == (None, "interrupted", "connection lost")


def flat(prefix: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {f"{prefix}.{i}.message.{key}": value for i, each in enumerate(messages) for key, value in each.items()}


def test_openinference_gives_the_same_run(tmp_path: Path) -> None:
    asked = {"role": "user", "content": "mail bob"}
    call = "tool_calls.0.tool_call"
    called = {
        "role": "assistant",
        f"{call}.id": "c1",
        f"{call}.function.name": "send",
        f"{call}.function.arguments": '{"to": "Bob"}',
    }
    answer = {"role": "tool", "content": "sent", "tool_call_id": "c1"}
    kind = {"openinference.span.kind": "LLM", "llm.model_name": "m-large"}
    first = flat("llm.input_messages", [asked]) | flat("llm.output_messages", [called])
    second = flat("llm.input_messages", [asked, called, answer])
    second |= flat("llm.output_messages", [{"role": "assistant", "content": "done"}])
    ran = {
        "openinference.span.kind": "TOOL",
        "tool.name": "send",
        "input.value": '{"to": "Bob"}',
        "output.value": "sent",
    }
    [run], _ = read(tmp_path, [span("LLM", 1, kind | first), span("send", 2, ran), span("LLM", 3, kind | second)])
    assert told(run) == WHOLE
    assert run.source == "m-large"


def test_a_langchain_tool_that_failed_is_an_error_though_its_span_is_ok(tmp_path: Path) -> None:
    message = {"type": "tool", "data": {"content": "unknown recipient", "tool_call_id": "c1", "status": "error"}}
    attributes = {"openinference.span.kind": "TOOL", "tool.name": "send", "output.value": json.dumps(message)}
    [run], _ = read(tmp_path, [span("send", 1, attributes, status={"status_code": "OK"})])
    assert run.calls[0].result is not None and run.calls[0].result.error == "unknown recipient"


def encoded(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [encoded(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    return {"stringValue": str(value)}


def pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": encoded(value)} for key, value in attributes.items()]


def otlp(each: dict[str, Any]) -> dict[str, Any]:
    attributes = dict(each["attributes"])
    for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
        if key in attributes:
            attributes[key] = json.loads(attributes[key])  # newer SDKs keep the structure
    return {
        "traceId": "0a",
        "spanId": each["context"]["span_id"],
        "parentSpanId": "root",
        "startTimeUnixNano": f"{each['start_time'][17:19]}000000000",
        "status": {},
        "attributes": pairs(attributes),
    }


def test_otlp_json_gives_the_same_run_and_its_logs_the_outcome(tmp_path: Path) -> None:
    document = {
        "resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": [otlp(each) for each in RUN]}]}],
        "resourceLogs": [{"scopeLogs": [{"logRecords": [{
            "traceId": "0a",
            "eventName": "gen_ai.evaluation.result",
            "attributes": [{"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 1.0}}],
        }]}]}],
    }  # fmt: skip
    (tmp_path / "traces.json").write_text(json.dumps(document))
    [run] = read_traces([tmp_path])
    assert told(run) == WHOLE
    assert run.outcome.passed is True
    assert run.usage.tokens_in == 20


def test_objects_over_several_lines_are_read_when_the_format_is_named(tmp_path: Path) -> None:
    (tmp_path / "console.json").write_text("\n".join(json.dumps(each, indent=2) for each in RUN))
    [run] = read_traces([tmp_path], ReadOptions(format="otel"))
    assert told(run) == WHOLE


def test_a_broken_span_is_a_problem_and_the_rest_is_read(tmp_path: Path) -> None:
    runs, reading = read(tmp_path, [*RUN, {"context": {}, "start_time": "x", "attributes": {}}, 7])
    assert len(runs) == 1
    assert [problem.where.rpartition(":")[2] for problem in reading.problems] == ["4", "5"]


def test_a_trace_of_plain_requests_is_counted(tmp_path: Path) -> None:
    runs, reading = read(tmp_path, [span("GET /", 1, {"http.method": "GET"})])
    assert runs == [] and dict(reading.skipped) == {"trace shows no model and no tool (attributes: http.method)": 1}


def test_real_spans_read_whole(shared_data: Path) -> None:
    reading = read_traces([shared_data / "formats" / "otel-genai", shared_data / "formats" / "openinference"])
    runs = list(reading)
    assert reading.problems == []
    assert [run.task for run in runs] == ["mail bob"] * 3
    assert {run.calls[-1].function for run in runs} == {"general.send", "general.final_answer"}
    assert [[call.arguments for call in run.calls[:2]] for run in runs[:2]] == [[{"to": "Bob"}, {"to": "id-7"}]] * 2
