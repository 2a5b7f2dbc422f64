"""JSON mode: how a model without native tool calls makes them. It writes one JSON object, and nothing it writes is
executed.

    {"function": "send_mail", "arguments": {"to": "..."}}      a call
    {"function": "finish", "arguments": {"answer": "..."}}     the answer that ends its turn
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from contramem.errors import TraceError
from contramem.prompts import render
from contramem.traces.normalize import check_depth
from contramem.traces.trajectory import RunUsage, Tool
from contramem_lab.bench.target import ONE_CALL, AgentReply, ChatMessage, ToolCall

FINISH = "finish"
PROMPT = "bench/prompts/json_mode.jinja"

_ANSWER = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
_KEPT = ("type", "properties", "required", "items", "enum", "const", "anyOf", "minimum", "maximum")


def schema_of(tools: Iterable[Tool]) -> dict[str, Any]:
    """The JSON schema of a reply: one branch per tool, and one to finish."""
    branches = [_branch(tool.function, _compact(tool.parameters)) for tool in tools]
    return {"anyOf": [*branches, _branch(FINISH, _ANSWER)]}


def plain_messages(messages: Sequence[ChatMessage], tools: Sequence[Tool]) -> list[dict[str, str]]:
    """The conversation as plain messages: the tools in the system message, calls as JSON, results as user messages."""
    how = render(
        PROMPT,
        "contramem_lab",
        tools=[(tool.function, _signature(tool), tool.description) for tool in tools],
        finish=FINISH,
    )
    plain = []
    for message in messages:
        if message.role == "system":
            plain.append({"role": "system", "content": f"{message.text}\n\n{how.text.strip()}"})
        elif message.role == "assistant":
            plain.append({"role": "assistant", "content": message.text or _format_calls(message.calls)})
        elif message.answers is not None:
            plain.append({"role": "user", "content": f"Result of {message.answers.function}: {message.text}"})
        else:
            plain.append({"role": "user", "content": message.text})
    return _alternating(plain)


def reply_of(text: str, usage: RunUsage = ONE_CALL) -> AgentReply:
    """What the model meant. Any text gives a call, an answer, or a problem to report back."""
    document = _object_in(text)
    if document is None:
        return AgentReply(text, problem="That was no JSON object. Write one call as JSON, or finish.", usage=usage)
    function, arguments = document.get("function"), document.get("arguments", {})
    if not isinstance(function, str) or not function:
        return AgentReply(text, problem='The JSON object has no "function".', usage=usage)
    if not isinstance(arguments, dict):
        return AgentReply(text, problem='"arguments" must be a JSON object.', usage=usage)
    if function != FINISH:
        return AgentReply(calls=(ToolCall(function, arguments),), usage=usage)
    answer = arguments.get("answer", "")
    return AgentReply(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False), usage=usage)


def _object_in(text: str) -> dict[str, Any] | None:
    """The first JSON object in the text: models like to wrap it in a fence or to say something first."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
            check_depth(value)
        except (ValueError, RecursionError, TraceError):
            start = text.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def _format_calls(calls: Iterable[ToolCall]) -> str:
    return "\n".join(
        json.dumps({"function": call.function, "arguments": call.arguments}, ensure_ascii=False) for call in calls
    )


def _alternating(said: list[dict[str, str]]) -> list[dict[str, str]]:
    """Merge adjacent messages of the same role: some chat templates insist on alternating turns."""
    joined: list[dict[str, str]] = []
    for message in said:
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1]["content"] += f"\n\n{message['content']}"
        else:
            joined.append(dict(message))
    return joined


def _branch(function: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"function": {"const": function}, "arguments": arguments},
        "required": ["function", "arguments"],
    }


def _compact(schema: Any) -> Any:
    """The schema with what constrains a value and without descriptions, which the prompt already has."""
    if isinstance(schema, list):
        return [_compact(child) for child in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _compact(child) for name, child in value.items()} if key == "properties" else _compact(value)
        for key, value in schema.items()
        if key in _KEPT
    }


def _signature(tool: Tool) -> str:
    required = tool.parameters.get("required", ())
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {_kind(schema)}"
        for name, schema in tool.parameters.get("properties", {}).items()
    )


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_kind(member) for member in schema["anyOf"]))
    kind = str(schema.get("type", "any"))
    return f"{_kind(schema.get('items', {}))}[]" if kind == "array" else kind
