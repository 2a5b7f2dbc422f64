"""Arguments that are objects, by the names of their parts: `letter.body` in `send(letter={"body": ...})`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MAX_DEPTH = 4
"""How deep objects are looked into."""


def name_parts(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a call; those that are objects also by the names of their parts."""
    if not any(type(value) is dict for value in arguments.values()):  # as in most calls
        return arguments
    return dict(_with_parts("", arguments, MAX_DEPTH))


def _with_parts(around: str, values: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        yield f"{around}{name}", value
        if isinstance(value, dict) and depth:
            yield from _with_parts(f"{around}{name}.", value, depth - 1)
