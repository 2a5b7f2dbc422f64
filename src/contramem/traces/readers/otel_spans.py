"""Spans as every exporter writes them (`ReadableSpan.to_json` lines, lists, OTLP-JSON), in one shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from contramem.errors import TraceError
from contramem.traces.decoding import decode, number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import check_depth

_NO_SPAN = (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError, RecursionError, TraceError)


@dataclass(slots=True, eq=False)
class Span:
    """One span, or one log record of a trace, with its attributes as plain values under dotted names."""

    trace: str
    parent: str
    start: float
    attributes: dict[str, Any]
    resource: dict[str, Any] = field(default_factory=dict)
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    error: str | None = None
    """The message, when the span's status is an error."""

    def get(self, *names: str) -> Any:
        """The first of these attributes that is set."""
        for name in names:
            if (value := self.attributes.get(name)) is not None:
                return value
        return None


def spans_in(file: TraceFile) -> Iterator[tuple[object, Span | TraceError]]:
    """(position, span) for every span of the file; anything else comes as a TraceError."""
    for position, value in _values(file):
        if isinstance(value, TraceError):
            yield position, value
            continue
        for make, raw, resource in _raw_spans(value):
            try:
                yield position, make(raw, resource)
            except _NO_SPAN as error:
                yield position, TraceError(f"has no usable span ({str(error)[:200]})", "Is this an export of spans?")


def _values(file: TraceFile) -> Iterator[tuple[object, Any]]:
    if file.is_lines:
        yield from file.lines()
        return
    try:
        document = file.document
    except TraceError as error:
        yield from _split_concatenated(file.content, error)
        return
    yield from enumerate(document) if isinstance(document, list) else [("", document)]


def _split_concatenated(content: bytes, error: TraceError) -> Iterator[tuple[object, Any]]:
    """Objects written one after the other over several lines each, as a console exporter does."""
    text, at, count = content.decode("utf-8", "replace"), 0, 0
    while at < len(text):
        try:
            value, end = json.JSONDecoder().raw_decode(text, at)
        except (ValueError, RecursionError):
            yield f"span {count + 1}" if count else "", error
            return
        yield f"span {count + 1}", value
        count += 1
        at = end + len(text[end:]) - len(text[end:].lstrip()) if text[end : end + 1].isspace() else end


def _raw_spans(value: Any) -> Iterator[tuple[Any, Any, Any]]:
    """(what makes it a span, the raw span, its raw resource)"""
    if not isinstance(value, dict) or not ("resourceSpans" in value or "resourceLogs" in value):
        yield _span, value, {}
        return
    for kind, scopes, items, make in (
        ("resourceSpans", "scopeSpans", "spans", _otlp_span),
        ("resourceLogs", "scopeLogs", "logRecords", _otlp_log),
    ):
        for group in _list(value.get(kind)):
            resource = group.get("resource")
            for scope in _list(group.get(scopes)):
                for item in _list(scope.get(items)):
                    yield make, item, resource


