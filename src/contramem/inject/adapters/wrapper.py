"""Hand-written loops: wrap the tools of one run, all of them or one, and call them as before.

tools = GuidedTools(memory.start(task), {"delete_email": delete_email})
tools.new_turn(ends_run=False)              # a reply of the model arrived, and it will reply again
tools["delete_email"](email_id="m7")        # the result, or a `HeldCall` text where the call would do harm
tools.take_notes()                          # what to add to the next message
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.adapters.noted_tools import append_note
from contramem.inject.adapters.wrapped_tool import ToolCallable, wrap_tool
from contramem.inject.run import Run

_Tool = TypeVar("_Tool", bound=ToolCallable)
CurrentRun: TypeAlias = Callable[[], Run | None]

_GUIDED: WeakKeyDictionary[Run, GuidedRun] = WeakKeyDictionary()


class HeldCall(str):
    """The answer to a call that was not made. It is text for the model; `isinstance` tells it from a result."""

    __slots__ = ()


class GuidedTools(Mapping[str, ToolCallable]):
    """The tools of one run by name. Results stay as they are; what there is to say about them is in `take_notes`."""

    def __init__(self, run: Run, tools: Mapping[str, ToolCallable]) -> None:
        self._guided = GuidedRun(run)
        self._turn, self._ends_run = 0, True
        self._notes: list[str] = []
        self._tools = {name: wrap_tool(tool, _LoopCalls(name, self)) for name, tool in tools.items()}

    def new_turn(self, *, ends_run: bool = True) -> None:
        """Say that a reply of the model arrived. With `ends_run=False` the model surely replies again: nothing in this
        reply ends the run, and about three steps are left. Only then calls are held, so none before the first
        `new_turn`. Of several calls of one function in a reply, all are held or none: the model had read nothing in
        between."""
        self._turn, self._ends_run = self._turn + 1, ends_run

    def describe(self, name: str) -> str:
        """What to put after the description of a tool; empty when there is nothing."""
        return self._guided.describe(name)

    def take_notes(self) -> str:
        """What memory has to say about the calls since it was last asked; empty when there is nothing."""
        notes = "\n\n".join(self._notes)
        self._notes.clear()
        return notes

    def before_final(self) -> str:
        """What to show before the run ends, once; empty when there is nothing."""
        return self._guided.before_final()

    def _hold(self, name: str, arguments: Mapping[str, Any]) -> HeldCall | None:
        answer = self._guided.hold(name, arguments, ends_run=self._ends_run, turn=self._turn)
        return None if answer is None else HeldCall(answer)

    def _tell(self, name: str, arguments: Mapping[str, Any], content: Any = None, error: object = None) -> None:
        if note := self._guided.tell(name, arguments, content, error):
            self._notes.append(note)

    def __getitem__(self, name: str) -> ToolCallable:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


@dataclass(frozen=True)
class _LoopCalls:
    """What happens around the calls of one of the tools."""

    name: str
    tools: GuidedTools

    def before(self, arguments: Mapping[str, Any]) -> HeldCall | None:
        return self.tools._hold(self.name, arguments)

    def after(self, arguments: Mapping[str, Any], result: Any) -> Any:
        self.tools._tell(self.name, arguments, content=result)
        return result

    def on_error(self, arguments: Mapping[str, Any], error: Exception) -> None:
        self.tools._tell(self.name, arguments, error=error)


def guided(run: Run | CurrentRun, name: str | None = None) -> Callable[[_Tool], _Tool]:
    """Decorate one tool, sync or async. `name` is what its card calls it; left out, the name of the function.

    Calls are always made: the tool cannot know whether the reply that it is called from ends the run. What there is to
    say stands after a text result, and is added to an error as a note (`BaseException.add_note`).

    For a tool that is made once and serves many runs, `run` is a function that gives the run of the moment, such as
    the `get` of a `ContextVar`; when it gives None the call is made as if there were no memory.
    """
    own = _guide(run) if isinstance(run, Run) else None

    def decorate(tool: _Tool) -> _Tool:
        calls = _DecoratedCalls(name or _name(tool), lambda: own or _guide(cast(CurrentRun, run)()))
        return cast(_Tool, wrap_tool(tool, calls))

    return decorate


@dataclass(frozen=True)
class _DecoratedCalls:
    name: str
    current_run: Callable[[], GuidedRun | None]

    def before(self, arguments: Mapping[str, Any]) -> None:
        return None

    def after(self, arguments: Mapping[str, Any], result: Any) -> Any:
        run = self.current_run()
        return append_note(result, run.tell(self.name, arguments, content=result)) if run else result

    def on_error(self, arguments: Mapping[str, Any], error: Exception) -> None:
        if (run := self.current_run()) and (note := run.tell(self.name, arguments, error=error)):
            error.add_note(note)


def _name(tool: ToolCallable) -> str:
    return str(getattr(tool, "__name__", type(tool).__name__))


def _guide(run: Run | None) -> GuidedRun | None:
    """All tools of a run share what was said in it."""
    return None if run is None else _GUIDED.setdefault(run, GuidedRun(run))
