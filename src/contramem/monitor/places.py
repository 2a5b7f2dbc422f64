"""Place: where a value had stood before a call. `task`, `App.function`, or `App.function.field` of what it returned."""

from __future__ import annotations

import re

from contramem.monitor.action import Action
from contramem.monitor.comparison import NUMERIC, Operator, compare, plain_text, read_number

FIELD_PLACE = r"[^\s.\[\]()\",]+\.[^\s.\[\]()\",]+\.[^\s\[\]()\",]+"
"""For regular expressions: a field of what a function returned."""
_FIELD_PLACE = re.compile(FIELD_PLACE)
_NAMES = {"task": "the task", "user": "the user"}


def function_of_place(place: str) -> str:
    """`App.function` of `App.function` and of `App.function.field`; empty for `task`."""
    return ".".join(place.split(".")[:2]) if "." in place else ""


def field_of_place(place: str) -> str:
    """The field of `App.function.field`; empty where the place is the function itself."""
    return place.split(".", 2)[2] if place.count(".") >= 2 else ""


def is_field_place(text: str) -> bool:
    """Does the text write `App.function.field`? A number with points does not."""
    return _FIELD_PLACE.fullmatch(text) is not None and read_number(text) is None


def name_place(place: str) -> str:
    """As it stands in a sentence: `the total of find_order`."""
    if field := field_of_place(place):
        return f"the `{field}` of `{function_of_place(place)}`"
    return _NAMES.get(place, f"`{place}`")


def seen_texts(action: Action, place: str) -> frozenset[str]:
    """What stood in the field before the call, as plain text."""
    return action.seen_values(function_of_place(place), field_of_place(place))


def seen_numbers(action: Action, place: str) -> list[float]:
    """The numbers that the request names, or that stood in the field before the call."""
    if place == "task":
        return list(action.task_numbers())
    return [number for text in seen_texts(action, place) if (number := read_number(text)) is not None]


def is_mentioned(text: object, action: Action, place: str) -> bool:
    """Does a text contain a value that stood in the field before the call?"""
    whole = plain_text(text)
    return any(value in whole for value in seen_texts(action, place) if value)


def is_place_behind(operator: Operator, value: str) -> bool:
    """Does an operator compare with a place instead of a value? The request has numbers; fields have both."""
    if operator in NUMERIC:
        return value == "task" or is_field_place(value)
    return operator in ("=", "!=") and is_field_place(value)


def relates_to_place(value: object, operator: Operator, action: Action, place: str) -> bool:
    """Does the value stand in this relation to one of the values that stood in the place before the call?"""
    if operator in NUMERIC:
        number = read_number(value)
        return any(compare(number, operator, other) for other in seen_numbers(action, place))
    return (plain_text(value) in seen_texts(action, place)) is (operator == "=")
