"""Results for every target and condition, and each condition compared with `none` on the same tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from statistics import mean
from typing import Any, TypeAlias

import msgspec

from contramem.errors import UsageError
from contramem.evaluate.compare import Comparison, compare
from contramem.evaluate.pairs import Attempt
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory
from contramem_lab.memory import NO_MEMORY, Facts, MemoryBuilder
from contramem_lab.opened import OpenedExperiment, paths_of
from contramem_lab.split import Finder

Cells: TypeAlias = Mapping[tuple[str, str], list[Trajectory]]
"""Runs by condition and target."""


@dataclass(frozen=True, kw_only=True)
class ArmResult:
    """One target under one condition. Means are per run; None: the runs do not say."""

    condition: str
    target: str
    runs: int
    passed: int
    unknown: int
    hung: int
    by_ability: Mapping[str, tuple[int, int]]
    """Passed, and runs with a known outcome."""
    shown_tokens: float
    agent_events: float
    model_calls: float | None
    tokens: float | None
    cost_usd: float | None
    """Total over all runs."""
    scenarios: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By ability: scenarios whose runs all passed, and all scenarios. Empty if no run names its scenario."""
    parts: Mapping[str, ArmResult] = field(default_factory=dict)
    """The same for the runs of each ability."""

    @property
    def success(self) -> float | None:
        judged = self.runs - self.unknown
        return self.passed / judged if judged else None


@dataclass(frozen=True)
class Results:
    """Everything that the report shows. The same runs and seed give the same results."""

    name: str
    cells: tuple[ArmResult, ...] = ()
    comparisons: Mapping[str, Mapping[str, Comparison]] = field(default_factory=dict)
    """By target, then by condition: against `none`."""
    against_contramem: Mapping[str, Mapping[str, Comparison]] = field(default_factory=dict)
    """By target, then by condition: every other memory as the base, compared with contramem."""
    memories: tuple[Facts, ...] = ()
    not_made: tuple[str, ...] = ()
    """Conditions that these runs cannot make, and runs that do not exist yet, in words."""
    notes: tuple[str, ...] = ()
    """What was left out, in words."""

    def as_json(self) -> dict[str, Any]:
        document: dict[str, Any] = msgspec.to_builtins(self)
        for memory in document["memories"]:
            memory["construction"].pop("seconds", None)  # the only figure that differs between builds
        return document


def evaluate_runs(opened: OpenedExperiment, cells: Cells, memories: Sequence[Facts]) -> Results:
    """Each condition against `none`, target by target."""
    comparisons: dict[str, dict[str, Comparison]] = {}
    for (condition, target), runs in cells.items():
        base = _of_the_same_tasks(cells.get((NO_MEMORY, target), ()), runs)
        if condition != NO_MEMORY and base:
            rng = Random(opened.config.seed)
            comparisons.setdefault(target, {})[condition] = compare(
                base, runs, rng=rng, drop_unpaired=not opened.runs_here
            )
    ours = {target: runs for (condition, target), runs in cells.items() if condition == "contramem"}
    rivals: dict[str, dict[str, Comparison]] = {}
    for (condition, target), runs in cells.items():
        if condition not in (NO_MEMORY, "contramem") and target in ours:
            rivals.setdefault(target, {})[condition] = compare(
                runs,
                _of_the_same_tasks(ours[target], runs),
                rng=Random(opened.config.seed),
                drop_unpaired=not opened.runs_here,
            )
    wanted = [(condition, target) for condition in opened.config.conditions.run for target in opened.config.targets]
    absent = [
        f"no runs of {target} with {condition}" for condition, target in wanted if (condition, target) not in cells
    ]
    return Results(
        name=opened.config.name,
        cells=tuple(_cell_with_parts(condition, target, runs) for (condition, target), runs in cells.items()),
        comparisons=comparisons,
        against_contramem=rivals,
        memories=tuple(memories),
        not_made=(*_not_applicable(memories), *(absent if not opened.runs_here else ())),
    )


