"""Platforms that export each step as a row that names its parent: Braintrust and Opik.

The type of a row often says less than the rows around it. A function is a tool if a model of the trace asked for it by
name. A model's step with other models inside is a loop around them. What a scorer does is no part of the run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from typing import Any, Literal

from contramem.errors import TraceError
from contramem.traces.map import at
from contramem.traces.normalize import text_of
from contramem.traces.reader import WRONG_SHAPE
from contramem.traces.readers.dialects import Span, SpanCall, json_of
from contramem.traces.readers.platforms import (
    Place,
    Platform,
    Record,
    Records,
    about_trace,
    calls_asked_for,
    model_span,
    place_of,
    plain_span,
    score,
    tool_arguments,
    tool_span,
)
from contramem.traces.readers.spans import Spans, seconds, spans_of

Kind = Literal["model", "tool", "judge", "other"]
Key = tuple[str, str]
"""A trace, and the id of something in it."""
_FRAMES = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*(?:\n|\Z)|\n)+|\n\s+at \S.*")
"""Of a Python traceback, which may stand before what was thrown or after it, and of a JavaScript stack."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step, in the same fields for every platform."""

    place: Place
    id: str
    kind: Kind
    name: str
    sent: Any = None
    reply: Any = None
    end: Any = None
    model: Any = None
    usage: Any = None
    tools: Any = None
    """Definitions of the tools that a model was offered."""
    call_id: Any = None
    about: dict[str, Any] = field(default_factory=dict)
    """What the row says about the whole run: its labels, its task and its scores."""

    @property
    def key(self) -> Key:
        return self.place.trace, self.id

    @property
    def call_key(self) -> Key:
        return self.place.trace, str(self.call_id)


def _spans_of_rows(records: Records, read_row: Callable[[Any], StepRow]) -> Spans:
    """The spans of all records, which may come in any order; anything else comes as a TraceError."""
    rows = list(spans_of(records, lambda record: [read_row(record)]))
    tree = _Tree([row for _, row in rows if not isinstance(row, TraceError)])
    return spans_of(rows, tree.spans)


class _Tree:
    """The rows of a file, and what each is among the others."""

    def __init__(self, rows: list[StepRow]) -> None:
        self._rows = {row.key: row for row in rows}
        self._asked: dict[str, list[SpanCall]] = {}
        """The calls that the models of each trace asked for."""
        self._inside: dict[Key, set[Kind]] = {}
        """The kinds of the steps inside each row."""
        for row in rows:
            if row.kind == "model" and not self._is_judged(row):
                self._asked.setdefault(row.place.trace, []).extend(_asked_by(row))
        self._names = {trace: {call.name for call in calls} for trace, calls in self._asked.items()}
        for row in rows:
            for outer in self._above(row):
                self._inside.setdefault(outer.key, set()).add(self._kind(row))
        tools = [row for row in rows if self._kind(row) == "tool"]
        # Some integrations log a call once more, on the agent that made it: the innermost row is the call.
        outer_first = sorted(tools, key=lambda row: sum(1 for _ in self._above(row)))
        self._innermost = {row.call_key: row for row in outer_first if row.call_id}
        self._call_ids = self._find_call_ids(tools)

    def spans(self, row: StepRow) -> Iterator[Span]:
        if self._is_judged(row) or (row.call_id and self._innermost.get(row.call_key, row) is not row):
            return
        kind, inside = self._kind(row), self._inside.get(row.key, set())
        if kind == "tool":
            yield tool_span(row.place, row.name, row.sent, row.reply, row.call_id or self._call_ids.get(row.key))
        elif kind == "model" and "model" not in inside:
            # A loop that logs its tools, but not each call of the model, has its reply after them.
            is_loop = "tool" in inside
            asking = model_span(row.place, row.sent, None if is_loop else row.reply, row.model, row.usage)
            asking.attributes["gen_ai.tool.definitions"] = row.tools
            yield asking
            if is_loop:
                end = row.place.start if row.end is None else seconds(row.end)
                yield model_span(row.place._replace(start=end), None, row.reply, row.model)
        if row.about or kind in ("judge", "other"):
            # its own operation: attributes that look like a model's or a tool's make it neither
            yield plain_span(row.place, {**row.about, "gen_ai.operation.name": "invoke_agent"})

    def _kind(self, row: StepRow) -> Kind:
        is_asked = row.kind == "other" and row.place.parent and row.name in self._names.get(row.place.trace, ())
        return "tool" if is_asked else row.kind

    def _above(self, row: StepRow) -> Iterator[StepRow]:
        """The rows that a row is nested in, from the inside out."""
        trace, seen = row.place.trace, {row.id}
        while (outer := self._rows.get((trace, row.place.parent))) is not None and outer.id not in seen:
            seen.add(outer.id)
            yield outer
            row = outer

    def _is_judged(self, row: StepRow) -> bool:
        return any(outer.kind == "judge" for outer in self._above(row))

    def _find_call_ids(self, tools: list[StepRow]) -> dict[Key, str]:
        """The id of each row that names none: that of the next call with its arguments that a model asked for.

        Where a model's reply is logged without its calls, a later request shows them. They are no further calls."""
        waiting: dict[tuple[str, str, str], dict[str, None]] = {}
        for trace, calls in self._asked.items():
            for call in calls:
                if call.id:
                    waiting.setdefault((trace, call.name, _write(call.arguments)), {})[call.id] = None
        found = {}
        for row in sorted(tools, key=lambda row: row.place.start):
            ids = waiting.get((row.place.trace, row.name, _write(row.sent)))
            if ids and not row.call_id:
                found[row.key] = next(iter(ids))
                del ids[found[row.key]]
        return found


