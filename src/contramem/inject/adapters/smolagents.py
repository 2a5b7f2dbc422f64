"""smolagents: `guided(agent, run).run(task)`, for agents that write code and for those that call tools."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.adapters.starter import missing
from contramem.inject.adapters.wrapper import has_room, wrap_tool
from contramem.inject.run import Run

try:
    from smolagents import ActionStep, MultiStepAgent, Tool
except ImportError as error:
    raise missing(__name__, "smolagents", "smolagents", error) from error

_Agent = TypeVar("_Agent", bound=MultiStepAgent)


def guided(agent: _Agent, run: Run) -> _Agent:
    """A copy of `agent` for one run: guidance in its instructions, a line in the descriptions of its tools, and notes
    among the observations of a step; a final answer while something is still open is asked for again, once. No call is
    held: in a program, the text would become a value."""
    guided_run = GuidedRun(run)
    notes: list[str] = []
    copied = copy.copy(agent)
    copied.instructions = "\n\n".join(filter(None, (agent.instructions, guided_run.guidance))) or None
    copied.tools = {name: _guide_tool(tool, guided_run, notes) for name, tool in agent.tools.items()}
    copied.step_callbacks = copy.copy(agent.step_callbacks)
    copied.step_callbacks._callbacks = {kind: [*each] for kind, each in agent.step_callbacks._callbacks.items()}
    copied.step_callbacks.register(ActionStep, lambda step: _add_notes(step, notes))
    copied.final_answer_checks = [*agent.final_answer_checks, _final_check(guided_run)]
    return copied


def _final_check(run: GuidedRun) -> Callable[..., bool]:
    """A check that fails once, with what is still open as its error. Not in the last steps: there the answer counts."""

    def what_is_still_open(answer: Any, memory: Any, agent: MultiStepAgent) -> bool:
        if has_room(agent.max_steps - agent.step_number) and (note := run.before_final()):
            raise ValueError(note)
        return True

    return what_is_still_open


@dataclass(frozen=True)
class _ToldCalls:
    """What happens around the calls of one tool: they are made, and notes on them are collected."""

    name: str
    run: GuidedRun
    notes: list[str]

    def before(self, arguments: Mapping[str, Any]) -> None:
        return None

    def after(self, arguments: Mapping[str, Any], result: Any) -> Any:
        self.notes.append(self.run.tell(self.name, arguments, content=result))
        return result

    def on_error(self, arguments: Mapping[str, Any], error: Exception) -> None:
        self.notes.append(self.run.tell(self.name, arguments, error=error))


def _guide_tool(tool: Tool, run: GuidedRun, notes: list[str]) -> Tool:
    copied = copy.copy(tool)
    copied.forward = wrap_tool(tool.forward, _ToldCalls(tool.name, run, notes))
    if line := run.describe(tool.name):
        copied.description = f"{tool.description} {line}"
    return copied


def _add_notes(step: ActionStep, notes: list[str]) -> None:
    if text := "\n\n".join(filter(None, notes)):
        step.observations = f"{step.observations}\n\n{text}" if step.observations else text
    notes.clear()
