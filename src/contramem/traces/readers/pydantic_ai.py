"""PydanticAI message histories: `result.all_messages_json()`, a list of requests and responses made of parts.

{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Mail Bob."}]}
{"kind": "response", "model_name": "...", "parts": [
  {"part_kind": "tool-call", "tool_call_id": "c1", "tool_name": "send", "args": {"to": "Bob"}}]}
{"kind": "request", "parts": [{"part_kind": "tool-return", "tool_call_id": "c1", "content": "sent"}]}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contramem.traces.readers.conversation import ConversationReader, call_entry, tool_message

_FAILED = ("retried", "failed", "denied")


class PydanticAiReader(ConversationReader):
    name = "pydantic-ai"
    keys = ("messages", "all_messages", "message_history")

    def is_message(self, value: object) -> bool:
        return is_pydantic_message(value)

    def translate(self, message: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        return translate_pydantic_message(message)


def is_pydantic_message(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.get("kind") in ("request", "response")
        and isinstance(value.get("parts"), list)
    )


def translate_pydantic_message(message: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """The message as chat messages."""
    parts = [part for part in message["parts"] if isinstance(part, dict)]
    return _response(message, parts) if message["kind"] == "response" else _request(parts)


def _response(message: Mapping[str, Any], parts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield {
        "role": "assistant",
        "content": [{"type": "text", "text": part.get("content")} for part in parts if part.get("part_kind") == "text"],
        "tool_calls": [
            call_entry(part.get("tool_call_id"), part["tool_name"], part.get("args"))
            for part in parts
            if part.get("part_kind") in ("tool-call", "builtin-tool-call")
        ],
        "model": message.get("model_name"),
        "usage": message.get("usage"),
    }
    yield from (
        tool_message(part.get("tool_call_id"), part.get("content"))
        for part in parts
        if part.get("part_kind") == "builtin-tool-return"
    )


def _request(parts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for part in parts:
        kind = part.get("part_kind")
        if kind == "user-prompt":
            yield {"role": "user", "content": part.get("content")}
        elif kind == "tool-return":
            failed = part.get("outcome") in _FAILED
            yield tool_message(part.get("tool_call_id"), part.get("content"), error=True if failed else None)
        elif kind == "retry-prompt":
            if part.get("tool_name"):
                yield tool_message(part.get("tool_call_id"), part.get("content"), error=True)
            else:
                yield {"role": "system", "content": part.get("content")}
