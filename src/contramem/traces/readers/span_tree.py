"""Shared by platforms that keep runs as a tree of steps: each step becomes a Span, and otel.py reads the trace.

A platform says which of its steps are a model's and which are a tool's; `model_span` and `tool_span` write them down in
the names of the GenAI conventions, so that one reading serves them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.readers.langchain import chat_messages
from contramem.traces.readers.logged_messages import messages_in
from contramem.traces.readers.otel_messages import OtelCall, is_model, json_of, messages_of
from contramem.traces.readers.otel_spans import Span, seconds

Spans = Iterator[tuple[object, Span | TraceError]]
Made = TypeVar("Made")

BROKEN = (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError, RecursionError, TraceError)
"""What reading a damaged record raises."""
_REQUESTS = ("query", "question", "prompt", "input")


class SpanStep(NamedTuple):
    """Where a step stands in its trace."""

    trace: str
    parent: str
    start: float
    error: str | None = None


def spans_of(
    records: Iterable[tuple[object, Any]], make: Callable[[Any], Iterable[Made]]
) -> Iterator[tuple[object, Made | TraceError]]:
    """The spans of each record; anything else comes as a TraceError."""
    for position, record in records:
        try:
            if isinstance(record, TraceError):
                raise record
            for span in make(record):
                yield position, span
        except BROKEN as error:
            what = error.what if isinstance(error, TraceError) else f"has no usable step ({str(error)[:200]})"
            yield position, TraceError(what, "Is this an export of traces?")


def records_of(file: TraceFile, *keys: str) -> Iterable[tuple[object, Any]]:
    """(position, record): one per line, the items of a list or of the list under one of `keys`, or the document."""
    if file.is_lines:
        return file.lines()
    document = file.document
    if isinstance(document, dict):
        listed = next((document[key] for key in keys if isinstance(document.get(key), list)), None)
        return [("", document)] if listed is None else enumerate(listed)
    return enumerate(document) if isinstance(document, list) else [("", document)]


def first_record(file: TraceFile, *keys: str) -> dict[str, Any]:
    """The first record, from which a reader sees whether the file is in its format; empty if there is none."""
    head = file.head
    if isinstance(head, dict):
        head = next((head[key] for key in keys if isinstance(head.get(key), list) and head[key]), head)
    if isinstance(head, list):
        head = head[0] if head else None
    return head if isinstance(head, dict) else {}


def step(trace: object, parent: object, start: object, error: object = None) -> SpanStep:
    text = error if isinstance(error, str) else "" if not error else str(error)
    return SpanStep(str(trace), str(parent or ""), seconds(start), text[:2000] or None)


def plain_span(place: SpanStep, attributes: dict[str, Any]) -> Span:
    """A step that is neither a model's nor a tool's: it holds the trace together and may carry its labels."""
    return Span(place.trace, place.parent, place.start, attributes, error=place.error)


def model_span(place: SpanStep, sent: object, reply: object, model: object, usage: object = None) -> Span:
    counts = usage if isinstance(usage, dict) else {}
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model.rpartition("/models/")[2] if isinstance(model, str) and model else None,
        "gen_ai.input.messages": list(messages_in(json_of(sent))),
        "gen_ai.output.messages": list(messages_in(json_of(reply), "assistant")),
        "gen_ai.usage.input_tokens": _first(counts, "input_tokens", "prompt_tokens", "input", "promptTokens"),
        "gen_ai.usage.output_tokens": _first(
            counts, "output_tokens", "completion_tokens", "output", "completionTokens"
        ),
    }
    return Span(place.trace, place.parent, place.start, attributes, error=place.error)


def tool_span(place: SpanStep, name: object, arguments: object, result: object, call_id: object = None) -> Span:
    answered, error = json_of(result), place.error
    chats = [chat for chat in chat_messages(answered) if chat["role"] == "tool"]
    if chats:  # LangChain's tools answer with a message
        result, call_id = chats[0]["content"], chats[0]["tool_call_id"] or call_id
        error = error or (str(result)[:2000] if chats[0]["is_error"] else None)
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": str(name),
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.call.arguments": json_of(arguments),
        "gen_ai.tool.call.result": result,
    }
    return Span(place.trace, place.parent, place.start, attributes, error=error)


def tool_arguments(inputs: object) -> object:
    """A tool's inputs, which LangChain's tracing wraps as the text under `input` when they were logged as text."""
    if isinstance(inputs, dict) and inputs.keys() == {"input"}:
        return _literal(inputs["input"])
    return inputs


def _literal(value: object) -> object:
    """LangChain logs a tool's input as Python's text of it."""
    if not isinstance(value, str) or not value.startswith("{") or len(value) > 100_000:
        return value
    import ast  # only literals: nothing is run

    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def _first(counts: dict[str, Any], *names: str) -> Any:
    return next((counts[name] for name in names if counts.get(name) is not None), None)


def calls_asked_for(spans: Iterable[Span]) -> list[OtelCall]:
    """The calls that models asked for. Those that a later request repeats come once more."""
    return [call for span in spans if is_model(span) for message in messages_of(span) for call in message.calls]


def find_request(sent: object) -> str:
    """What the user asked the whole trace. The first message to a model may be an instruction."""
    value = json_of(json_of(sent))  # Langfuse's interface writes JSON as text once more
    if isinstance(value, dict) and "args" in value:  # a traced function: its arguments, not somebody's words
        return ""
    if isinstance(value, dict) and "messages" in value:  # of earlier turns, if the request stands beside them
        value = next((value[name] for name in _REQUESTS if isinstance(value.get(name), str)), value)
    contents = (message.get("content") for message in messages_in(value) if message.get("role") == "user")
    return next((text for text in contents if isinstance(text, str)), "")


def labels(*holders: object) -> dict[str, Any]:
    """What tags and metadata say about the run, under the names that otel.py looks for."""
    labels_by_name: dict[str, Any] = {}
    for holder in holders:
        holder = json_of(holder)
        if isinstance(holder, dict):
            labels_by_name |= {f"metadata.{name}": value for name, value in holder.items() if isinstance(name, str)}
            labels_by_name |= {name: value for name, value in holder.items() if isinstance(name, str)}
    return labels_by_name


def score_attributes(name: object, value: object, comment: object = "") -> dict[str, Any]:
    """An evaluation as otel.py reads it."""
    key = str(name or "score").replace(".", "_")
    is_label = isinstance(value, str)
    return {f"eval.{key}.{'label' if is_label else 'score'}": value, f"eval.{key}.explanation": comment or ""}
