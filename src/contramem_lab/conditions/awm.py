"""Offline Agent Workflow Memory (Wang et al. 2024; paper, A.7): workflows induced from runs that passed.

One induction per ability, workflows of at least two actions, and the whole library at task start. No failing runs, no
contrast, no retrieval. By rules, a task's workflow is what most of its passing runs call; with a model, one call
induces the library of an ability.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rapidfuzz.distance import LCSseq

from contramem.build.model.step_text import call_text
from contramem.inject.provider import TextMemory
from contramem.retrieve.bm25 import Bm25
from contramem.retrieve.tokens import tokenize
from contramem.traces.trajectory import Trajectory
from contramem_lab.baselines import NEIGHBOURS, Judge, Scorer, common_steps, names
from contramem_lab.conditions.condition import RULES, BuiltMemory, ConditionInputs, ConstructionCost
from contramem_lab.conditions.library import Library
from contramem_lab.conditions.masked import MaskedRun, mask_runs
from contramem_lab.contest import TaskContest

MIN_ACTIONS = 2
"""A single action is not a workflow (the criterion of the released code)."""
TITLE = "Workflows that earlier runs followed"


@dataclass(frozen=True)
class Workflow:
    """What a routine is for, and its actions with variables for values."""

    about: str
    actions: tuple[str, ...]
    functions: tuple[str, ...]
    """The functions that the actions call, in order."""
    taught_by: frozenset[str]

    @property
    def text(self) -> str:
        lines = [f"{number}. {action}" for number, action in enumerate(self.actions, 1)]
        return "\n".join([f"### Workflow: {self.about}", *lines])


Workflows = Mapping[str, Sequence[Workflow]]
"""By ability."""


def awm(inputs: ConditionInputs) -> BuiltMemory:
    reference = inputs.reference
    prepared, began = reference.prepare(), reference.clock()
    demonstrations = by_task(mask_runs(reference).values())
    used = sum(len(runs) for tasks in demonstrations.values() for runs in tasks)
    if inputs.model:
        from contramem_lab.conditions.asking import asking
        from contramem_lab.conditions.awm_model import induce_by_model

        with asking(inputs, inputs.model, "awm") as model:
            workflows: Workflows = induce_by_model(demonstrations, model)
            calls = model.calls()
        took = ConstructionCost.of_calls(inputs.by, used, calls, prepared + reference.clock() - began)
    else:
        workflows = {ability: induce_workflows(tasks) for ability, tasks in demonstrations.items()}
        took = ConstructionCost(RULES, used, seconds=prepared + reference.clock() - began)
    library = Library(TITLE, workflows, separate=True)
    return BuiltMemory(TextMemory(library), len(library), "workflows", library.tokens, took, judge_by(workflows))


def by_task(runs: Iterable[MaskedRun]) -> dict[str, list[list[MaskedRun]]]:
    """The demonstrations: runs that passed, by ability and task."""
    demonstrations: dict[str, dict[frozenset[str], list[MaskedRun]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        if run.counts and run.passed:
            demonstrations[run.ability][run.identity].append(run)
    return {ability: list(tasks.values()) for ability, tasks in sorted(demonstrations.items())}


def induce_workflows(tasks: Sequence[Sequence[MaskedRun]]) -> list[Workflow]:
    """Induce workflows by rules from the demonstrations of one ability. Tasks with the same calls share a workflow."""
    by_functions: dict[tuple[str, ...], Workflow] = {}
    for runs in tasks:
        calls = [tuple(step.function for step in run.calls) for run in runs]
        functions = common_steps(calls)
        if len(functions) < MIN_ACTIONS:
            continue
        example = next(run for run, called in zip(runs, calls, strict=True) if _follows(called, functions))
        new = Workflow(example.task, _actions(example, functions), functions, example.identity)
        workflow = by_functions.setdefault(functions, new)
        by_functions[functions] = replace(workflow, taught_by=workflow.taught_by | new.taught_by)
    return list(by_functions.values())


def _follows(called: tuple[str, ...], functions: tuple[str, ...]) -> bool:
    """Whether the first calls of these functions are in this order."""
    return tuple(dict.fromkeys(name for name in called if name in functions)) == functions


def _actions(run: MaskedRun, functions: tuple[str, ...]) -> tuple[str, ...]:
    """The run's first call of each function, without its result."""
    first = {step.function: step for step in reversed(run.calls)}
    return tuple(call_text(first[name], origins=False) for name in functions)


def judge_by(workflows: Workflows) -> Judge:
    """Score a run by the share of the most similar tasks' workflows that it follows, in order: an agent that sees the
    whole library picks what fits the task."""
    indexes = {
        ability: (members, Bm25([tokenize(workflow.about) for workflow in members]))
        for ability, members in workflows.items()
        if members
    }

    def judge(contest: TaskContest) -> Scorer:
        own = contest.query.own
        members, index = indexes.get(contest.ability, ((), None))
        chosen: list[Workflow] = []
        if index is not None:
            scores = index.scores(tokenize(contest.task))
            ranked = sorted(range(len(members)), key=lambda number: (-round(float(scores[number]), 9), number))
            chosen = [members[number] for number in ranked if own.isdisjoint(members[number].taught_by)][:NEIGHBOURS]

        def score(run: Trajectory) -> float:
            calls = names(run)
            shares = [LCSseq.similarity(calls, workflow.functions) / len(workflow.functions) for workflow in chosen]
            return sum(shares) / len(shares) if shares else 0.0

        return score

    return judge