def _list(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _span(raw: dict[str, Any], _: Any) -> Span:
    context, status = raw["context"], raw.get("status")
    code = status.get("status_code") if isinstance(status, dict) else raw.get("status_code") or status
    description = status.get("description") if isinstance(status, dict) else raw.get("status_message")
    events = [(event["name"], event.get("attributes") or {}) for event in raw.get("events") or ()]
    attributes = expand_metadata(flatten(raw["attributes"]))
    if raw.get("span_kind"):  # Phoenix's API writes the kind beside the attributes
        attributes.setdefault("openinference.span.kind", raw["span_kind"])
    return Span(
        trace=str(context["trace_id"]),
        parent=str(raw.get("parent_id") or ""),
        start=seconds(raw["start_time"]),
        attributes=attributes,
        resource=(raw.get("resource") or {}).get("attributes") or {},
        events=events,
        error=error_text(description, events, attributes) if str(code).endswith("ERROR") else None,
    )


def _otlp_span(raw: dict[str, Any], resource: Any) -> Span:
    status = raw.get("status") or {}
    events = [(event["name"], _attributes(event.get("attributes"))) for event in raw.get("events") or ()]
    attributes = expand_metadata(_attributes(raw.get("attributes")))
    failed = status.get("code") in (2, "STATUS_CODE_ERROR")
    return Span(
        trace=str(raw["traceId"]),
        parent=str(raw.get("parentSpanId") or ""),
        start=int(raw["startTimeUnixNano"]) / 1e9,
        attributes=attributes,
        resource=_attributes((resource or {}).get("attributes")),
        events=events,
        error=error_text(status.get("message"), events, attributes) if failed else None,
    )


def _otlp_log(raw: dict[str, Any], resource: Any) -> Span:
    """A log record as a span without a status: evaluations are logged after the trace has ended."""
    attributes = _attributes(raw.get("attributes"))
    name = raw.get("eventName") or attributes.get("event.name") or ""
    time = int(raw.get("timeUnixNano") or raw.get("observedTimeUnixNano") or 0) / 1e9
    return Span(str(raw["traceId"]), "log", time, {}, events=[(str(name), attributes)])


def error_text(description: object, events: list[tuple[str, dict[str, Any]]], attributes: dict[str, Any]) -> str:
    thrown = next((values for name, values in events if name == "exception"), {})
    for text in (
        thrown.get("exception.message"),
        description,
        thrown.get("exception.type"),
        attributes.get("error.type"),
    ):
        if text:
            return str(text)[:2000]
    return "failed"


def seconds(time: object) -> float:
    """Of an ISO text, or of a number that is nanoseconds when it could not be seconds."""
    if isinstance(time, str) and not time.isdigit():
        return datetime.fromisoformat(time).timestamp()
    value = number(time)
    if value is None:
        raise ValueError(f"start time is {time!r}")
    return value / 1e9 if value > 1e14 else value


def _attributes(pairs: Any) -> dict[str, Any]:
    check_depth(pairs, 128)
    return {pair["key"]: _value(pair.get("value")) for pair in pairs or ()}


def _value(value: Any) -> Any:
    """A value in OTLP's encoding: `{"intValue": "5"}` is 5."""
    if not isinstance(value, dict) or not value:
        return value or None
    kind, content = next(iter(value.items()))
    if kind == "intValue":
        return int(content)
    if kind == "arrayValue":
        return [_value(item) for item in content.get("values") or ()]
    if kind == "kvlistValue":
        return _attributes(content.get("values"))
    return content


_NESTED = frozenset(
    "llm tool openinference input output session user message agent tool_call embedding retrieval eval".split()
)
"""Prefixes that Phoenix exports as objects instead of dotted names."""


def flatten(attributes: Any) -> dict[str, Any]:
    """Attributes under dotted names, however deep the exporter nested OpenInference's own ones."""
    flat: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.partition(".")[0] in _NESTED and isinstance(value, (dict, list)) and not name.endswith("put.value"):
            check_depth(value)
            _spread(name, value, flat)
        else:
            flat[name] = value
    return flat


def _spread(name: str, value: Any, flat: dict[str, Any]) -> None:
    if name in ("input.value", "output.value"):  # whatever a tool was given: its own fields are no attributes
        flat[name] = value
    elif isinstance(value, dict):
        for key, child in value.items():
            _spread(f"{name}.{key}", child, flat)
    elif isinstance(value, list) and any(isinstance(child, dict) for child in value):
        for place, child in enumerate(value):
            _spread(f"{name}.{place}", child, flat)
    elif value is not None:
        flat[name] = value


def expand_metadata(attributes: dict[str, Any]) -> dict[str, Any]:
    """With the entries of a `metadata` attribute, which is JSON text or an object, under names of their own."""
    metadata = attributes.get("metadata")
    if isinstance(metadata, str):
        try:
            metadata = decode(metadata.encode())
        except TraceError:
            metadata = None
    if isinstance(metadata, dict):
        return {**{f"metadata.{key}": value for key, value in metadata.items()}, **attributes}
    return attributes
