"""Langfuse: traces with observations and scores, or observations alone, as the API, the UI and the SDK write them.

    {"id": "t1", "input": "Mail Bob.", "scores": [{"name": "correct", "value": 1}], "observations": [
      {"type": "GENERATION", "startTime": "...", "model": "...", "input": [messages], "output": {message}},
      {"type": "TOOL", "startTime": "...", "name": "send", "input": {"to": "Bob"}, "output": "sent"}]}

What OpenTelemetry sent is kept in an observation's metadata, and often says more than its type: tools of many
frameworks are a plain SPAN. A span with the name of a call that a model of the trace asked for is that call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.otel import read_spans
from contramem.traces.readers.otel_messages import is_model, is_tool, json_of
from contramem.traces.readers.otel_spans import Span
from contramem.traces.readers.span_tree import (
    SpanStep,
    calls_asked_for,
    find_request,
    first_record,
    labels,
    model_span,
    plain_span,
    records_of,
    score_attributes,
    spans_of,
    step,
    tool_span,
)  # fmt: skip
from contramem.traces.trajectory import Trajectory

_MODELS = ("GENERATION", "EMBEDDING")
_TOOLS = ("TOOL", "RETRIEVER")
_TYPES = (*_MODELS, *_TOOLS, "SPAN", "EVENT", "AGENT", "CHAIN", "EVALUATOR", "GUARDRAIL")
_TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name")
_TOOL_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool.parameters", "gcp.vertex.agent.tool_call_args")
_TOOL_RESULTS = ("gen_ai.tool.call.result", "gcp.vertex.agent.tool_response")
_AROUND_NAME = re.compile(r"^(?:running tool: |execute_tool |tool\.)|-\d+$")


class LangfuseReader:
    name = "langfuse"

    def claims(self, file: TraceFile) -> bool:
        record = first_record(file, "data", "traces")
        observations = record.get("observations")
        if isinstance(observations, list) and observations:
            return _is_observation(observations[0])
        return _is_observation(record) and bool(_get(record, "traceId"))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_spans(file, options, spans_of(records_of(file, "data", "traces"), _spans), "langfuse")


def _is_observation(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") in _TYPES and bool(_get(value, "startTime"))


def _get(record: Mapping[str, Any], camel: str) -> Any:
    """The field in either spelling: the API writes camelCase, the SDK snake_case."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in camel)
    return record.get(camel, record.get(snake))


def _spans(record: Mapping[str, Any]) -> Iterator[Span]:
    if "observations" not in record:
        yield _observation(record)
        return
    trace = record["trace"] if isinstance(record.get("trace"), dict) else record  # what the UI downloads
    observations = [item for item in record["observations"] if isinstance(item, dict)]
    yield _trace(trace, observations)
    placed = [{"traceId": trace["id"], **observation} for observation in observations]
    spans = [_observation(observation, inside=str(trace["id"])) for observation in placed]
    asked = {call.name for call in calls_asked_for(spans)}
    for observation, span in zip(placed, spans, strict=True):
        is_asked = observation.get("name") in asked and not is_model(span) and not is_tool(span)
        yield _observation(observation, inside=str(trace["id"]), tools=asked) if is_asked else span


def _trace(record: Mapping[str, Any], observations: list[dict[str, Any]]) -> Span:
    attributes = labels(
        record.get("metadata"), {"input.value": record.get("input"), "output.value": record.get("output")}
    )
    for name, camel in (("task_id", "datasetItemId"), ("session.id", "sessionId")):
        if _get(record, camel):
            attributes[name] = _get(record, camel)
    if asked := find_request(record.get("input")):
        attributes.setdefault("contramem.task", asked)
    for score in record.get("scores") or ():
        text = _get(score, "stringValue")
        attributes |= score_attributes(
            score.get("name"), text if isinstance(text, str) else score.get("value"), score.get("comment")
        )
    begun = record.get("timestamp") or min(str(_get(item, "startTime")) for item in observations)
    return plain_span(step(record["id"], "", begun), attributes)


def _observation(record: Mapping[str, Any], inside: str = "", tools: Set[str] = frozenset()) -> Span:
    failed = record.get("level") == "ERROR"
    parent = _get(record, "parentObservationId") or inside
    message = (_get(record, "statusMessage") or "failed") if failed else None
    place = step(_get(record, "traceId"), parent, _get(record, "startTime"), message)
    about = labels(record.get("metadata"))
    sent = json_of(about.get("attributes"))
    sent = sent if isinstance(sent, dict) else {}
    if record["type"] in _MODELS:
        usage = _get(record, "usageDetails") or record.get("usage")
        model = record.get("model") or _get(record, "providedModelName")
        return model_span(place, record.get("input"), record.get("output"), model, usage)
    if record["type"] in _TOOLS or record.get("name") in tools or _was_tool(sent, record):
        return _tool(place, record, sent)
    return plain_span(place, about)


def _was_tool(sent: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Did the framework send this as a tool that did something? Some send its start and its end as spans as well."""
    is_tool_kind = sent.get("openinference.span.kind") == "TOOL" or sent.get("gen_ai.operation.name") == "execute_tool"
    return (is_tool_kind or bool(sent.get("gen_ai.tool.name"))) and bool(record.get("input") or record.get("output"))


def _tool(place: SpanStep, record: Mapping[str, Any], sent: Mapping[str, Any]) -> Span:
    name = _first(sent, _TOOL_NAMES) or _AROUND_NAME.sub("", str(record.get("name")))
    given, got = json_of(record.get("input")), json_of(record.get("output"))
    arguments = given if given not in (None, "", {}) else _first(sent, _TOOL_ARGUMENTS)
    result = got if got not in (None, "", {}) else _first(sent, _TOOL_RESULTS) or got
    return tool_span(place, name, arguments, result, sent.get("gen_ai.tool.call.id"))


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((values[name] for name in names if values.get(name)), None)
