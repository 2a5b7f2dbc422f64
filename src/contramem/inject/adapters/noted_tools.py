"""Tools that say what memory knows beside their results, for frameworks that show text results as they are.

Such a tool never holds a call: it cannot know whether the reply that it is from ends the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.adapters.wrapped_tool import ToolCallable, wrap_tool


class NotedError(Exception):
    """What a tool failed with, and what memory knows about that."""


@dataclass(frozen=True)
class NotedCalls:
    """What happens around the calls of one tool: they are made, and notes stand after their results and in the messages
    of their errors. Results that are no text stay as they are."""

    name: str
    run: GuidedRun
    is_answer: bool = False
    """Whether the result is the answer of the run. It stays as it is: nobody else reads it."""

    def before(self, arguments: Mapping[str, Any]) -> None:
        return None

    def after(self, arguments: Mapping[str, Any], result: Any) -> Any:
        note = self.run.tell(self.name, arguments, content=result)
        return result if self.is_answer else append_note(result, note)

    def on_error(self, arguments: Mapping[str, Any], error: Exception) -> Exception | None:
        note = self.run.tell(self.name, arguments, error=error)
        return NotedError(f"{error}\n\n{note}") if note else None


def note_results(function: ToolCallable, name: str, run: GuidedRun, *, is_answer: bool = False) -> ToolCallable:
    """The function with notes after its results, unless they are answers, and in the messages of its errors."""
    return wrap_tool(function, NotedCalls(name, run, is_answer))


def append_note(result: Any, note: str) -> Any:
    """The result with a note after it, if there is one and the result is text."""
    return f"{result}\n\n{note}" if note and isinstance(result, str) else result
