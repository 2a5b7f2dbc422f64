"""Place: where a value was seen before a call. `task`, `App.function`, or `App.function.field` of what it returned."""

from __future__ import annotations

import re

from contramem.monitor.action import Action
from contramem.monitor.comparison import read_number

FIELD_PLACE = r"[^\W\d][^\s.\[\]()\",]*\.[^\s.\[\]()\",]+\.[^\s\[\]()\",]+"
"""Regular expression for a field of what a function returned."""
_FIELD_PLACE = re.compile(FIELD_PLACE)
_NAMES = {"task": "the task", "user": "the user"}


def function_of_place(place: str) -> str:
    """The `App.function` part of a place; empty for `task`."""
    return ".".join(place.split(".")[:2]) if "." in place else ""


def field_of_place(place: str) -> str:
    """The field of `App.function.field`; empty if the place names no field."""
    return place.split(".", 2)[2] if place.count(".") >= 2 else ""


def is_field_place(text: str) -> bool:
    """Whether the text has the form `App.function.field`. A number with dots does not count."""
    return _FIELD_PLACE.fullmatch(text) is not None and read_number(text) is None


def name_place(place: str) -> str:
    """The place as worded in a sentence: "the `total` of `find_order`"."""
    if field := field_of_place(place):
        return f"the `{field}` of `{function_of_place(place)}`"
    return _NAMES.get(place, f"`{place}`")


def seen_texts(action: Action, place: str) -> frozenset[str]:
    """The values seen in the field before the call, as plain text."""
    return action.seen_values(function_of_place(place), field_of_place(place))
