"""LangChain and LangGraph messages: `messages_to_dict`, `dumpd`/`dumps`, `model_dump`, and LangGraph state values.

    {"type": "human", "data": {"content": "Mail Bob."}}
    {"type": "ai", "data": {"content": "", "tool_calls": [{"id": "c1", "name": "send", "args": {"to": "Bob"}}]}}
    {"type": "tool", "data": {"content": "sent", "tool_call_id": "c1", "status": "success"}}

`dumpd` writes `{"lc": 1, "id": [..., "AIMessage"], "kwargs": {...}}`, `model_dump` the fields beside `type`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from contramem.traces.readers.conversation import ConversationReader, call_entry, tool_message

_ROLES = {"human": "user", "user": "user", "ai": "assistant", "assistant": "assistant", "system": "system"}
_KINDS = frozenset((*_ROLES, "tool", "function", "remove", "chat", "developer"))


def is_langchain_message(value: object) -> bool:
    return message_fields(value) is not None


def message_fields(value: object) -> tuple[str, Mapping[str, Any]] | None:
    """(kind, fields) of a message in any of LangChain's spellings; None for anything else."""
    if not isinstance(value, dict):
        return None
    if value.get("lc") == 1 and isinstance(value.get("kwargs"), dict):
        named = value["id"][-1] if isinstance(value.get("id"), list) and value["id"] else ""
        kind = str(value["kwargs"].get("type") or str(named).removesuffix("Chunk").removesuffix("Message").lower())
        fields = value["kwargs"]
    elif isinstance(value.get("data"), dict) and "role" not in value:
        kind, fields = str(value.get("type")), value["data"]
    elif "content" in value and "role" not in value:
        kind, fields = str(value.get("type")), value
    else:
        return None
    kind = kind.removesuffix("MessageChunk").lower()
    return (kind, fields) if kind in _KINDS else None


def chat_messages(value: object) -> Iterable[dict[str, Any]]:
    """The message as chat messages."""
    parsed = message_fields(value)
    if parsed is None:
        return
    kind, fields = parsed
    if kind in ("tool", "function"):
        failed = {"error": True, "success": False}.get(str(fields.get("status")))
        yield tool_message(fields.get("tool_call_id"), fields.get("content"), error=True if failed else None)
    elif kind in _ROLES:
        yield {
            "role": _ROLES[kind],
            "content": _text_blocks(fields.get("content")),
            "tool_calls": [*_calls(fields)],
            "model": _model(fields),
            "usage": fields.get("usage_metadata"),
        }


def _text_blocks(content: object) -> object:
    """Content without the tool blocks that LangChain repeats in `tool_calls`."""
    if not isinstance(content, list):
        return content
    return [block for block in content if not (isinstance(block, dict) and "tool" in str(block.get("type")))]


def _calls(fields: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    calls = fields.get("tool_calls") or (fields.get("additional_kwargs") or {}).get("tool_calls") or ()
    for call in calls:
        if "function" in call:
            yield call
        else:
            yield call_entry(call.get("id"), call["name"], call.get("args"))


def _model(fields: Mapping[str, Any]) -> object:
    metadata = fields.get("response_metadata") or {}
    return metadata.get("model_name") or metadata.get("model")


class LangChainReader(ConversationReader):
    name = "langchain"
    keys = ("messages", "values.messages", "channel_values.messages", "state.messages", "output.messages")

    def is_message(self, value: object) -> bool:
        return is_langchain_message(value)

    def translate(self, message: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        return chat_messages(message)

    def facts(self, record: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
        config = (record.get("config") or {}).get("configurable") or {}
        metadata = record.get("metadata") or {}
        return {**metadata, "trial": metadata.get("thread_id") or config.get("thread_id")}
