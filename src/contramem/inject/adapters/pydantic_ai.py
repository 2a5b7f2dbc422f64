"""PydanticAI: `Agent(..., capabilities=[MemoryCapability(memory)])`. Every run of the agent is a run of its own."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, Unpack

from contramem.inject.adapters.guided_run import GuidedRun, Starter, StartOptions, missing
from contramem.inject.run import Memory, Run

try:
    from pydantic import ValidationError
    from pydantic_ai import ModelRetry, RunContext
    from pydantic_ai.capabilities import AbstractCapability, WrapToolExecuteHandler
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, SkipToolExecution
    from pydantic_ai.messages import ModelRequest, ToolCallPart, UserPromptPart
    from pydantic_ai.tools import AgentDepsT, ToolDefinition
except ImportError as error:
    raise missing(__name__, "pydantic_ai", "pydantic-ai", error) from error

_NO_ERRORS = (SkipToolExecution, CallDeferred, ApprovalRequired)


class MemoryCapability(AbstractCapability[AgentDepsT]):
    """Guidance in the instructions, and the card of a function as the answer to its first call.

    The task is what the user wrote, in this run and in the history it continues.
    """

    def __init__(
        self, memory: Memory, *, on_start: Callable[[Run], None] | None = None, **options: Unpack[StartOptions]
    ) -> None:
        """`on_start` is told of each run that starts; `options` are those of `Memory.start`."""
        self._starter = Starter(memory, options, on_start)
        self._task = ""
        self._guided: GuidedRun | None = None

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> AbstractCapability[AgentDepsT]:
        fresh = copy.copy(self)
        fresh._task, fresh._guided = _task(ctx), None
        return fresh

    def get_instructions(self) -> Callable[[RunContext[AgentDepsT]], str | None]:
        return lambda ctx: self._run(ctx).guidance or None

    async def wrap_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: WrapToolExecuteHandler,
    ) -> Any:
        run = self._run(ctx)
        if not ctx.tool_call_approved:  # what a person has approved is not for the model to think over
            held = run.hold(call.tool_name, args, turn=ctx.run_step, call=call.tool_call_id)
            if held is not None:
                return held
        try:
            result = await handler(args)
        except _NO_ERRORS:
            raise
        except Exception as error:
            run.tell(call.tool_name, args, error=error)
            raise
        run.tell(call.tool_name, args, content=result)
        return result

    async def on_tool_validate_error(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: str | dict[str, Any],
        error: ValidationError | ModelRetry,
    ) -> dict[str, Any]:
        self._run(ctx).tell(call.tool_name, error=error)
        raise error

    def _run(self, ctx: RunContext[AgentDepsT]) -> GuidedRun:
        # Started at the first step: only then the run knows its tools.
        if self._guided is None:
            self._guided = self._starter.start(self._task, run_id=ctx.run_id, tools=ctx.tools or None)
        return self._guided


def _task(ctx: RunContext[Any]) -> str:
    """All that the user wrote: the prompt, after those of the history."""
    parts = [part for message in ctx.messages if isinstance(message, ModelRequest) for part in message.parts]
    prompts: list[Any] = [part.content for part in parts if isinstance(part, UserPromptPart)]
    return "\n\n".join(text for prompt in (*prompts, ctx.prompt) for text in _texts(prompt))


def _texts(prompt: str | Iterable[object] | None) -> list[str]:
    if prompt is None or isinstance(prompt, str):
        return [prompt] if prompt else []
    return [part for part in prompt if isinstance(part, str)]
