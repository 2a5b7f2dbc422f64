"""Calls and results that stand in the text of messages between tags, as many open models write them.

assistant:  <tool_call>{"name": "send", "arguments": {"to": "Bob"}}</tool_call>
user:       <tool_response>sent</tool_response>
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from contramem.errors import TraceError
from contramem.traces.decoding import decode

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_RESULT = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)


class TaggedText(NamedTuple):
    """A text, taken apart."""

    text: str
    """What stands around the tags."""
    calls: list[dict[str, Any]]
    """As entries of `tool_calls`."""
    results: list[str]


def split_tags(text: str) -> TaggedText:
    """A text without its calls and results, and these."""
    if "<tool_" not in text:
        return TaggedText(text, [], [])
    calls = [call for written in _CALL.findall(text) for call in read_calls(written)]
    return TaggedText(_RESULT.sub("", _CALL.sub("", text)), calls, _RESULT.findall(text))


def read_calls(text: str) -> list[dict[str, Any]]:
    """The calls that a text writes as JSON: one, or a list of them."""
    try:
        value = decode(text.encode("utf-8", "replace"))
    except TraceError:
        return [{"name": "unnamed", "arguments": text}] if text else []
    calls = value if isinstance(value, list) else [value]
    return [
        {"id": call.get("id"), "name": call["name"], "arguments": call.get("arguments", call.get("parameters"))}
        for call in calls
        if isinstance(call, dict) and isinstance(call.get("name"), str)
    ]
