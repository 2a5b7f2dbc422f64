"""Aids that are no memory, to hold one against: the most that text could do, and what any text does.

A memory that gains as much as `GivenPlan` leaves nothing to gain by better memory; one that gains no more than
`Misplaced` gains by being text, not by what it says.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from contramem.bench.environment import Environment
from contramem.inject.aid import Aid, AidedRun, TextRun
from contramem.prompts import render
from contramem.traces.trajectory import Tool, digest

PLAN = "bench/prompts/plan.jinja"


class GivenPlan:
    """The ceiling: the functions of the task's own solution, in order, without their arguments."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def start(
        self,
        task: str,
        *,
        ability: str | None = None,
        apps: Iterable[str] | None = None,
        tools: Iterable[str | Tool] | None = None,
        task_id: str | None = None,
        scenario_id: str | None = None,
        run_id: str | None = None,
    ) -> AidedRun:
        solution = self._environment.solution(task_id) if task_id else None
        if solution is None:
            return TextRun.of("")
        names = [call.function.rpartition(".")[2] for calls in solution.turns for call in calls]
        steps = [(name, len(list(times))) for name, times in groupby(names)]
        return TextRun.of(render(PLAN, steps=steps).text.strip())


class Misplaced:
    """The wrong card: what `aid` says to a task of another environment, the same one each time."""

    def __init__(self, aid: Aid, elsewhere: Environment) -> None:
        self._aid, self._elsewhere = aid, elsewhere

    def start(
        self,
        task: str,
        *,
        ability: str | None = None,
        apps: Iterable[str] | None = None,
        tools: Iterable[str | Tool] | None = None,
        task_id: str | None = None,
        scenario_id: str | None = None,
        run_id: str | None = None,
    ) -> AidedRun:
        said = (self._said(other) for other in self._shuffled(task))
        return TextRun.of(next((text for text in said if text), ""))

    def _shuffled(self, task: str) -> list[str]:
        return sorted(self._elsewhere.tasks(), key=lambda other: digest(f"{task}\n{other}"))

    def _said(self, task_id: str) -> str:
        task = self._elsewhere.tasks()[task_id]
        run = self._aid.start(
            "\n\n".join(task.turns), ability=task.ability, apps=task.apps, tools=self._elsewhere.tools(task_id)
        )
        return run.guidance.text
