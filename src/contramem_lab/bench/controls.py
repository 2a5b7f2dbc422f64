"""Texts that are not a memory, to compare one with: the most that text could achieve, and what any text achieves.

If a memory gains as much as `plan_memory`, a better memory could gain nothing more; if it gains no more than
`wrong_card_memory`, it gains by being text, not by its content.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from contramem.inject.provider import MemoryProvider, TextMemory
from contramem.prompts import render
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import digest
from contramem_lab.bench.environment import AnyEnvironment, Environment, SelfRunningEnvironment

PLAN = "bench/prompts/plan.jinja"


def plan_memory(environment: Environment) -> TextMemory:
    """The upper bound: each task is shown the plan of its own solution."""
    return TextMemory(lambda query: plan_of(environment, query.task_id) if query.task_id else "")


def wrong_card_memory(provider: MemoryProvider, elsewhere: Environment) -> TextMemory:
    """The wrong card: each task is shown what `provider` says for a fixed task of another environment."""
    others = {task.id: task.query(elsewhere.tools(task.id)) for task in elsewhere.tasks().values()}
    return TextMemory(lambda query: text_for_another_task(provider, query.task, others))


def plan_of(environment: AnyEnvironment, task_id: str) -> str:
    """The functions of the task's solution, in order, without arguments. Empty if no solution is known."""
    solution = None if isinstance(environment, SelfRunningEnvironment) else environment.solution(task_id)
    if solution is None:
        return ""
    names = [call.function.rpartition(".")[2] for calls in solution.turns for call in calls]
    return render(
        PLAN, "contramem_lab", steps=[(name, len(list(times))) for name, times in groupby(names)]
    ).text.strip()


def text_for_another_task(provider: MemoryProvider, task: str, others: Mapping[str, Query]) -> str:
    """What `provider` says for one of `others`: the first, in an order specific to the task, with an answer."""
    shuffled = sorted(others, key=lambda key: digest(f"{task}\n{key}"))
    texts = (provider.begin(others[key]).guidance.text for key in shuffled)
    return next((text for text in texts if text), "")
