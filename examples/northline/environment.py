"""Northline in contramem's `bench` protocol, so that an agent can be run in it without and with memory."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from contramem.traces.trajectory import Outcome, Result, Tool
from contramem_lab.environment import EnvironmentCall, Solution, Task
from northline.agents import PERFECT
from northline.calls import Executed
from northline.judge import judge
from northline.scripts import run_script
from northline.tasks import NorthlineTask
from northline.tools import TOOLS, run_tool
from northline.world import APP, TODAY

HELD_OUT_SEED, HELD_OUT_TASKS = 2, 36


class Northline:
    """The held-out tasks, or as many others as a seed gives."""

    name = APP

    def __init__(self, tasks: int = HELD_OUT_TASKS, seed: int = HELD_OUT_SEED, prefix: str = "h") -> None:
        self._ids = [f"{prefix}{number:03d}" for number in range(tasks)]
        self._seed = seed

    @cached_property
    def _tasks(self) -> dict[str, Task]:
        made = (NorthlineTask(task_id, self._seed) for task_id in self._ids)
        context = f"You work in the back office of Northline Supply. Today is {TODAY}."
        return {task.id: Task(task.id, (task.request,), (APP,), family=task.kind, context=context) for task in made}

    def tasks(self) -> Mapping[str, Task]:
        return self._tasks

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        return tuple(Tool(f"{APP}.{name}", tool.description, tool.schema) for name, tool in TOOLS.items())

    def start(self, task_id: str) -> NorthlineSession:
        return NorthlineSession(NorthlineTask(task_id, self._seed))

    def solution(self, task_id: str) -> Solution:
        """What an agent does that keeps every rule."""
        run = run_script(NorthlineTask(task_id, self._seed), PERFECT, self._seed)
        return Solution((tuple(EnvironmentCall(f"{APP}.{call.tool}", call.arguments) for call in run.calls),))


class NorthlineSession:
    """One run at one task."""

    def __init__(self, task: NorthlineTask) -> None:
        self._task = task
        self._calls: list[Executed] = []

    def call(self, function: str, arguments: Mapping[str, Any]) -> Result:
        tool = function.removeprefix(f"{APP}.")
        text, value = run_tool(self._task.world, tool, copy.deepcopy(dict(arguments)))
        self._calls.append(Executed(tool, dict(arguments), copy.deepcopy(value)))
        return Result(text, text if value is None else None)

    def end_turn(self, answer: str = "") -> None:
        """The verdict does not depend on what the agent says."""

    def verify(self) -> Outcome:
        return Outcome(passed=not judge(self._task, self._calls))
