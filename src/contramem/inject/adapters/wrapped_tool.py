"""Wrap a tool, sync or async, so that a run hears of its calls."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any, Protocol, TypeAlias, cast

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
