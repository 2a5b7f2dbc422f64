"""How many tokens a request to a model has: its messages and its tools, every text in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contramem.counting import count_tokens


def count_body(body: dict[str, Any]) -> int:
    """`messages` is what chat completions and Anthropic call the conversation, `input` is the Responses API's name."""
    parts = [body.get("messages"), body.get("input"), body.get("tools")]
    return sum(count_tokens(text) for text in _texts_of(parts))


def _texts_of(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _texts_of(part)
