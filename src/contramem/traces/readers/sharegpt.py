r"""ShareGPT conversations (`from` and `value`), with the tool turns that function-calling data sets add.

    {"id": "t1", "conversations": [
      {"from": "human", "value": "Mail Bob."},
      {"from": "function_call", "value": "{\"name\": \"send\", \"arguments\": {\"to\": \"Bob\"}}"},
      {"from": "observation", "value": "sent"},
      {"from": "gpt", "value": "Done."}]}

A call is a turn of `function_call`, or text inside `<tool_call>` tags; its result is a turn of `observation` or `tool`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.decoding import decode
from contramem.traces.readers.conversation import ConversationReader, call_entry, tool_message

_ROLES = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant",
          "bing": "assistant", "bard": "assistant", "model": "assistant", "system": "system"}  # fmt: skip
_CALLS = ("function_call", "tool_call", "function-call")
_RESULTS = ("observation", "tool", "function_response", "tool_response", "function")
_TAGGED_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_TAGGED_RESULT = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)


class ShareGptReader(ConversationReader):
    name = "sharegpt"
    keys = ("conversations", "conversation", "messages", "items")

    def is_message(self, value: object) -> bool:
        spoke = value.get("from") if isinstance(value, dict) else None
        return isinstance(spoke, str) and spoke in (*_ROLES, *_CALLS, *_RESULTS) and "value" in value  # type: ignore[operator]

    def translate(self, message: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        spoke, text = message["from"], message["value"] if isinstance(message["value"], str) else ""
        if spoke in _CALLS:
            yield {"role": "assistant", "tool_calls": list(_calls(text))}
        elif spoke in _RESULTS:
            yield from (tool_message(None, result) for result in _TAGGED_RESULT.findall(text) or [text])
        else:
            calls = [call for written in _TAGGED_CALL.findall(text) for call in _calls(written)]
            yield {"role": _ROLES[spoke], "content": _TAGGED_CALL.sub("", text), "tool_calls": calls}

    def facts(self, record: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
        return {"task_id": record.get("id")}


def _calls(text: str) -> Iterable[dict[str, Any]]:
    """The calls written as JSON in a turn: one, or a list of them."""
    try:
        value = decode(text.encode("utf-8", "replace"))
    except TraceError:
        return [call_entry(None, "unnamed", text)] if text else []
    calls = value if isinstance(value, list) else [value]
    return [
        call_entry(call.get("id"), call["name"], call.get("arguments", call.get("parameters")))
        for call in calls
        if isinstance(call, dict) and isinstance(call.get("name"), str)
    ]
