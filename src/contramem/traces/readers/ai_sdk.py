"""Chats of the Vercel AI SDK as they are stored: messages whose parts hold each call together with its result.

    {"id": "m2", "role": "assistant", "parts": [
      {"type": "tool-send", "toolCallId": "c1", "state": "output-available", "input": {"to": "Bob"}, "output": "sent"},
      {"type": "text", "text": "Done."}]}

The messages that the SDK sends to models have no parts: they are read as chat messages (tool_blocks.py). Messages as
OpenTelemetry records them have typed parts too, and are read here where they stand alone in a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contramem.traces.readers.conversation import ConversationReader
from contramem.traces.readers.messages import ROLES, has_typed_parts

_WITH_OUTPUT = ("output-available", "result")


class AiSdkReader(ConversationReader):
    name = "ai-sdk"

    def is_message(self, value: object) -> bool:
        role = value.get("role") if isinstance(value, dict) else None
        return isinstance(role, str) and role in ROLES and has_typed_parts(value)

    def translate(self, message: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        blocks = [block for part in message["parts"] for block in _blocks(part)]
        yield {"role": message["role"], "content": blocks, "model": _said_of(message, "model")}

    def facts(self, record: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
        return {"trial": record.get("id")}


def _blocks(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    kind = part["type"]
    call = part.get("toolInvocation") if kind == "tool-invocation" else part  # version 4 wraps it
    if not isinstance(call, dict) or not (kind.startswith("tool-") or kind == "dynamic-tool"):
        yield part
        return
    name, state = call.get("toolName") or kind.removeprefix("tool-"), call.get("state")
    yield {**call, "type": "tool-call", "toolName": name}
    if state in _WITH_OUTPUT:
        output = call.get("output", call.get("result"))
        yield {"type": "tool-result", "toolCallId": call.get("toolCallId"), "result": output}
    elif state == "output-error":
        failed = {"type": "error-text", "value": call.get("errorText")}
        yield {"type": "tool-result", "toolCallId": call.get("toolCallId"), "output": failed}


def _said_of(message: Mapping[str, Any], field: str) -> object:
    """What an application noted about a message."""
    metadata = message.get("metadata")
    return metadata.get(field) if isinstance(metadata, dict) else None
