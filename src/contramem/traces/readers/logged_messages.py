"""The chat messages in what a model was sent or gave back, in the shapes in which instrumentations log them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from contramem.traces.readers.conversation import call_entry, tool_message
from contramem.traces.readers.langchain import chat_messages, is_langchain_message
from contramem.traces.readers.pydantic_ai import is_pydantic_message, translate_pydantic_message

_HOLDERS = (
    "messages contents new_message input prompt question query choices candidates message generations output content "
    "text args"
).split()
"""Where an object that is no message itself keeps its messages; the first that is there counts."""

_SPEAKERS = ("system", "user", "human", "assistant", "ai")
_TURN = re.compile(r"^(system|developer|user|human|assistant|tool): ", re.MULTILINE)
_PRINTED = re.compile(r"role='(\w+)' content=(?:'(.*?)'|\"(.*?)\"|None) (?:name|tool_call_id)=", re.DOTALL)


def messages_in(value: Any, role: str = "user") -> Iterator[dict[str, Any]]:
    """Every message in `value`. Text without a speaker is said by `role`."""
    if isinstance(value, str):
        yield from _in_text(value, role)
    elif isinstance(value, list) and len(value) == 2 and value[0] in _SPEAKERS and isinstance(value[1], str):
        yield {"role": value[0], "content": value[1]}  # LangChain's short form
    elif isinstance(value, list):
        for item in value:
            yield from messages_in(item, role)
    elif isinstance(value, dict):
        yield from _in_object(value, role)


def _in_text(text: str, role: str) -> Iterator[dict[str, Any]]:
    """Plain text is one message; some log a conversation as text (`user: ...`), or the printed form of an object."""
    if printed := _PRINTED.match(text):
        printed_text = printed[2] if printed[3] is None else printed[3]
        yield {"role": printed[1], "content": (printed_text or "").replace("\\n", "\n")}
    elif _TURN.match(text):
        _, *turns = _TURN.split(text)
        for speaker, printed_text in zip(turns[::2], turns[1::2], strict=True):
            if printed_text.strip() not in ("", "None"):
                yield {"role": speaker, "content": printed_text.strip()}
    elif text != "None":  # an empty reply, printed
        yield {"role": role, "content": text}


def _in_object(value: Mapping[str, Any], role: str) -> Iterator[dict[str, Any]]:
    if is_langchain_message(value):
        yield from chat_messages(value)
    elif is_pydantic_message(value):
        yield from translate_pydantic_message(value)
    elif (item := _item(value)) is not None:
        yield item
    elif "role" in value:
        if not _is_tool_definition(value.get("content")):
            yield dict(value)
    elif value.get("type") in ("text", "tool_use"):  # a bare block of Anthropic's reply
        yield {"role": role, "content": [value]}
    else:
        inner = next((value[key] for key in _HOLDERS if value.get(key)), None)
        yield from messages_in(inner, role)
        for call in value.get("toolCalls") or ():  # Vercel's reply: text beside calls
            yield from messages_in(call, role)


def _item(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """A call or a result that stands alone: an item of OpenAI's Responses API, a call of Vercel's SDK."""
    if value.get("type") == "function_call" and "name" in value:
        return _asks(value.get("call_id") or value.get("id"), value["name"], value.get("arguments"))
    if value.get("type") == "function_call_output":
        return tool_message(value.get("call_id"), value.get("output"))
    if "toolCallId" in value and "toolName" in value and "role" not in value:
        return _asks(value["toolCallId"], value["toolName"], value.get("input", value.get("args")))
    return None


def _asks(call_id: object, name: object, arguments: object) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [call_entry(call_id, name, arguments)]}


def _is_tool_definition(content: object) -> bool:
    """Langfuse's handler for LangChain appends the tools that a model was offered as messages."""
    return isinstance(content, dict) and content.get("type") == "function" and isinstance(content.get("function"), dict)
