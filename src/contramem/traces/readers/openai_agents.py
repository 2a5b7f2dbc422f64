"""Traces of the OpenAI Agents SDK as a TracingProcessor exports them: a `trace`, then its `trace.span` objects.

    {"object": "trace", "id": "trace_1", "workflow_name": "mail", "metadata": {"task_id": "t1"}}
    {"object": "trace.span", "trace_id": "trace_1", "started_at": "...", "span_data":
      {"type": "function", "name": "send", "input": "{}", "output": "sent"}, "error": null}

Items of a run (`result.to_input_list()`) are Responses items and are read by codex.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.otel import read_spans
from contramem.traces.readers.otel_spans import Span
from contramem.traces.readers.span_tree import (
    first_record,
    labels,
    model_span,
    plain_span,
    records_of,
    spans_of,
    step,
    tool_span,
)  # fmt: skip
from contramem.traces.trajectory import Trajectory


class OpenAiAgentsReader:
    name = "openai-agents"

    def claims(self, file: TraceFile) -> bool:
        return first_record(file, "data").get("object") in ("trace", "trace.span")

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_spans(file, options, spans_of(records_of(file, "data"), _spans), "openai-agents")


def _spans(record: Mapping[str, Any]) -> Iterator[Span]:
    if record["object"] == "trace":
        about = labels(record.get("metadata"))
        if record.get("group_id"):
            about["session.id"] = record["group_id"]
        yield plain_span(step(record["id"], "", 0), about)
        return
    data, error = record["span_data"], record.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    place = step(record["trace_id"], record.get("parent_id") or "trace", record["started_at"], message)
    if data["type"] == "function":
        yield tool_span(place, data["name"], data.get("input"), data.get("output"))
    elif data["type"] == "generation":
        yield model_span(place, data.get("input"), data.get("output"), data.get("model"), data.get("usage"))
    elif data["type"] == "response":
        response = data.get("response") if isinstance(data.get("response"), dict) else {}
        yield model_span(
            place, data.get("input"), (response or {}).get("output"), (response or {}).get("model"), data.get("usage")
        )
    else:
        yield plain_span(place, {"agent.name": data.get("name")} if data["type"] == "agent" else {})