def _write(arguments: object) -> str:
    return json.dumps(json_of(arguments), sort_keys=True, default=str)


def _asked_by(row: StepRow) -> list[SpanCall]:
    try:
        return calls_asked_for([model_span(row.place, row.sent, row.reply, row.model)])
    except (*WRONG_SHAPE, TraceError):  # named as a problem when the trace is read
        return []


def without_traceback(thrown: str) -> str:
    return next((text.strip() for text in reversed(_FRAMES.split(thrown)) if text.strip()), "")


# Braintrust: spans of logs and experiments, as `bt sync`, the API, BTQL and storage exports write them.
#
#     {"id": "e0", "span_id": "s0", "root_span_id": "s0", "span_parents": null, "created": "...", "input": "Mail Bob.",
#      "span_attributes": {"name": "eval", "type": "eval"}, "origin": {"object_type": "dataset", "id": "t1", ...}}
#     {"id": "e1", "span_id": "s1", "root_span_id": "s0", "span_parents": ["s0"], "metrics": {"start": 1767225601, ...},
#      "span_attributes": {"name": "Chat Completion", "type": "llm"}, "input": [messages], "output": [choices], ...}
#     {"id": "e2", ..., "span_attributes": {"name": "send", "type": "tool"}, "input": {"to": "Bob"}, "error": "..."}
#     {"id": "e3", ..., "span_attributes": {"name": "correct", "type": "score"}, "scores": {"correct": 1}}
#
# The trace of a record of a dataset is an attempt at it. Scores are on the root, or on a span of each scorer.

_KINDS: dict[str, Kind] = {
    "llm": "model",
    "tool": "tool",
    **dict.fromkeys(("score", "classifier", "review", "facet", "automation", "preprocessor"), "judge"),
}
_TOOL_PREFIX = re.compile(r"^tool: (?:[^/]*/)?")


def _braintrust(event: Record) -> StepRow:
    described, metadata, metrics = (
        json_of(event.get(name)) or {} for name in ("span_attributes", "metadata", "metrics")
    )
    kind = "judge" if described.get("purpose") == "scorer" else _KINDS.get(str(described.get("type")), "other")
    parent = (json_of(event.get("span_parents")) or [""])[0]
    result, failure = _answer(json_of(event.get("output")))
    arguments, call_id = _arguments(json_of(event.get("input")))
    thrown = event.get("error")
    error = (thrown.get("message") or thrown) if isinstance(thrown, dict) else thrown
    error = without_traceback(error) if isinstance(thrown, str) and isinstance(error, str) else error
    started = metrics.get("start") or event["created"]
    place = place_of(event["root_span_id"], parent, started, error or (failure if kind == "tool" else None))
    about = {} if place.parent else about_trace(metadata, event.get("input"), event.get("output"))
    if not place.parent and (record := _dataset_record(event)):
        about["task_id"] = record
    for name, value in (json_of(event.get("scores")) or {}).items():
        if value is not None:
            about |= score(name, value, metadata.get("rationale"))
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
        call_id=call_id or at(metadata, "tool_call_id", "gen_ai.tool.call.id"),
        about=about,
    )


def _dataset_record(event: Record) -> object:
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


def _is_braintrust(event: Record) -> bool:
    return {"root_span_id", "span_id"} <= event.keys() and not {"span_attributes", "span_parents"}.isdisjoint(event)


BRAINTRUST = Platform(
    "braintrust", ("events", "data"), _is_braintrust, lambda records: _spans_of_rows(records, _braintrust)
)


# Opik (Comet): traces with their spans as `opik export` writes them, or spans and traces as the API and the SDK do.
#
#     {"trace": {"id": "t", "start_time": "...", "input": {"query": "Mail Bob."}, "thread_id": null,
#                "feedback_scores": [{"name": "correct", "value": 1.0, "reason": "..."}],
#                "experiment": {"dataset_item_id": "t1", ...}},
#      "spans": [{"id": "s1", "trace_id": "t", "parent_span_id": null, "type": "llm", "name": "chat_completion_create",
#                 "start_time": "...", "model": "...", "input": {"messages": [...]}, "output": {"choices": [...]}},
#                {"id": "s2", ..., "type": "tool", "name": "send", "input": {"to": "Bob"}, "output": {"output": "ok"}}]}
#
# The trace of an item of a dataset is an attempt at it; the feedback on the trace is its outcome.

