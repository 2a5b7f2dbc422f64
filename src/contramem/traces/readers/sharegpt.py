r"""ShareGPT conversations (`from` and `value`), with the tool turns that function-calling data sets add.

    {"id": "t1", "conversations": [
      {"from": "human", "value": "Mail Bob."},
      {"from": "function_call", "value": "{\"name\": \"send\", \"arguments\": {\"to\": \"Bob\"}}"},
      {"from": "observation", "value": "sent"},
      {"from": "gpt", "value": "Done."}]}

A call is a turn of `function_call`, or text between tags (tagged_calls.py); its result is a turn of `observation` or
`tool`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from contramem.traces.readers.conversation import ConversationReader, tool_message
from contramem.traces.readers.tagged_calls import read_calls, split_tags

_ROLES = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant",
          "bing": "assistant", "bard": "assistant", "model": "assistant", "system": "system"}  # fmt: skip
_CALLS = ("function_call", "tool_call", "function-call")
_RESULTS = ("observation", "tool", "function_response", "tool_response", "function")


class ShareGptReader(ConversationReader):
    name = "sharegpt"
    keys = ("conversations", "conversation", "messages", "items")

    def is_message(self, value: object) -> bool:
        spoke = value.get("from") if isinstance(value, dict) else None
        return isinstance(spoke, str) and spoke in (*_ROLES, *_CALLS, *_RESULTS) and "value" in value  # type: ignore[operator]

    def translate(self, message: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        spoke, text = message["from"], message["value"] if isinstance(message["value"], str) else ""
        if spoke in _CALLS:
            yield {"role": "assistant", "tool_calls": read_calls(text)}
        elif spoke in _RESULTS:
            yield from (tool_message(None, result) for result in split_tags(text).results or [text])
        else:
            yield {"role": _ROLES[spoke], "content": text}

    def facts(self, record: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
        return {"task_id": record.get("id")}
