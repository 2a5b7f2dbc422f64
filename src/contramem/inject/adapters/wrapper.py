"""Hand-written loops: wrap the tools of one run, all of them or one, and call them as before.

tools = GuidedTools(memory.start(task), {"delete_email": delete_email})
tools["delete_email"](email_id="m7")        # the result, or a `HeldCall` text where the call would do harm
tools.take_notes()                          # what to add to the next message
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.run import Run

ToolCallable: TypeAlias = Callable[..., Any]
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
        self._turn: int | None = None
        self._notes: list[str] = []
        self._tools = {
            name: _wrap(tool, name, self._run, lambda: self._turn, self._notes.append) for name, tool in tools.items()
        }

    def new_turn(self) -> None:
        """Say that a reply of the model arrived. Of several calls of one function in a reply, all are held or none: the
        model had read nothing in between. Loops that make one call a reply need not say so."""
        self._turn = (self._turn or 0) + 1

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

    def _run(self) -> GuidedRun:
        return self._guided

    def __getitem__(self, name: str) -> ToolCallable:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def guided(run: Run | CurrentRun, name: str | None = None) -> Callable[[_Tool], _Tool]:
    """Decorate one tool, sync or async. `name` is what its card calls it; left out, the name of the function.

    For a tool that is made once and serves many runs, `run` is a function that gives the run of the moment, such as
    the `get` of a `ContextVar`; when it gives None the call is made as if there were no memory.
    """
    own = _of(run) if isinstance(run, Run) else None

    def decorate(tool: _Tool) -> _Tool:
        return cast(
            _Tool, _wrap(tool, name or _name(tool), lambda: own or _of(cast(CurrentRun, run)()), _no_turn, _drop)
        )

    return decorate


def _name(tool: ToolCallable) -> str:
    return str(getattr(tool, "__name__", type(tool).__name__))


def _of(run: Run | None) -> GuidedRun | None:
    """All tools of a run share what was held in it."""
    return None if run is None else _GUIDED.setdefault(run, GuidedRun(run))


def _no_turn() -> None:
    return None


def _drop(note: str) -> None:
    """A decorated tool has nobody to give notes to: its caller may be a program."""


def _wrap(
    tool: ToolCallable,
    name: str,
    guided_run: Callable[[], GuidedRun | None],
    turn: Callable[[], Hashable],
    add_note: Callable[[str], None],
) -> ToolCallable:
    if _is_async(tool):

        @wraps(tool)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            run, arguments = guided_run(), arguments_by_name(tool, args, kwargs)
            if answer := run and run.hold(name, arguments, turn=turn()):
                return HeldCall(answer)
            with _telling(run, name, arguments, add_note) as came_back:
                return came_back(await cast(Awaitable[Any], tool(*args, **kwargs)))

        return call_async

    @wraps(tool)
    def call(*args: Any, **kwargs: Any) -> Any:
        run, arguments = guided_run(), arguments_by_name(tool, args, kwargs)
        if answer := run and run.hold(name, arguments, turn=turn()):
            return HeldCall(answer)
        with _telling(run, name, arguments, add_note) as came_back:
            return came_back(tool(*args, **kwargs))

    return call


@contextmanager
def _telling(
    run: GuidedRun | None, name: str, arguments: Mapping[str, Any], add_note: Callable[[str], None]
) -> Iterator[Callable[[Any], Any]]:
    """The run hears what came back of a call, or how it failed."""
    results: list[Any] = []

    def came_back(result: Any) -> Any:
        results.append(result)
        return result

    try:
        yield came_back
    except Exception as error:
        _add(add_note, run.tell(name, arguments, error=error) if run else "")
        raise
    _add(add_note, run.tell(name, arguments, content=results[0]) if run else "")


def _add(add_note: Callable[[str], None], note: str) -> None:
    if note:
        add_note(note)


def _is_async(tool: ToolCallable) -> bool:
    return inspect.iscoroutinefunction(tool) or inspect.iscoroutinefunction(getattr(tool, "__call__", None))  # noqa: B004


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
