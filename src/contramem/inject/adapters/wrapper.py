"""Tools of hand-written loops and of frameworks without hooks, wrapped so that a run hears of their calls.

tools = GuidedTools(memory.start(task), {"delete_email": delete_email})
tools.new_turn(ends_run=False)              # a reply of the model arrived, and it will reply again
tools["delete_email"](email_id="m7")        # the result, or a `HeldCall` text where the call would do harm
tools.take_notes()                          # what to add to the next message
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.run import Run

# Limits of frameworks


REPLIES = 3
"""What a held call or a reminder leads to."""

SMALL_SHARE = 0.1
"""Of a limit on tokens, time or money. Nobody knows what a reply will take; when a tenth is used, ten times that is
allowed."""


def has_room(left: float | None, needed: float = REPLIES) -> bool:
    """Whether so much is left of a limit that is counted in steps. None: there is no such limit."""
    return left is None or left >= needed


def is_hardly_used(used: float, limit: float | None) -> bool:
    """Whether a limit on tokens, time or money is far away. None: there is no such limit."""
    return limit is None or used <= limit * SMALL_SHARE


# One tool


ToolCallable: TypeAlias = Callable[..., Any]


class CallHandler(Protocol):
    """What happens around the calls of one tool."""

    def before(self, arguments: Mapping[str, Any]) -> Any:
        """What to return instead of making the call. None: make it."""

    def after(self, arguments: Mapping[str, Any], result: Any) -> Any:
        """What to return for the result."""

    def on_error(self, arguments: Mapping[str, Any], error: Exception) -> Exception | None:
        """What to raise instead of the error. None: the error itself."""


def wrap_tool(tool: ToolCallable, handler: CallHandler) -> ToolCallable:
    """The tool, with its name and signature."""
    if _is_async(tool):

        @wraps(tool)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            arguments = arguments_by_name(tool, args, kwargs)
            if (answer := handler.before(arguments)) is not None:
                return answer
            try:
                result = await cast(Awaitable[Any], tool(*args, **kwargs))
            except Exception as error:
                if other := handler.on_error(arguments, error):
                    raise other from error
                raise
            return handler.after(arguments, result)

        return call_async

    @wraps(tool)
    def call(*args: Any, **kwargs: Any) -> Any:
        arguments = arguments_by_name(tool, args, kwargs)
        if (answer := handler.before(arguments)) is not None:
            return answer
        try:
            result = tool(*args, **kwargs)
        except Exception as error:
            if other := handler.on_error(arguments, error):
                raise other from error
            raise
        return handler.after(arguments, result)

    return call


def arguments_by_name(tool: ToolCallable, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name, as far as the tool's signature tells."""
    try:
        signature = inspect.signature(tool)
        bound = signature.bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):  # a call that does not fit fails in the tool; a built-in has no signature
        return dict(kwargs)
    extra = [name for name, parameter in signature.parameters.items() if parameter.kind is parameter.VAR_KEYWORD]
    for name in extra:
        bound |= bound.pop(name, {})
    return bound


def _is_async(tool: ToolCallable) -> bool:
    return inspect.iscoroutinefunction(tool) or inspect.iscoroutinefunction(getattr(tool, "__call__", None))  # noqa: B004


# Notes beside results


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


# Hand-written loops


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
