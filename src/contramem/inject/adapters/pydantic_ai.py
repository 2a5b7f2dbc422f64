"""PydanticAI: `Agent(..., capabilities=[MemoryCapability(memory)])`. A conversation is a run."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Unpack

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.adapters.starter import Conversation, Runs, Starter, StartOptions, missing
from contramem.inject.adapters.wrapper import REPLIES, has_room, is_hardly_used
from contramem.inject.run import Memory, Run

try:
    from pydantic import ValidationError
    from pydantic_ai import ModelRetry, RunContext
    from pydantic_ai.capabilities import AbstractCapability, WrapToolExecuteHandler
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, SkipToolExecution
    from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, UserPromptPart
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.tools import AgentDepsT, ToolDefinition
except ImportError as error:
    raise missing(__name__, "pydantic_ai", "pydantic-ai", error) from error

_NO_ERRORS = (SkipToolExecution, CallDeferred, ApprovalRequired)


class MemoryCapability(AbstractCapability[AgentDepsT]):
    """Guidance in the instructions, a line of a function's card in its tool's description, and notes beside results.

    A run of the agent that goes on with the history of another has its conversation id, and is the same run of ours.
    The task is what the user wrote, in this run and in the history it continues.
    """

    def __init__(
        self, memory: Memory, *, on_start: Callable[[Run], None] | None = None, **options: Unpack[StartOptions]
    ) -> None:
        """`on_start` is told of each run that starts; `options` are those of `Memory.start`."""
        self._starter = Starter(memory, options, on_start)
        self._runs: Runs[_PydanticConversation] = Runs()  # shared by the copies
        self._requests: tuple[str, ...] = ()
        self._output_tools: frozenset[str] = frozenset()

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> AbstractCapability[AgentDepsT]:
        fresh = copy.copy(self)
        fresh._requests = tuple(_requests(ctx))
        return fresh

    def get_instructions(self) -> Callable[[RunContext[AgentDepsT]], str | None]:
        return lambda ctx: self._conversation(ctx).notes.get(0)

    async def prepare_tools(self, ctx: RunContext[AgentDepsT], tool_defs: list[ToolDefinition]) -> list[ToolDefinition]:
        run = self._conversation(ctx, [tool.name for tool in tool_defs]).run
        return [_describe(tool, run.describe(tool.name)) for tool in tool_defs]

    async def prepare_output_tools(
        self, ctx: RunContext[AgentDepsT], tool_defs: list[ToolDefinition]
    ) -> list[ToolDefinition]:
        self._output_tools = frozenset(tool.name for tool in tool_defs)
        return tool_defs

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """What a later request brings stays in the history from then on: nothing before it changes."""
        if note := self._conversation(ctx).take_new_note():
            ctx.enqueue(note)
        return request_context

    async def after_model_request(
        self, ctx: RunContext[AgentDepsT], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        calls = {part.tool_name for part in response.parts if isinstance(part, ToolCallPart)}
        gives_answer = not calls - self._output_tools
        if gives_answer and _has_room(ctx) and (note := self._conversation(ctx).end_note()):
            ctx.enqueue(note, priority="when_idle")
        return response

    async def wrap_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: WrapToolExecuteHandler,
    ) -> Any:
        conversation, ends = self._conversation(ctx), self._ends(ctx)
        run, turn = conversation.run, (ctx.run_id, ctx.run_step)
        if not ctx.tool_call_approved:  # what a person has approved is not for the model to think over
            last = ends or not _has_room(ctx)
            text = run.hold(call.tool_name, args, turn=turn, call=call.tool_call_id, ends_run=last)
            if text is not None:
                return text
        try:
            result = await handler(args)
        except _NO_ERRORS:
            raise
        except Exception as error:
            self._add(ctx, conversation, run.tell(call.tool_name, args, error=error), ends)
            raise
        self._add(ctx, conversation, run.tell(call.tool_name, args, content=result), ends)
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
        conversation = self._conversation(ctx)
        self._add(ctx, conversation, conversation.run.tell(call.tool_name, error=error), self._ends(ctx))
        raise error

    def _add(self, ctx: RunContext[AgentDepsT], conversation: _PydanticConversation, note: str, ends: bool) -> None:
        if note and not ends:  # a note after the end would make the agent go on
            ctx.enqueue(conversation.issue(note))

    def _ends(self, ctx: RunContext[AgentDepsT]) -> bool:
        """Does the reply that this call is from also give the output?"""
        return not {call.tool_name for call in _calls(ctx)}.isdisjoint(self._output_tools)

    def _conversation(self, ctx: RunContext[AgentDepsT], tools: Sequence[str] | None = None) -> _PydanticConversation:
        """Asked at the first step and later: only then the run knows its tools."""
        run_id = getattr(ctx, "conversation_id", None) or ctx.run_id
        conversation = self._runs.get(run_id, lambda: _PydanticConversation(self._starter, run_id))
        conversation.hear(self._requests, tools or ctx.tools or None)
        return conversation


class _PydanticConversation:
    """A conversation, with the notes that stand in its history as if the user had written them."""

    def __init__(self, starter: Starter, run_id: str | None) -> None:
        self._conversation = Conversation(starter, run_id)
        self._issued: set[str] = set()
        self._given = 0

    def hear(self, requests: Iterable[str], tools: Iterable[str] | None) -> None:
        self.run: GuidedRun = self._conversation.at([text for text in requests if text not in self._issued], tools)

    @property
    def notes(self) -> dict[int, str]:
        return self._conversation.notes

    def issue(self, note: str) -> str:
        self._issued.add(note)
        return note

    def take_new_note(self) -> str:
        number = max(self.notes, default=0)
        new, self._given = number > self._given, max(number, self._given)
        return self.issue(self.notes[number]) if new else ""

    def end_note(self) -> str:
        note = self.run.before_final()
        return self.issue(note) if note else ""


def _describe(tool: ToolDefinition, line: str) -> ToolDefinition:
    if not line:
        return tool
    return replace(tool, description=f"{tool.description}\n{line}" if tool.description else line)


def _has_room(ctx: RunContext[Any]) -> bool:
    """Do the usage limits of the run leave room for a few more replies? A run with a deadline has none: how long it
    has been going on is unknown."""
    limits, usage = ctx.usage_limits, ctx.usage
    if limits is None or ctx.deadline is not None:
        return limits is None
    requests_left = None if limits.request_limit is None else limits.request_limit - usage.requests
    # The calls of this reply count too, held or not.
    calls_left = None if limits.tool_calls_limit is None else limits.tool_calls_limit - usage.tool_calls
    reply = _reply(ctx)
    used = (
        (usage.input_tokens, limits.input_tokens_limit),
        (usage.output_tokens, limits.output_tokens_limit),
        (usage.input_tokens + usage.output_tokens, limits.total_tokens_limit),
        (reply.usage.input_tokens if reply else 0, limits.per_request_input_tokens_limit),
        (float(usage.cost or 0), None if limits.cost_limit is None else float(limits.cost_limit)),
    )
    return (
        has_room(requests_left)
        and has_room(calls_left, REPLIES + len(_calls(ctx)))
        and all(is_hardly_used(*each) for each in used)
    )


def _reply(ctx: RunContext[Any]) -> ModelResponse | None:
    return next((message for message in reversed(ctx.messages) if isinstance(message, ModelResponse)), None)


def _calls(ctx: RunContext[Any]) -> list[ToolCallPart]:
    reply = _reply(ctx)
    return [part for part in reply.parts if isinstance(part, ToolCallPart)] if reply else []


def _requests(ctx: RunContext[Any]) -> list[str]:
    """All that the user wrote: the prompt, after those of the history."""
    parts = [part for message in ctx.messages if isinstance(message, ModelRequest) for part in message.parts]
    prompts: list[Any] = [part.content for part in parts if isinstance(part, UserPromptPart)]
    return [text for prompt in (*prompts, ctx.prompt) for text in _texts(prompt)]


def _texts(prompt: str | Iterable[object] | None) -> list[str]:
    if prompt is None or isinstance(prompt, str):
        return [prompt] if prompt else []
    return [part for part in prompt if isinstance(part, str)]
