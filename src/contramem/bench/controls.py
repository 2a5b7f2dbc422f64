"""Aids that are no memory, to hold one against: the most that text could do, and what any text does.

A memory that gains as much as `given_plan` leaves nothing to gain by better memory; one that gains no more than
`misplaced` gains by being text, not by what it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from contramem.bench.environment import Environment
from contramem.inject.provider import MemoryProvider, TextMemory
from contramem.prompts import render
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import digest

PLAN = "bench/prompts/plan.jinja"


def given_plan(environment: Environment) -> TextMemory:
    """The ceiling: each task is told the plan of its own solution."""
    return TextMemory(lambda query: plan_of(environment, query.task_id) if query.task_id else "")


def misplaced(provider: MemoryProvider, elsewhere: Environment) -> TextMemory:
    """The wrong card: each task gets what `provider` says to a task of another environment, always the same one."""
    others = {task.id: task.query(elsewhere.tools(task.id)) for task in elsewhere.tasks().values()}
    return TextMemory(lambda query: said_to_another(provider, query.task, others))


def plan_of(environment: Environment, task_id: str) -> str:
    """The functions of the task's solution, in order, without their arguments. Nothing, where no solution is known."""
    solution = environment.solution(task_id)
    if solution is None:
        return ""
    names = [call.function.rpartition(".")[2] for calls in solution.turns for call in calls]
    return render(PLAN, steps=[(name, len(list(times))) for name, times in groupby(names)]).text.strip()


def said_to_another(provider: MemoryProvider, task: str, others: Mapping[str, Query]) -> str:
    """What `provider` says to one of `others`: the first, in an order of the task's own, that it says anything to."""
    shuffled = sorted(others, key=lambda key: digest(f"{task}\n{key}"))
    said = (provider.begin(others[key]).guidance.text for key in shuffled)
    return next((text for text in said if text), "")
