r"""MLflow traces (`trace.to_json()`, artifacts, saved `search_traces`): spans with inputs, outputs and a type.

    {"info": {"trace_id": "tr-1", "tags": {...}, "assessments": [{"assessment_name": "correct", "feedback": {...}}]},
     "data": {"spans": [
       {"span_id": "s1", "parent_span_id": "s0", "name": "send", "start_time_unix_nano": 1, "attributes": {
         "mlflow.spanType": "TOOL", "mlflow.spanInputs": "{\"to\": \"Bob\"}", "mlflow.spanOutputs": "..."}}]}}

The values of attributes are JSON, often as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.otel import read_spans
from contramem.traces.readers.otel_messages import json_of
from contramem.traces.readers.otel_spans import Span
from contramem.traces.readers.span_tree import (
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

_MODELS = ("LLM", "CHAT_MODEL")


class MlflowReader:
    name = "mlflow"

    def claims(self, file: TraceFile) -> bool:
        spans = _raw_spans(first_record(file, "traces"))
        attributes = spans[0].get("attributes") if spans and isinstance(spans[0], dict) else None
        return isinstance(attributes, dict) and any(str(name).startswith("mlflow.") for name in attributes)

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_spans(file, options, spans_of(records_of(file, "traces"), _spans), "mlflow")


def _raw_spans(record: Mapping[str, Any]) -> list[Any]:
    data = json_of(record.get("data"))
    spans = data.get("spans") if isinstance(data, dict) else json_of(record.get("spans"))
    return spans if isinstance(spans, list) else []


def _spans(record: Mapping[str, Any]) -> Iterator[Span]:
    info = json_of(record.get("info")) or {}
    raw = _raw_spans(record)
    trace = info.get("trace_id") or info.get("request_id") or record.get("trace_id") or _context(raw[0], "trace_id")
    for span in raw:
        yield _span(span, str(trace), info)


def _context(span: Mapping[str, Any], name: str) -> Any:
    """Spans of the second schema keep their ids in `context`."""
    return span.get(name) or (span.get("context") or {}).get(name)


def _span(raw: Mapping[str, Any], trace: str, info: Mapping[str, Any]) -> Span:
    attributes = {name: json_of(value) for name, value in (raw.get("attributes") or {}).items()}
    kind, sent = attributes.get("mlflow.spanType"), attributes.get("mlflow.spanInputs")
    reply = attributes.get("mlflow.spanOutputs")
    parent = raw.get("parent_span_id") or raw.get("parent_id")
    start = raw.get("start_time_unix_nano") or raw["start_time"]
    place = step(trace, parent, start, _error(raw))
    if kind in _MODELS:
        named = attributes.get("mlflow.llm.model") or attributes.get("mlflow.chat.model") or _model(sent)
        return model_span(place, sent, reply, named, attributes.get("mlflow.chat.tokenUsage"))
    if kind in ("TOOL", "RETRIEVER"):
        return tool_span(place, raw.get("name"), sent, reply)
    about = {} if parent else _about(info, sent, reply)
    return plain_span(place, about)


def _about(info: Mapping[str, Any], sent: object, reply: object) -> dict[str, Any]:
    """What the trace's tags, metadata and assessments say, on its outermost span."""
    about = labels(info.get("trace_metadata") or info.get("request_metadata"), info.get("tags"))
    about |= {"input.value": next(iter(sent.values()), None) if isinstance(sent, dict) else sent, "output.value": reply}
    for assessment in info.get("assessments") or ():
        holder = assessment.get("feedback") or {}
        name = assessment.get("assessment_name") or assessment.get("name")
        about |= score_attributes(name, holder.get("value"), assessment.get("rationale"))
    return about


def _model(sent: object) -> object:
    return sent.get("model") if isinstance(sent, dict) else None


def _error(raw: Mapping[str, Any]) -> str | None:
    status = raw.get("status")
    code = status.get("code") if isinstance(status, dict) else raw.get("status_code")
    if "ERROR" not in str(code):
        return None
    thrown = next(
        (event.get("attributes") or {} for event in raw.get("events") or () if event.get("name") == "exception"), {}
    )
    text = thrown.get("exception.message") or (status.get("message") if isinstance(status, dict) else "")
    return str(text or "failed")
