"""Slots: every value of a call, one row each. What is public, known or usual is a count over slots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from contramem.collection.results import decode_result
from contramem.traces.trajectory import Event, Trajectory

MAX_VALUES = 4000
"""Of one result: thousands of rows teach nothing more about a listing."""

Scalar: TypeAlias = str | int | float | bool


class Slot(NamedTuple):
    """One value that a call passed or got back."""

    position: int
    """Of the call in its run."""
    function: str
    returned: bool
    """Is it in the result? Otherwise, in the arguments."""
    path: str
    """The argument, or the field of the result, with the names of the records around it: `order.lines.price`. Lists add
    nothing. Empty for a result without fields."""
    item: str
    """The index of its list item, `2.0` in lists of lists. Values of one record have the same; empty outside lists."""
    value: Scalar

    @property
    def text(self) -> str:
        """The value as text: equal for `5` and `5.0`."""
        value = self.value
        if isinstance(value, bool):
            return str(value).lower()
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def slots_of(run: Trajectory) -> Iterator[Slot]:
    """Every value of every call of a run, in order, whoever called."""
    for event in run.events:
        if event.function:
            yield from slots_of_call(event)


def slots_of_call(event: Event) -> Iterator[Slot]:
    """The arguments of a call and the leaves of its result. A refused call has an error instead."""
    for path, item, value in leaves_of(event.arguments):
        yield Slot(event.position, event.function, False, path, item, value)
    if event.result is not None and event.result.error is None:
        for path, item, value in leaves_of(decode_result(event.result.content)):
            yield Slot(event.position, event.function, True, path, item, value)


def leaves_of(value: Any) -> Iterator[tuple[str, str, Scalar]]:
    """Each scalar of a value with its path and item, depth first, without recursion. What is empty has none."""
    stack: list[tuple[str, str, Any]] = [("", "", value)]
    given = 0
    while stack and given < MAX_VALUES:
        path, item, node = stack.pop()
        if isinstance(node, dict):
            inside = f"{path}." if path else ""
            stack += [(f"{inside}{key}", item, child) for key, child in reversed(node.items())]
        elif isinstance(node, (list, tuple)):
            inside = f"{item}." if item else ""
            stack += [(path, f"{inside}{number}", node[number]) for number in reversed(range(len(node)))]
        elif isinstance(node, (str, int, float)):
            given += 1
            yield path, item, node