def _of_the_same_tasks(runs: Sequence[Trajectory], others: Sequence[Trajectory]) -> list[Trajectory]:
    """Those of `runs` whose tasks the others ran too: a condition may be limited to some abilities."""
    tasks = {run.task_key for run in others}
    return [run for run in runs if run.task_key in tasks]


def _not_applicable(memories: Sequence[Facts]) -> list[str]:
    return list(dict.fromkeys(f"{facts.condition}: {facts.reason}" for facts in memories if facts.reason))


def _cell_with_parts(condition: str, target: str, runs: Sequence[Trajectory]) -> ArmResult:
    by_ability: dict[str, list[Trajectory]] = {}
    for run in runs:
        by_ability.setdefault(run.ability or "general", []).append(run)
    parts = {ability: _cell(condition, target, group) for ability, group in sorted(by_ability.items())}
    return replace(_cell(condition, target, runs), parts=parts)


def _cell(condition: str, target: str, runs: Sequence[Trajectory]) -> ArmResult:
    attempts = [Attempt.of(run) for run in runs]
    judged = [attempt for attempt in attempts if attempt.passed is not None]
    passed = Counter(attempt.ability for attempt in judged if attempt.passed)
    return ArmResult(
        condition=condition,
        target=target,
        runs=len(runs),
        passed=sum(passed.values()),
        unknown=len(attempts) - len(judged),
        hung=sum(attempt.hung for attempt in attempts),
        by_ability={
            ability: (passed[ability], count)
            for ability, count in sorted(Counter(attempt.ability for attempt in judged).items())
        },
        shown_tokens=mean(sum(memory.tokens or 0 for memory in run.guidance) for run in runs),
        agent_events=mean(attempt.agent_events for attempt in attempts),
        model_calls=_mean(attempts, lambda attempt: attempt.usage.model_calls),
        tokens=_mean(attempts, lambda attempt: attempt.tokens),
        cost_usd=_total(attempts),
        scenarios=_scenarios(runs),
    )


def _scenarios(runs: Sequence[Trajectory]) -> dict[str, tuple[int, int]]:
    """Scenario goal completion by ability: a scenario counts if all of its runs passed."""
    passed: dict[tuple[str, str], bool] = {}
    for run in runs:
        if run.scenario_id is not None:
            key = (run.ability or "general", run.scenario_id)
            passed[key] = passed.get(key, True) and run.outcome.passed is True
    abilities = sorted({ability for ability, _ in passed})
    return {
        name: (
            sum(whole for (ability, _), whole in passed.items() if ability == name),
            sum(ability == name for ability, _ in passed),
        )
        for name in abilities
    }


def _mean(attempts: Sequence[Attempt], of: Callable[[Attempt], float | None]) -> float | None:
    values = [value for attempt in attempts if (value := of(attempt)) is not None]
    return mean(values) if values else None


def _total(attempts: Sequence[Attempt]) -> float | None:
    costs = [attempt.usage.cost_usd for attempt in attempts]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def read_outside_runs(opened: OpenedExperiment, builders: Sequence[MemoryBuilder]) -> Cells:
    """Runs left by an outside runner for the tested tasks. If there are none, an error says where they are expected."""
    environment = opened.config.environment
    assert environment.runs is not None
    is_tested = Finder(task for builder in builders for task in builder.tested)
    cells: dict[tuple[str, str], list[Trajectory]] = {}
    absent = []
    for condition in opened.config.conditions.run:
        for target in opened.config.targets:
            pattern = environment.runs.format(condition=condition, target=target)
            paths = paths_of(opened.file, pattern)
            runs = [run for run in read_traces(paths, opened.read_options()) if is_tested(run) is not None]
            if runs:
                cells[condition, target] = runs
            else:
                absent.append(str(opened.file.beside(pattern)))
    if not cells:
        raise UsageError(
            "the memories are built and frozen in memory/; split.json says which tasks are held out. Run the targets "
            "on them with each memory, and leave the traces where environment.runs says; then run this again. Nothing "
            "yet at:\n  - " + "\n  - ".join(absent)
        )
    return cells
