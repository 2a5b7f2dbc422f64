"""Braintrust: spans of logs and experiments, one per row, as `bt sync`, the API, BTQL and storage exports write them.

    {"id": "e0", "span_id": "s0", "root_span_id": "s0", "span_parents": null, "created": "...", "input": "Mail Bob.",
     "span_attributes": {"name": "eval", "type": "eval"}, "origin": {"object_type": "dataset", "id": "t1", ...}}
    {"id": "e1", "span_id": "s1", "root_span_id": "s0", "span_parents": ["s0"], "metrics": {"start": 1767225601.5, ...},
     "span_attributes": {"name": "Chat Completion", "type": "llm"}, "input": [messages], "output": [choices], ...}
    {"id": "e2", ..., "span_attributes": {"name": "send", "type": "tool"}, "input": {"to": "Bob"}, "error": "..."}
    {"id": "e3", ..., "span_attributes": {"name": "correct", "type": "score"}, "scores": {"correct": 1}}

The trace of a record of a dataset is an attempt at it. Scores are on the root, or on a span of each scorer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.normalize import text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.otel import read_spans
from contramem.traces.readers.otel_messages import json_of
from contramem.traces.readers.span_rows import Kind, StepRow, spans_of_rows, without_traceback
from contramem.traces.readers.span_tree import (
    find_request,
    first_record,
    labels,
    records_of,
    score_attributes,
    step,
    tool_arguments,
)
from contramem.traces.trajectory import Trajectory

Event = Mapping[str, Any]
_LISTS = ("events", "data")
_KINDS: dict[str, Kind] = {
    "llm": "model",
    "tool": "tool",
    **dict.fromkeys(("score", "classifier", "review", "facet", "automation", "preprocessor"), "judge"),
}
_TOOL_PREFIX = re.compile(r"^tool: (?:[^/]*/)?")


class BraintrustReader:
    name = "braintrust"

    def claims(self, file: TraceFile) -> bool:
        event = first_record(file, *_LISTS)
        return (
            "root_span_id" in event and "span_id" in event and ("span_attributes" in event or "span_parents" in event)
        )

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_spans(file, options, spans_of_rows(records_of(file, *_LISTS), _row), "braintrust")


def _row(event: Event) -> StepRow:
    described, metadata, metrics = (
        json_of(event.get(name)) or {} for name in ("span_attributes", "metadata", "metrics")
    )
    kind = _kind(described)
    parents = json_of(event.get("span_parents")) or [""]
    result, failure = _answer(json_of(event.get("output")))
    place = step(
        event["root_span_id"],
        parents[0],
        metrics.get("start") or event["created"],
        _error(event.get("error")) or (failure if kind == "tool" else None),
    )
    arguments, call_id = _arguments(json_of(event.get("input")))
    return StepRow(
        place=place,
        id=str(event["span_id"]),
        kind=kind,
        name=str(metadata.get("gen_ai.tool.name") or _TOOL_PREFIX.sub("", str(described.get("name")))),
        sent=event.get("input") if kind == "model" else arguments,
        reply=event.get("output") if kind == "model" else result,
        end=metrics.get("end"),
        model=metadata.get("model"),
        usage=metrics,
        tools=metadata.get("tools"),
        call_id=call_id or metadata.get("tool_call_id") or metadata.get("gen_ai.tool.call.id"),
        about=_about(event, metadata, is_root=not place.parent),
    )


def _kind(described: Event) -> Kind:
    is_scorer = described.get("purpose") == "scorer"
    return "judge" if is_scorer else _KINDS.get(str(described.get("type")), "other")


def _about(event: Event, metadata: Event, is_root: bool) -> dict[str, Any]:
    about = {}
    if is_root:
        about = labels(metadata, {"input.value": event.get("input"), "output.value": event.get("output")})
        if record := _dataset_record(event):
            about["task_id"] = record
        if request := find_request(event.get("input")):
            about.setdefault("contramem.task", request)
    for name, value in (json_of(event.get("scores")) or {}).items():
        if value is not None:
            about |= score_attributes(name, value, metadata.get("rationale"))
    return about


def _dataset_record(event: Event) -> object:
    origin = json_of(event.get("origin"))
    if isinstance(origin, dict) and origin.get("object_type") == "dataset":
        return origin.get("id")
    return event.get("dataset_record_id")  # before there was an origin


def _arguments(sent: object) -> tuple[object, object]:
    """(arguments, the call's id). A JavaScript function's are a list; Vercel's SDK adds the context of the call."""
    if isinstance(sent, list) and sent and isinstance(sent[0], dict):
        context = sent[1] if len(sent) == 2 and isinstance(sent[1], dict) else {}
        if len(sent) == 1 or "toolCallId" in context:
            return sent[0], context.get("toolCallId")
    if isinstance(sent, dict):  # a Python method's
        return {name: value for name, value in sent.items() if name != "self"}, None
    return tool_arguments({"input": sent}), None


def _answer(reply: object) -> tuple[object, str | None]:
    """(result, error) of a tool; those of Claude's SDK answer with a block of content."""
    if isinstance(reply, dict) and "content" in reply and reply.keys() <= {"content", "is_error"}:
        text = text_of(reply["content"])
        return text, (text or "failed") if reply.get("is_error") is True else None
    return reply, None


def _error(thrown: object) -> object:
    """What was thrown, without its traceback."""
    if isinstance(thrown, dict):
        return thrown.get("message") or thrown
    return without_traceback(thrown) if isinstance(thrown, str) else thrown
