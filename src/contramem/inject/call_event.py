"""Converts calls to the names that guards use: functions by full name, shell commands by program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from contramem.retrieve.names import FunctionNames
from contramem.traces.effects import effect_of
from contramem.traces.shell import shell_call
from contramem.traces.trajectory import Event


def name_fully(event: Event, names: FunctionNames) -> Event:
    """The event with the function name that guards use."""
    command = shell_call(event.function, event.arguments)
    named = names.full_name(command.function if command else event.function)
    if named == event.function and event.effect != "unknown":
        return event
    return msgspec.structs.replace(event, function=named, effect=command.effect if command else effect_of(named))


def make_call(function: str, arguments: Mapping[str, Any] | None, names: FunctionNames) -> Event:
    return name_fully(Event(0, "agent", "call", function=function, arguments=dict(arguments or {})), names)
