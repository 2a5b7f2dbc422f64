"""Opik (Comet): traces with their spans as `opik export` writes them, or spans and traces as the API and the SDK do.

    {"trace": {"id": "t", "start_time": "...", "input": {"query": "Mail Bob."}, "thread_id": null,
               "feedback_scores": [{"name": "correct", "value": 1.0, "reason": "..."}],
               "experiment": {"dataset_item_id": "t1", ...}},
     "spans": [{"id": "s1", "trace_id": "t", "parent_span_id": null, "type": "llm", "name": "chat_completion_create",
                "start_time": "...", "model": "...", "input": {"messages": [...]}, "output": {"choices": [...]}},
               {"id": "s2", ..., "type": "tool", "name": "send", "input": {"to": "Bob"}, "output": {"output": "sent"}}]}

The trace of an item of a dataset is an attempt at it; the feedback on the trace is its outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from contramem.traces.files import TraceFile
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

Record = Mapping[str, Any]
_LISTS = ("content", "traces")
_KINDS: dict[str, Kind] = {"llm": "model", "tool": "tool"}
_TYPES = ("general", "tool", "llm", "guardrail")
_OF_TRACES = ("feedback_scores", "span_count", "llm_span_count")
_SCORING = ("metrics_calculation", "task_span_metrics_calculation")


class OpikReader:
    name = "opik"

    def claims(self, file: TraceFile) -> bool:
        record = first_record(file, *_LISTS)
        trace, spans = record.get("trace"), record.get("spans")
        if isinstance(trace, dict) and isinstance(spans, list):
            return "id" in trace and "start_time" in trace
        return _is_span(record) or _is_trace(record)

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        records = list(_records(file))
        traces = {str(record.get("id")) for _, record in records if isinstance(record, dict) and not _is_part(record)}
        return read_spans(file, options, spans_of_rows(records, lambda record: _row(record, traces)), "opik")


def _is_span(record: Record) -> bool:
    return "trace_id" in record and "start_time" in record and record.get("type") in _TYPES


def _is_trace(record: Record) -> bool:
    return {"id", "project_id", "start_time"} <= record.keys() and any(name in record for name in _OF_TRACES)


def _is_part(record: Record) -> bool:
    """Is this a span? Anything else stands for a trace."""
    return bool(record.get("trace_id"))


def _records(file: TraceFile) -> Iterable[tuple[object, Any]]:
    """Every trace and every span, each by itself."""
    for position, record in records_of(file, *_LISTS):
        if isinstance(record, dict) and isinstance(record.get("spans"), list):
            trace = record["trace"] if isinstance(record.get("trace"), dict) else record
            yield position, trace
            yield from ((f"{position}.spans.{place}".lstrip("."), span) for place, span in enumerate(record["spans"]))
        else:
            yield position, record


def _row(record: Record, traces: Set[str]) -> StepRow:
    return _span(record, traces) if _is_part(record) else _trace(record)


def _trace(trace: Record) -> StepRow:
    about = _about_run(trace)
    for score in trace.get("feedback_scores") or ():
        for value in (score.get("value"), score.get("category_name")):
            if value not in (None, ""):
                about |= score_attributes(score.get("name"), value, score.get("reason"))
    experiment = trace.get("experiment") or {}
    for name, value in (("task_id", experiment.get("dataset_item_id")), ("session.id", trace.get("thread_id"))):
        if value:
            about[name] = value
    place = step(trace["id"], "", trace["start_time"], _error(trace.get("error_info")))
    return StepRow(place, str(trace["id"]), "other", str(trace.get("name")), about=about)


def _about_run(record: Record) -> dict[str, Any]:
    sent, reply = json_of(record.get("input")), _unwrap(json_of(record.get("output")), "output")
    about = labels(record.get("metadata"), {"input.value": sent, "output.value": reply})
    if request := find_request(sent):
        about.setdefault("contramem.task", request)
    return about


def _span(span: Record, traces: Set[str]) -> StepRow:
    metadata = json_of(span.get("metadata")) or {}
    kind, trace = _kind(span, metadata), str(span["trace_id"])
    is_root = kind == "other" and not span.get("parent_span_id") and trace not in traces
    parent = "" if is_root else span.get("parent_span_id") or trace
    sent, reply = json_of(span.get("input")), json_of(span.get("output"))
    name, arguments, result = _call(span, sent, reply)
    return StepRow(
        place=step(trace, parent, span["start_time"], _error(span.get("error_info"))),
        id=str(span["id"]),
        kind=kind,
        name=name,
        sent=sent if kind == "model" else arguments,
        reply=reply if kind == "model" else result,
        end=span.get("end_time"),
        model=span.get("model") or metadata.get("model"),
        usage=span.get("usage"),
        tools=metadata.get("tools"),
        about=_about_run(span) if is_root else _about_item(sent) if kind == "judge" else {},
    )


def _about_item(sent: object) -> dict[str, Any]:
    """A scorer is given the item of the dataset, which spans alone name nowhere else."""
    case = sent.get("test_case_") if isinstance(sent, dict) else None
    return {"task_id": case["dataset_item_id"]} if isinstance(case, dict) and case.get("dataset_item_id") else {}


def _kind(span: Record, metadata: Record) -> Kind:
    name = str(span.get("name"))
    if name in _SCORING:
        return "judge"
    if name.endswith("PromptTemplate") or metadata.get("type") == "guardrail":  # typed as tools, and are none
        return "other"
    return _KINDS.get(str(span.get("type")), "other")


def _call(span: Record, sent: object, reply: object) -> tuple[str, object, object]:
    """(tool, arguments, result)"""
    if isinstance(sent, dict) and "toolName" in sent:  # Vercel's SDK
        return str(sent["toolName"]), sent.get("args"), _unwrap(reply, "result")
    arguments = tool_arguments(sent)
    return str(span.get("name")), arguments if isinstance(arguments, dict) else sent, _unwrap(reply, "output")


def _unwrap(reply: object, name: str) -> object:
    """What a function gave back: anything but an object is wrapped in one."""
    return reply[name] if isinstance(reply, dict) and reply.keys() == {name} else reply


def _error(info: object) -> object:
    if not isinstance(info, dict):
        return info
    thrown = ": ".join(str(info[name]) for name in ("exception_type", "message") if info.get(name))
    return thrown if info.get("message") else without_traceback(str(info.get("traceback") or "")) or thrown
