"""Gemini `contents` (role and parts), and sessions of Google's Agent Development Kit, whose events hold contents.

{"role": "user", "parts": [{"text": "Mail Bob."}]}
{"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "send", "args": {"to": "Bob"}}}]}
{"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "send", "response": {"result": "sent"}}}]}

{"appName": "mail", "events": [{"author": "user", "content": {"role": "user", "parts": [...]}}]}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contramem.traces.readers.conversation import ConversationReader, call_entry, tool_message
from contramem.traces.readers.messages import has_typed_parts

_PARTS = (
    "text functionCall function_call functionResponse function_response inlineData inline_data fileData file_data "
    "executableCode executable_code codeExecutionResult code_execution_result thought"
).split()


class GeminiReader(ConversationReader):
    name = "gemini"
    keys = ("contents", "history", "events", "messages", "session.events")

    def is_message(self, value: object) -> bool:
        if isinstance(value, dict) and "author" in value:  # an ADK event; one that only changes state has no content
            return value.get("content") is None or _is_content(value["content"])
        return _is_content(value)

    def translate(self, message: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        content = message.get("content") if "author" in message else message
        if isinstance(content, dict):
            spoke = "user" if content.get("role") == "user" else "assistant"
            yield from _chat_messages(spoke, content.get("parts") or [], message)

    def facts(self, record: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
        fields = {"environment": record.get("appName") or record.get("app_name")}
        if "events" in record:
            fields["trial"] = record.get("id")
        if not (record.get("model") or record.get("source")):
            authors = (message.get("author") for message in messages if isinstance(message, dict))
            fields["model"] = next((author for author in authors if author and author != "user"), None)
        return fields


def _is_content(value: object) -> bool:
    parts = value.get("parts") if isinstance(value, dict) else None
    if not isinstance(parts, list) or not parts or has_typed_parts(value) or "kind" in value:  # type: ignore[operator]
        return False
    return all(isinstance(part, dict) and any(key in part for key in _PARTS) for part in parts)


def _chat_messages(role: str, parts: list[Any], message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str) and part.get("thought") is not True]
    calls = [call for part in parts if isinstance(call := _either(part, "functionCall", "function_call"), dict)]
    usage = message.get("usageMetadata") or message.get("usage_metadata")
    if texts or calls:
        yield {
            "role": "assistant" if calls else role,
            "content": "".join(texts),
            "tool_calls": [call_entry(call.get("id"), call["name"], call.get("args")) for call in calls],
            "usage": _usage(usage) if isinstance(usage, dict) else None,
            "model": message.get("modelVersion") or message.get("model_version"),
        }
    for part in parts:
        answer = _either(part, "functionResponse", "function_response")
        if isinstance(answer, dict):
            yield tool_message(answer.get("id"), unwrap_result(answer.get("response")))


def _either(part: Mapping[str, Any], camel: str, snake: str) -> Any:
    return part.get(camel) or part.get(snake)


def unwrap_result(response: object) -> object:
    """What a tool returned: the SDK wraps what is no object as `{"result": ...}` or `{"output": ...}`."""
    if isinstance(response, dict) and len(response) == 1:
        return response.get("result", response.get("output", response))
    return response


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.get("promptTokenCount", usage.get("prompt_token_count")),
        "completion_tokens": usage.get("candidatesTokenCount", usage.get("candidates_token_count")),
    }
