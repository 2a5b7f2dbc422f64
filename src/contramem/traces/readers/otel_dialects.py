"""Translates spans of other conventions into the names of the GenAI conventions.

OpenLLMetry, Vercel's AI SDK and PydanticAI's first versions have attributes of their own, home-made instrumentation has
others. A tool's name is under `...tool.name` or `...tool_name` nearly everywhere. Its arguments and its result, and a
model's messages, are recognised by how an attribute's name ends.
"""

from __future__ import annotations

import re
from typing import Any

from contramem.traces.readers.logged_messages import messages_in
from contramem.traces.readers.otel_messages import json_of
from contramem.traces.readers.otel_spans import Span

_TOOL = re.compile(r"(?:^|[._])tool(?:_?call)?[._]?name$", re.IGNORECASE)
_CALL_ID = re.compile(r"(?:^|[._])tool[._]?call[._]?id$", re.IGNORECASE)
_ARGUMENTS = re.compile(r"(?:^|[._])(?:arguments|args|parameters|params|inputs?(?:[._]value)?)$", re.IGNORECASE)
_RESULT = re.compile(r"(?:^|[._])(?:results?|outputs?(?:[._]value)?|response|returned)$", re.IGNORECASE)
_MODEL = re.compile(r"(?:^|[._])(?:llm|ai|request|response)?[._]?model(?:[._]?(?:name|id))?$", re.IGNORECASE)
_SENT = re.compile(r"(?:^|[._])(?:messages|prompts?|inputs?(?:[._]value)?|events)$", re.IGNORECASE)
_REPLY = re.compile(
    r"(?:^|[._])(?:completions?|repl(?:y|ies)|answer|response(?:[._]text)?|outputs?(?:[._]value)?)$", re.I
)
_REPLY_CALLS = re.compile(r"(?:^|[._])tool_?calls$", re.IGNORECASE)
_INDEXED = re.compile(r"gen_ai\.(prompt|completion)\.(\d+)\.(.+)")
_INDEXED_CALL = re.compile(r"tool_calls\.(\d+)\.(id|name|arguments)")


def use_known_names(span: Span) -> Span:
    """The span itself, with what it says also under names that otel.py knows; unchanged where it uses them already."""
    if span.get("openinference.span.kind", "gen_ai.operation.name") is not None:
        return span
    if span.get("traceloop.span.kind") == "tool":
        _name_tool(span, span.get("traceloop.entity.name"))
    elif (tool := _matching(span, _TOOL)) is not None:
        _name_tool(span, tool)
    elif any(_INDEXED.fullmatch(name) for name in span.attributes):
        _name_model(span, *_indexed_messages(span))
    elif isinstance(model := _matching(span, _MODEL), str) and (sent := _matching(span, _SENT)) is not None:
        reply = [*messages_in(json_of(_matching(span, _REPLY)), "assistant")]
        reply += messages_in(json_of(_matching(span, _REPLY_CALLS)), "assistant")
        span.attributes.setdefault("gen_ai.request.model", model)
        _name_model(span, [*messages_in(json_of(sent))], reply)
    return span


def _matching(span: Span, pattern: re.Pattern[str]) -> Any:
    """The value under the shortest name that matches: `tool.input` before `tool.input.mime.parameters`."""
    names = [name for name, value in span.attributes.items() if pattern.search(name) and value not in (None, "")]
    return span.attributes[min(names, key=len)] if names else None


def _name_tool(span: Span, name: object) -> None:
    arguments = json_of(_matching(span, _ARGUMENTS))
    if isinstance(arguments, dict):  # OpenLLMetry wraps what a function was given
        arguments = next(
            (arguments[key] for key in ("inputs", "kwargs") if isinstance(arguments.get(key), dict)), arguments
        )
    span.attributes |= {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": str(name),
        "gen_ai.tool.call.id": _matching(span, _CALL_ID),
        "gen_ai.tool.call.arguments": arguments,
        "gen_ai.tool.call.result": _matching(span, _RESULT),
    }


def _name_model(span: Span, sent: list[dict[str, Any]], reply: list[dict[str, Any]]) -> None:
    if sent or reply:
        span.attributes |= {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": sent,
            "gen_ai.output.messages": reply,
        }


def _indexed_messages(span: Span) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """OpenLLMetry spreads a conversation over attributes: `gen_ai.prompt.0.role`, `gen_ai.completion.0.content`."""
    fields: dict[tuple[str, int], dict[str, Any]] = {}
    for name, value in span.attributes.items():
        if match := _INDEXED.fullmatch(name):
            fields.setdefault((match[1], int(match[2])), {})[match[3]] = value
    sides: dict[str, list[dict[str, Any]]] = {"prompt": [], "completion": []}
    for side, place in sorted(fields):
        sides[side].append(_indexed_message(fields[side, place], "user" if side == "prompt" else "assistant"))
    return sides["prompt"], sides["completion"]


def _indexed_message(fields: dict[str, Any], role: str) -> dict[str, Any]:
    calls: dict[int, dict[str, Any]] = {}
    for name, value in fields.items():
        if match := _INDEXED_CALL.fullmatch(name):
            calls.setdefault(int(match[1]), {})[match[2]] = value
    return {
        "role": fields.get("role") or role,
        "content": fields.get("content"),
        "tool_call_id": fields.get("tool_call_id"),
        "tool_calls": [calls[place] for place in sorted(calls)],
    }