_SCORING = ("metrics_calculation", "task_span_metrics_calculation")


def _is_opik(record: Record) -> bool:
    trace, keys = record.get("trace"), record.keys()
    if isinstance(trace, dict) and isinstance(record.get("spans"), list):
        return {"id", "start_time"} <= trace.keys()
    if {"trace_id", "start_time"} <= keys and record.get("type") in ("general", "tool", "llm", "guardrail"):
        return True
    of_traces = {"feedback_scores", "span_count", "llm_span_count"}
    return {"id", "project_id", "start_time"} <= keys and not of_traces.isdisjoint(keys)


def _opik(records: Records) -> Spans:
    """A record with a `trace_id` is a span; anything else stands for a trace."""
    each = list(_traces_and_spans(records))
    traces = {str(record.get("id")) for _, record in each if isinstance(record, dict) and not record.get("trace_id")}
    return _spans_of_rows(
        each, lambda record: _opik_span(record, traces) if record.get("trace_id") else _opik_trace(record)
    )


def _traces_and_spans(records: Records) -> Records:
    for position, record in records:
        if isinstance(record, dict) and isinstance(record.get("spans"), list):
            yield position, record["trace"] if isinstance(record.get("trace"), dict) else record
            yield from ((f"{position}.spans.{place}".lstrip("."), span) for place, span in enumerate(record["spans"]))
        else:
            yield position, record


def _opik_trace(trace: Record) -> StepRow:
    about = _about_run(trace)
    for given in trace.get("feedback_scores") or ():
        for value in (given.get("value"), given.get("category_name")):
            if value not in (None, ""):
                about |= score(given.get("name"), value, given.get("reason"))
    item = (trace.get("experiment") or {}).get("dataset_item_id")
    named = {"task_id": item, "session.id": trace.get("thread_id")}
    about |= {name: value for name, value in named.items() if value}
    place = place_of(trace["id"], "", trace["start_time"], _opik_error(trace.get("error_info")))
    return StepRow(place, str(trace["id"]), "other", str(trace.get("name")), about=about)


def _about_run(record: Record) -> dict[str, Any]:
    return about_trace(
        record.get("metadata"), json_of(record.get("input")), _unwrap(json_of(record.get("output")), "output")
    )


def _opik_span(span: Record, traces: Set[str]) -> StepRow:
    metadata = json_of(span.get("metadata")) or {}
    kind, trace = _opik_kind(span, metadata), str(span["trace_id"])
    is_root = kind == "other" and not span.get("parent_span_id") and trace not in traces
    parent = "" if is_root else span.get("parent_span_id") or trace
    sent, reply, name = json_of(span.get("input")), json_of(span.get("output")), str(span.get("name"))
    if isinstance(sent, dict) and "toolName" in sent:  # Vercel's SDK
        name, arguments, result = str(sent["toolName"]), sent.get("args"), _unwrap(reply, "result")
    else:
        given = tool_arguments(sent)
        arguments, result = given if isinstance(given, dict) else sent, _unwrap(reply, "output")
    about = _about_run(span) if is_root else {}
    if kind == "judge" and (item := at(sent, "test_case_.dataset_item_id")):
        about = {"task_id": item}  # a scorer is given the item of the dataset, which spans alone name nowhere else
    return StepRow(
        place=place_of(trace, parent, span["start_time"], _opik_error(span.get("error_info"))),
        id=str(span["id"]),
        kind=kind,
        name=name,
        sent=sent if kind == "model" else arguments,
        reply=reply if kind == "model" else result,
        end=span.get("end_time"),
        model=span.get("model") or metadata.get("model"),
        usage=span.get("usage"),
        tools=metadata.get("tools"),
        about=about,
    )


def _opik_kind(span: Record, metadata: Record) -> Kind:
    name, kind = str(span.get("name")), span.get("type")
    if name in _SCORING:
        return "judge"
    if name.endswith("PromptTemplate") or metadata.get("type") == "guardrail":  # typed as tools, and are none
        return "other"
    return "model" if kind == "llm" else "tool" if kind == "tool" else "other"


def _unwrap(reply: object, name: str) -> object:
    """What a function gave back: anything but an object is wrapped in one."""
    return reply[name] if isinstance(reply, dict) and reply.keys() == {name} else reply


def _opik_error(info: object) -> object:
    if not isinstance(info, dict):
        return info
    thrown = ": ".join(str(info[name]) for name in ("exception_type", "message") if info.get(name))
    return thrown if info.get("message") else without_traceback(str(info.get("traceback") or "")) or thrown


OPIK = Platform("opik", ("content", "traces"), _is_opik, _opik)
