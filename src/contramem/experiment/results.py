"""Results: what came out, for every target and condition, and each condition against `none` on the same tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import mean
from typing import Any, TypeAlias

import msgspec

from contramem.errors import UsageError
from contramem.evaluate.attempt import Attempt
from contramem.evaluate.compare import Comparison, compare
from contramem.evaluate.conditions import NotApplicable, median_source
from contramem.evaluate.contest import OrderedPairs, contests, ordered, share, share_interval
from contramem.evaluate.split import Finder
from contramem.experiment.memory import Facts
from contramem.experiment.memory_builder import NO_MEMORY, OWN_RUNS, MemoryBuilder
from contramem.experiment.opened import OpenedExperiment, found_by
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory

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
    """Of all runs together."""

    @property
    def success(self) -> float | None:
        known = self.runs - self.unknown
        return self.passed / known if known else None


@dataclass(frozen=True)
class ForesightResult:
    """How well a memory orders recorded held-out runs; no share where it defines no order."""

    condition: str
    share: float | None
    interval: tuple[float, float] | None
    pairs: int
    tasks: int


@dataclass(frozen=True)
class Results:
    """Everything that the report shows. The same runs and seed give the same results."""

    name: str
    cells: tuple[ArmResult, ...] = ()
    comparisons: Mapping[str, Mapping[str, Comparison]] = field(default_factory=dict)
    """By target, then by condition: against `none`."""
    foresight: tuple[ForesightResult, ...] = ()
    memories: tuple[Facts, ...] = ()
    not_made: tuple[str, ...] = ()
    """Conditions that these runs cannot make, and runs that nobody has made yet, in words."""
    notes: tuple[str, ...] = ()
    """What was left out on the way, in words."""

    def as_json(self) -> dict[str, Any]:
        document: dict[str, Any] = msgspec.to_builtins(self)
        for memory in document["memories"]:
            memory["construction"].pop("seconds", None)  # the only figure that differs from one build to the next
        return document


def evaluated(setting: OpenedExperiment, cells: Cells, memories: Sequence[Facts]) -> Results:
    """Each condition against `none`, target by target."""
    comparisons: dict[str, dict[str, Comparison]] = {}
    for (condition, target), runs in cells.items():
        base = cells.get((NO_MEMORY, target))
        if condition != NO_MEMORY and base:
            rng = Random(setting.config.seed)
            comparisons.setdefault(target, {})[condition] = compare(
                base, runs, rng=rng, drop_unpaired=not setting.runs_here
            )
    wanted = [(condition, target) for condition in setting.config.conditions.run for target in setting.config.targets]
    absent = [
        f"no runs of {target} with {condition}" for condition, target in wanted if (condition, target) not in cells
    ]
    return Results(
        name=setting.config.name,
        cells=tuple(_cell(condition, target, runs) for (condition, target), runs in cells.items()),
        comparisons=comparisons,
        memories=tuple(memories),
        not_made=(*_not_applicable(memories), *(absent if not setting.runs_here else ())),
    )


def _not_applicable(memories: Sequence[Facts]) -> list[str]:
    return list(dict.fromkeys(f"{facts.condition}: {facts.reason}" for facts in memories if facts.reason))


def _cell(condition: str, target: str, runs: Sequence[Trajectory]) -> ArmResult:
    attempts = [Attempt.of(run) for run in runs]
    known = [one for one in attempts if one.passed is not None]
    passed = Counter(one.ability for one in known if one.passed)
    return ArmResult(
        condition=condition,
        target=target,
        runs=len(runs),
        passed=sum(passed.values()),
        unknown=len(attempts) - len(known),
        hung=sum(one.hung for one in attempts),
        by_ability={
            ability: (passed[ability], count)
            for ability, count in sorted(Counter(one.ability for one in known).items())
        },
        shown_tokens=mean(sum(shown.tokens or 0 for shown in run.guidance) for run in runs),
        agent_events=mean(one.agent_events for one in attempts),
        model_calls=_mean(attempts, lambda one: one.usage.model_calls),
        tokens=_mean(attempts, lambda one: one.tokens),
        cost_usd=_total(attempts),
    )


def _mean(attempts: Sequence[Attempt], of: Callable[[Attempt], float | None]) -> float | None:
    known = [value for one in attempts if (value := of(one)) is not None]
    return mean(known) if known else None


def _total(attempts: Sequence[Attempt]) -> float | None:
    costs = [one.usage.cost_usd for one in attempts]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def made_elsewhere(setting: OpenedExperiment, workshops: Sequence[MemoryBuilder]) -> Cells:
    """Runs that an outside runner has left, of the tasks that are tested. None at all is an error that says where."""
    environment = setting.config.environment
    assert environment is not None and environment.runs is not None
    is_tested = Finder(task for shop in workshops for task in shop.tested)
    cells: dict[tuple[str, str], list[Trajectory]] = {}
    absent = []
    for condition in setting.config.conditions.run:
        for target in setting.config.targets:
            pattern = environment.runs.format(condition=condition, target=target)
            paths = found_by(setting.file, pattern)
            runs = [run for run in read_traces(paths, setting.read_options()) if is_tested(run) is not None]
            if runs:
                cells[condition, target] = runs
            else:
                absent.append(str(setting.file.beside(pattern)))
    if not cells:
        raise UsageError(
            "the memories are built and frozen in memory/; split.json says which tasks are held out. Run the targets "
            "on them with each memory, and leave the traces where environment.runs says; then run this again. Nothing "
            "yet at:\n  - " + "\n  - ".join(absent)
        )
    return cells


def foreseen(
    setting: OpenedExperiment, workshops: Sequence[MemoryBuilder], tell: Callable[[str, int, int], None]
) -> Results:
    """Recorded runs only: does each memory tell the failing from the passing runs of tasks it has not seen?"""
    source = setting.config.conditions.target or median_source([run] for run in setting.recorded)
    orders: dict[str, list[OrderedPairs]] = {}
    memories: list[Facts] = []
    names = setting.config.conditions.run
    for shop in workshops:
        held_out = _recorded_tasks(setting, shop)
        for number, condition in enumerate(names, 1):
            facts, _ = shop.memory(condition, source if condition in OWN_RUNS else None)
            memories.append(facts)
            orders.setdefault(condition, [])
            try:
                judge = shop.build(condition, facts.target).judge
            except NotApplicable:
                judge = None
            if judge is not None:
                orders[condition] += [ordered(one, judge(one)) for one in contests(held_out)]
            tell("memories", shop.fold * len(names) + number, len(workshops) * len(names))
    rows = tuple(_foresight(condition, found, setting.config.seed) for condition, found in orders.items())
    return Results(
        setting.config.name, foresight=rows, memories=tuple(memories), not_made=tuple(_not_applicable(memories))
    )


def _recorded_tasks(setting: OpenedExperiment, shop: MemoryBuilder) -> list[list[Trajectory]]:
    is_tested = Finder(shop.tested)
    tasks: dict[str, list[Trajectory]] = {}
    for run in setting.recorded:
        if is_tested(run) is not None:
            tasks.setdefault(run.task_key, []).append(run)
    return [tasks[key] for key in sorted(tasks)]


def _foresight(condition: str, orders: Sequence[OrderedPairs], seed: int) -> ForesightResult:
    interval = share_interval(orders, Random(seed)) if orders else None
    return ForesightResult(
        condition,
        share(orders),
        None if interval is None else (interval.low, interval.high),
        sum(one.pairs for one in orders),
        len(orders),
    )
