"""PydanticAI: `Agent(..., capabilities=[MemoryCapability(memory)])`. A conversation is a run."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, Unpack

from contramem.inject.adapters.guided_run import Conversation, GuidedRun, Runs, Starter, StartOptions, missing
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

    A run of the agent that goes on with the history of another has its conversation id, and is the same run of ours.
    The task is what the user wrote, in this run and in the history it continues.
    """

    def __init__(
        self, memory: Memory, *, on_start: Callable[[Run], None] | None = None, **options: Unpack[StartOptions]
    ) -> None:
        """`on_start` is told of each run that starts; `options` are those of `Memory.start`."""
        self._starter = Starter(memory, options, on_start)
        self._runs: Runs[Conversation] = Runs()  # shared by the copies
        self._task = ""

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> AbstractCapability[AgentDepsT]:
        fresh = copy.copy(self)
        fresh._task = _task(ctx)
        return fresh

    def get_instructions(self) -> Callable[[RunContext[AgentDepsT]], str | None]:
        return lambda ctx: self._run(ctx)[1] or None

    async def wrap_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: WrapToolExecuteHandler,
    ) -> Any:
        run, _ = self._run(ctx)
        if not ctx.tool_call_approved:  # what a person has approved is not for the model to think over
            held = run.hold(call.tool_name, args, turn=(ctx.run_id, ctx.run_step), call=call.tool_call_id)
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
        self._run(ctx)[0].tell(call.tool_name, error=error)
        raise error

    def _run(self, ctx: RunContext[AgentDepsT]) -> tuple[GuidedRun, str]:
        """The run, and its guidance. Asked at the first step and later: only then the run knows its tools."""
        run_id = getattr(ctx, "conversation_id", None) or ctx.run_id
        conversation = self._runs.get(run_id, lambda: Conversation(self._starter, run_id))
        return conversation.at(self._task, ctx.tools or None)


def _task(ctx: RunContext[Any]) -> str:
    """All that the user wrote: the prompt, after those of the history."""
    parts = [part for message in ctx.messages if isinstance(message, ModelRequest) for part in message.parts]
    prompts: list[Any] = [part.content for part in parts if isinstance(part, UserPromptPart)]
    return "\n\n".join(text for prompt in (*prompts, ctx.prompt) for text in _texts(prompt))


def _texts(prompt: str | Iterable[object] | None) -> list[str]:
    if prompt is None or isinstance(prompt, str):
        return [prompt] if prompt else []
    return [part for part in prompt if isinstance(part, str)]
