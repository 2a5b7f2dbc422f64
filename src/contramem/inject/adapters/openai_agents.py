"""OpenAI Agents SDK: `run_guided(agent, run, task)`, or `Runner.run(guided(agent, run), task)`.

The guided copy of an agent is for one run.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.adapters.starter import missing
from contramem.inject.run import Run

try:
    from agents import (
        Agent,
        FunctionTool,
        Handoff,
        MaxTurnsExceeded,
        RunContextWrapper,
        Runner,
        RunResult,
        Tool,
        ToolGuardrailFunctionOutput,
        ToolInputGuardrail,
        ToolInputGuardrailData,
        ToolOutputGuardrail,
        ToolOutputGuardrailData,
    )
    from agents.run import DEFAULT_MAX_TURNS
except ImportError as error:
    raise missing(__name__, "agents", "openai-agents", error) from error

_Context = TypeVar("_Context")
_FAILED = ("An error occurred while running the tool", "Tool '")
"""How the SDK words the failures that it hands to the model: an exception, a time-out."""

ROOM = 3
"""Turns for what a held call leads to: another call, the call again and the answer."""


def guided(agent: Agent[_Context], run: Run, *, max_turns: int | None = 0) -> Agent[_Context]:
    """A copy of `agent`, and of the agents it may hand off to, with guidance in its instructions, a line of a
    function's card in its tool's description, and notes beside results. Make one for each run; the agent itself stays
    as it is.

    Tools of MCP servers belong to the server, not to the agent: nothing is said about them. Calls of an agent that may
    hand off, or that ends with the result of a tool, are not held: the reply may be its last. Nor are calls in the last
    turns. The SDK does not tell how many there are, so no call is held unless you say what you pass to `Runner` as
    `max_turns` (None is any number; what it takes if you pass nothing is `agents.run.DEFAULT_MAX_TURNS`).
    """
    return _Guide(run, max_turns).agent(agent)


async def run_guided(agent: Agent[_Context], run: Run, task: str | list[Any], **options: Any) -> RunResult:
    """`Runner.run` with a guided copy of `agent`. The SDK has no hook that could let an agent go on at its end: what is
    still open then is asked for once, as one more request of the same run. `options` are those of `Runner.run`."""
    max_turns = options.get("max_turns", DEFAULT_MAX_TURNS)
    guide = _Guide(run, max_turns)
    result = await Runner.run(guide.agent(agent), task, **options)
    if not isinstance(result.final_output, str) or result.interruptions:
        return result
    note = guide.before_final()
    if not note:
        return result
    request: Any = {"role": "user", "content": note}
    again = {name: value for name, value in options.items() if name not in ("session", "previous_response_id")}
    guide.allow(max_turns)
    try:
        return await Runner.run(result.last_agent, [*result.to_input_list(), request], **again)
    except MaxTurnsExceeded:  # the answer was there before the reminder
        return result


class _Guide:
    """Makes the copies for one run, and knows which turn it is at."""

    def __init__(self, run: Run, max_turns: int | None) -> None:
        self._run = GuidedRun(run)
        self._turn = 0
        self.allow(max_turns)
        self._copies: dict[int, tuple[Agent[Any], Agent[Any]]] = {}
        self._before = ToolInputGuardrail[Any](self._hold, name="contramem")
        self._after = ToolOutputGuardrail[Any](self._tell, name="contramem")

    def agent(self, agent: Agent[_Context]) -> Agent[_Context]:
        if id(agent) not in self._copies:
            copied = agent.clone(
                instructions=self._instructions(agent), tools=[self._tool(tool) for tool in agent.tools]
            )
            self._copies[id(agent)] = agent, copied  # before its handoffs, which may lead back to it
            copied.handoffs = [self._handoff(target) for target in agent.handoffs]
        return self._copies[id(agent)][1]

    def allow(self, turns: int | None) -> None:
        """The agent may take so many turns from here; None is any number."""
        self._last_turn = None if turns is None else self._turn + turns

    def before_final(self) -> str:
        return self._run.before_final()

    def _instructions(self, agent: Agent[Any]) -> Any:
        async def instructions(context: RunContextWrapper[Any], _: Agent[Any]) -> str | None:
            self._turn += 1  # the SDK asks once for each request to the model
            own = await agent.get_system_prompt(context)
            return "\n\n".join(filter(None, (own, self._run.guidance))) or None

        return instructions

    def _tool(self, tool: Tool) -> Tool:
        if not isinstance(tool, FunctionTool):
            return tool
        copied = copy.copy(tool)
        if line := self._run.describe(tool.name):
            copied.description = f"{tool.description}\n{line}"
        copied.tool_input_guardrails = [*(tool.tool_input_guardrails or ()), self._before]
        copied.tool_output_guardrails = [self._after, *(tool.tool_output_guardrails or ())]
        return copied

    def _handoff(self, target: Agent[Any] | Handoff[Any, Any]) -> Agent[Any] | Handoff[Any, Any]:
        if isinstance(target, Agent):
            return self.agent(target)

        async def hand_off(context: RunContextWrapper[Any], arguments: str) -> Agent[Any]:
            return self.agent(await target.on_invoke_handoff(context, arguments))

        return replace(target, on_invoke_handoff=hand_off)

    def _hold(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = data.context
        arguments, ends = _decode(call.tool_arguments), _may_end(data.agent) or not self._has_room()
        text = self._run.hold(call.tool_name, arguments, turn=self._turn, call=call.tool_call_id, ends_run=ends)
        if text is None:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(text, output_info={"contramem": "held"})

    def _has_room(self) -> bool:
        return self._last_turn is None or self._last_turn - self._turn >= ROOM

    def _tell(self, data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        call, output = data.context, data.output
        failed = output if isinstance(output, str) and output.startswith(_FAILED) else None
        note = self._run.tell(call.tool_name, _decode(call.tool_arguments), content=output, error=failed)
        if not note or not isinstance(output, str) or data.agent.tool_use_behavior != "run_llm_again":
            return ToolGuardrailFunctionOutput.allow()
        # The SDK's way to put another text in the place of a result; ours begins with the result.
        return ToolGuardrailFunctionOutput.reject_content(f"{output}\n\n{note}", output_info={"contramem": "note"})


def _may_end(agent: Agent[Any]) -> bool:
    return bool(agent.handoffs) or agent.tool_use_behavior != "run_llm_again"


def _decode(arguments: str) -> dict[str, Any] | None:
    """The arguments of a call; None when the model wrote no JSON object, which is then for the tool to refuse."""
    try:
        decoded = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return None
    return decoded if isinstance(decoded, dict) else None
