"""Tools that say what memory knows beside their results, for frameworks that show text results as they are.

Such a tool never holds a call: it cannot know whether the reply that it is from ends the run.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, cast

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.adapters.wrapper import arguments_by_name


class NotedError(Exception):
    """What a tool failed with, and what memory knows about that."""


def note_results(function: Callable[..., Any], name: str, run: GuidedRun) -> Callable[..., Any]:
    """The function with notes after its results and in the message of what it raises. Results that are no text stay as
    they are."""
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            arguments = arguments_by_name(function, args, kwargs)
            try:
                result = await cast(Awaitable[Any], function(*args, **kwargs))
            except Exception as error:
                raise note_error(run, name, arguments, error) from error
            return note_result(run, name, arguments, result)

        return call_async

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        arguments = arguments_by_name(function, args, kwargs)
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            raise note_error(run, name, arguments, error) from error
        return note_result(run, name, arguments, result)

    return call


def note_result(run: GuidedRun, name: str, arguments: dict[str, Any], result: Any) -> Any:
    """Tell the run of a result. The result, with a note after it if it is text."""
    note = run.tell(name, arguments, content=result)
    return f"{result}\n\n{note}" if note and isinstance(result, str) else result


def note_error(run: GuidedRun, name: str, arguments: dict[str, Any], error: Exception) -> Exception:
    """Tell the run of a failure. The error, or one that says what memory knows as well."""
    note = run.tell(name, arguments, error=error)
    return NotedError(f"{error}\n\n{note}") if note else error
