"""What a run called, for the judge: the calls that worked, by tool."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple


class Executed(NamedTuple):
    """A call of a run."""

    tool: str
    arguments: dict[str, Any]
    value: Any
    """What came back; None for a refused call."""


class Call(NamedTuple):
    """A call that worked, and its place among all calls of the run."""

    position: int
    arguments: dict[str, Any]
    value: Any


class CallLog:
    """The calls of one run that worked."""

    def __init__(self, executed: Iterable[Executed]) -> None:
        self._by_tool: defaultdict[str, list[Call]] = defaultdict(list)
        for position, (tool, arguments, value) in enumerate(executed):
            if value is not None:
                self._by_tool[tool].append(Call(position, arguments, value))

    def of(self, tool: str, **arguments: object) -> list[Call]:
        """The calls of a tool with these arguments, whatever else they were given."""
        wanted = arguments.items()
        return [call for call in self._by_tool.get(tool, ()) if wanted <= call.arguments.items()]

    def all_of(self, tool: str, **arguments: object) -> bool:
        """Do all calls of the tool have these arguments? Also true if there are none."""
        return len(self.of(tool, **arguments)) == len(self.of(tool))

    @property
    def tools(self) -> set[str]:
        return set(self._by_tool)
