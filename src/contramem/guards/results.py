"""How guards read the result of a call: fields at any depth, records, and the number of items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MAX_VALUES = 5000
"""The most values read from one result, so that a listing of a million lines stays cheap."""


def field_values(result: Any, field: str) -> Iterator[Any]:
    """Every scalar under `field`, at any depth. `customer.tier` means `tier` inside `customer`."""
    if "." in field:
        path = tuple(field.split("."))
        yield from (value for place, value in walk(result) if place[-len(path) :] == path)
        return
    # The same for a single name, without writing down the path of each value.
    stack = [(False, result)]
    count = 0
    while stack and count < MAX_VALUES:
        is_under_field, node = stack.pop()
        if isinstance(node, dict):
            stack += [(str(key) == field, child) for key, child in reversed(node.items())]
        elif isinstance(node, (list, tuple, set)):
            stack += [(is_under_field, child) for child in reversed(list(node))]
        elif node is not None:
            count += 1
            if is_under_field:
                yield node


def walk(result: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each scalar of a result with its path of field names, depth first. Lists add nothing to the path."""
    stack: list[tuple[tuple[str, ...], Any]] = [((), result)]
    count = 0
    while stack and count < MAX_VALUES:
        place, node = stack.pop()
        if isinstance(node, dict):
            stack += [((*place, str(key)), child) for key, child in reversed(node.items())]
        elif isinstance(node, (list, tuple, set)):
            stack += [(place, child) for child in reversed(list(node))]
        elif node is not None:
            count += 1
            yield place, node


def list_records(result: Any, name: str = "") -> list[dict[str, Any]]:
    """The records an agent can choose from: those of a list, of the lists inside a record, or the record itself; with
    `name`, those of the lists under this name."""
    if name:
        return [item for items in nested_lists(result, name) for item in items if isinstance(item, dict)]
    if isinstance(result, (list, tuple)):
        return [item for item in result if isinstance(item, dict)]
    if not isinstance(result, dict):
        return []
    inner = [item for value in result.values() if isinstance(value, list) for item in value if isinstance(item, dict)]
    if not inner and len(result) > 1 and all(isinstance(value, dict) for value in result.values()):
        inner = list(result.values())  # an object whose keys are identifiers
    return inner or [result]


def nested_lists(result: Any, name: str) -> Iterator[list[Any]]:
    """Every list under `name` in a result, at any depth. `order.lines` means `lines` inside `order`."""
    path = tuple(name.split("."))
    stack: list[tuple[tuple[str, ...], Any]] = [((), result)]
    while stack:
        place, node = stack.pop()
        if isinstance(node, dict):
            stack.extend(((*place, str(key)), child) for key, child in reversed(node.items()))
        elif isinstance(node, list):
            if place[-len(path) :] == path:
                yield node
            else:
                stack.extend((place, child) for child in reversed(node))


def count_items(result: Any, name: str = "") -> int | None:
    """The number of items in a result, or in its lists under `name`; None if there is no such list."""
    if name:
        sizes = [len(items) for items in nested_lists(result, name)]
        return sum(sizes) if sizes else None
    if isinstance(result, (list, tuple, set)):
        return len(result)
    if not isinstance(result, dict):
        return None
    lists = [value for value in result.values() if isinstance(value, list)]
    return max(map(len, lists)) if lists else None
