"""What makes a tool of a function: its schema, the check of its arguments, and refusals that an agent can read."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from northline.world import World

FROM_CENTS = 10_000
"""Amounts lie between 100 and 9,999 euros, so a whole number from here on is in cents. Both are taken."""

_JSON_TYPES = {str: "string", int: "integer", float: "number"}
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Refused(Exception):
    """A tool says no, and why."""


class Parameter(NamedTuple):
    """One argument of a tool."""

    type: str
    description: str
    required: bool


class NorthlineTool(NamedTuple):
    """A tool, as an agent sees it, and its function."""

    description: str
    parameters: dict[str, Parameter]
    function: Callable[..., Any]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": {
                name: {"type": parameter.type, "description": parameter.description}
                for name, parameter in self.parameters.items()
            },
            "required": [name for name, parameter in self.parameters.items() if parameter.required],
        }


TOOLS: dict[str, NorthlineTool] = {}


def tool(description: str, /, **arguments: str) -> Callable[[_Function], _Function]:
    """Make a tool of a function of the world; types and what is required come from its signature."""

    def register(function: _Function) -> _Function:
        declared = inspect.signature(function, eval_str=True).parameters
        parameters = {
            name: Parameter(
                _JSON_TYPES[declared[name].annotation], text, declared[name].default is inspect.Parameter.empty
            )
            for name, text in arguments.items()
        }
        TOOLS[function.__name__] = NorthlineTool(description, parameters, function)
        return function

    return register


def run_tool(world: World, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
    """The text that the agent reads, and the value behind it: None if the call was refused."""
    try:
        if name not in TOOLS:
            raise Refused(f"no tool {name!r}")
        value = TOOLS[name].function(world, **_check_arguments(name, arguments))
    except Refused as refusal:
        return f"Error: {refusal}", None
    return json.dumps(value), value


def list_schemas() -> list[dict[str, Any]]:
    """The tools in the form that chat completion APIs take."""
    return [
        {"type": "function", "function": {"name": name, "description": each.description, "parameters": each.schema}}
        for name, each in TOOLS.items()
    ]


def _check_arguments(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were given, whole numbers as such."""
    if not isinstance(arguments, Mapping):
        raise Refused("arguments must be an object")
    parameters = TOOLS[name].parameters
    for given in arguments:
        if given not in parameters:
            raise Refused(f"{name} has no argument {given!r}")
    checked = {}
    for argument, parameter in parameters.items():
        value = arguments.get(argument)
        if parameter.required and value in (None, ""):
            raise Refused(f"{name} needs {argument!r}")
        if argument in arguments:
            checked[argument] = _check_type(argument, value, parameter.type)
    return {argument: value for argument, value in checked.items() if value is not None}


def _check_type(argument: str, value: Any, type: str) -> Any:
    if type == "integer":
        return _read_whole_number(argument, value)
    if type == "number":
        read_euros(value)
    elif value is not None and not isinstance(value, str):
        raise Refused(f"{argument} must be text")
    return value


def _read_whole_number(argument: str, value: Any) -> int:
    try:
        number = float(value)
        whole = int(number)
    except (TypeError, ValueError, OverflowError):
        raise Refused(f"{argument} must be a whole number") from None
    if number != whole:
        raise Refused(f"{argument} must be a whole number")
    return whole


def read_euros(amount: object) -> float:
    """An amount in euros, whether it was given in euros or in cents."""
    try:
        value = float(amount)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise Refused("amount must be a number") from None
    if not 0 < value < 10_000_000:
        raise Refused("amount must be positive")
    return round(value / 100 if is_in_cents(value) else value, 2)


def is_in_cents(amount: object) -> bool:
    try:
        value = float(amount)  # type: ignore[arg-type]
        return value == int(value) and value >= FROM_CENTS
    except (TypeError, ValueError, OverflowError):
        return False
