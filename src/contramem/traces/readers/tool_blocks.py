"""Content blocks that call a tool or bring its result, as providers and frameworks write them.

    Anthropic        {"type": "tool_use", "id": "c1", "name": "send", "input": {"to": "Bob"}}
                     {"type": "tool_result", "tool_use_id": "c1", "content": "sent"}
    Amazon Bedrock   {"toolUse": {"toolUseId": "c1", "name": "send", "input": {"to": "Bob"}}}
                     {"toolResult": {"toolUseId": "c1", "content": [{"text": "sent"}], "status": "success"}}
    Vercel AI SDK    {"type": "tool-call", "toolCallId": "c1", "toolName": "send", "input": {"to": "Bob"}}
                     {"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "sent"}}
    Haystack         {"tool_call": {"id": "c1", "tool_name": "send", "arguments": {"to": "Bob"}}}
                     {"tool_call_result": {"origin": {"id": "c1", ...}, "result": "sent", "error": false}}
    OpenTelemetry    {"type": "tool_call", "id": "c1", "name": "send", "arguments": {"to": "Bob"}}
                     {"type": "tool_call_response", "id": "c1", "response": "sent"}

They do not collide, so one reading serves all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from contramem.traces.normalize import text_of


class CallBlock(NamedTuple):
    """A call in the content of a message."""

    name: str
    arguments: object
    call_id: str | None
    app: str = ""


class ResultBlock(NamedTuple):
    """A result in the content of a message."""

    content: object
    call_id: str | None
    error: bool | None
    """None where the block does not say."""


def call_in(block: object) -> CallBlock | None:
    """The call that a block makes, if it makes one."""
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    if _ends_with(kind, "tool_use"):
        return CallBlock(block["name"], block.get("input"), block.get("id"), block.get("server_name") or "")
    if kind == "tool-call":
        return CallBlock(block["toolName"], block.get("input", block.get("args")), block.get("toolCallId"))
    if kind == "tool_call" and "name" in block:
        return CallBlock(block["name"], block.get("arguments"), block.get("id"))
    if isinstance(use := block.get("toolUse"), dict):
        return CallBlock(use["name"], use.get("input"), use.get("toolUseId"))
    if isinstance(call := block.get("tool_call"), dict):
        return CallBlock(call["tool_name"], call.get("arguments"), call.get("id"))
    return None


def result_in(block: object) -> ResultBlock | None:
    """The result that a block brings, if it brings one."""
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    if _ends_with(kind, "tool_result"):
        return ResultBlock(
            result_content(block.get("content")), block.get("tool_use_id"), _if_bool(block.get("is_error"))
        )
    if kind == "tool-result":
        return _read_sdk_result(block)
    if kind == "tool_call_response":
        return ResultBlock(result_content(block.get("response", block.get("result"))), block.get("id"), None)
    if isinstance(answer := block.get("tool_call_result"), dict):
        origin = answer.get("origin")
        call_id = origin.get("id") if isinstance(origin, dict) else None
        return ResultBlock(result_content(answer.get("result")), call_id, _if_bool(answer.get("error")))
    if isinstance(result := block.get("toolResult"), dict):
        error = {"error": True, "success": False}.get(str(result.get("status")))
        return ResultBlock(_bedrock_content(result.get("content")), result.get("toolUseId"), error)
    return None


def has_anthropic_blocks(message: object) -> bool:
    """Does this message call a tool or bring a result in Anthropic's way?"""
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and any(
        isinstance(block, dict) and _ends_with(block.get("type"), "tool_use", "tool_result") for block in content
    )


def result_content(content: object) -> object:
    """The text of a result given as typed parts; any other value is what the tool returned, and stays."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content):
        return text_of(content)
    return content


def _read_sdk_result(block: Mapping[str, Any]) -> ResultBlock:
    """Since version 5 the output says of what kind it is; before, `result` was what the tool returned."""
    output = block.get("output", block.get("result"))
    error = _if_bool(block.get("isError"))
    if isinstance(output, dict) and isinstance(output.get("type"), str) and ("value" in output or "reason" in output):
        error = output["type"].startswith(("error-", "execution-denied")) or error
        output = output.get("value", output.get("reason"))
    return ResultBlock(result_content(output), block.get("toolCallId"), error)


def _bedrock_content(content: object) -> object:
    """What a tool returned: a lone JSON value as it is, otherwise the texts."""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    if len(parts) == 1 and "json" in parts[0]:
        return parts[0]["json"]
    return text_of(content)


def _ends_with(kind: object, *endings: str) -> bool:
    return isinstance(kind, str) and kind.endswith(endings)


def _if_bool(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
