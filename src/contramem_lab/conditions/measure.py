"""Measures every condition on recorded runs: built on one half of the tasks, measured on the other.

No model is needed and nothing is run. Measured are how often a memory orders a passing and a failing run of an unseen
task correctly, how many tokens a task gets, and what the memory cost to build.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from contramem.engine import SERIAL, Engine
from contramem.errors import UsageError
from contramem.inject.provider import MemoryProvider, MemoryRun
from contramem.progress import Progress, no_progress
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Trajectory
from contramem_lab.baselines import CONTROL, Judge, distinct_functions, run_length, source_pass_rate
from contramem_lab.conditions.condition import (
    BuiltMemory,
    ByModel,
    Condition,
    ConditionInputs,
    ConstructionCost,
    NotApplicable,
)
from contramem_lab.conditions.reference import Reference, median_source
from contramem_lab.contest import OrderedPairs, TaskContest, contests, order_pairs, share
from contramem_lab.foresight_guards import Habits, habit_judge
from contramem_lab.split import halves

EXPECTED = "expectation"
CONTROLS = ("run length", "distinct functions", EXPECTED, CONTROL)
"""Orders that need no memory. A memory that does not beat them says nothing about runs."""


@dataclass(frozen=True)
class MeasurementPlan:
    """What is compared, and on which splits."""

    conditions: Sequence[Condition]
    folder: Path
    seed: int = 0
    splits: int = 1
    target: str | None = None
    """None means the source with the median pass rate."""
    model: ByModel | None = None
    profile: str = "default"


@dataclass
class MeasuredCondition:
    """The measurements of one condition over all splits."""

    name: str
    about: str
    unit: str = ""
    not_applicable: str = ""
    """Why it could not be built; all other fields are then empty."""
    orders: dict[str, OrderedPairs] = field(default_factory=dict)
    """By task, summed over the splits that held it out. Empty if the memory defines no order."""
    parts: dict[str, dict[str, OrderedPairs]] = field(default_factory=dict)
    start_tokens: list[int] = field(default_factory=list)
    """Tokens at task start for each held-out task of each split."""
    run_tokens: list[int] = field(default_factory=list)
    """For each recorded run of these tasks: the tokens it would have been shown at its start and before its calls."""
    sizes: list[tuple[int, int]] = field(default_factory=list)
    """Items and tokens of the whole memory, for each split."""
    constructions: list[ConstructionCost] = field(default_factory=list)

    @property
    def score(self) -> float | None:
        return share(list(self.orders.values()))

    @property
    def median_tokens(self) -> float | None:
        return median(self.start_tokens) if self.start_tokens else None

    @property
    def mean_tokens(self) -> float | None:
        return mean(self.start_tokens) if self.start_tokens else None

    @property
    def mean_run_tokens(self) -> float | None:
        return mean(self.run_tokens) if self.run_tokens else None


@dataclass(frozen=True)
class Measurements:
    """The measurements of all conditions."""

    rows: tuple[MeasuredCondition, ...]
    controls: tuple[MeasuredCondition, ...]
    target: str
    tasks: int
    """Tasks that were held out in some split and have runs of both outcomes."""
    pairs: int
    """Pairs of a passing and a failing run, each counted once."""
    reference_tasks: float
    """Mean per split."""
    held_out_tasks: float
    seed: int
    splits: int
    by: str

    def row(self, name: str) -> MeasuredCondition | None:
        return next((row for row in (*self.rows, *self.controls) if row.name == name), None)


def measure(
    tasks: Sequence[Sequence[Trajectory]],
    plan: MeasurementPlan,
    on_progress: Progress = no_progress,
    engine: Engine = SERIAL,
) -> Measurements:
    """Build and measure every condition on every split. Without a model, splits are measured in parallel."""
    target = plan.target or median_source(tasks)
    if target not in {run.source for task in tasks for run in task}:
        sources = ", ".join(sorted({run.source for task in tasks for run in task}))
        raise UsageError(f"--target: there are no runs of {target!r}. These runs are of {sources}.")
    seeds = range(plan.seed, plan.seed + plan.splits)
    if plan.model is None and plan.splits > 1:
        splits = list(engine.map(_measure_split, seeds, SplitInputs(tasks, plan, target)))
    else:
        splits = [_measure_split(SplitInputs(tasks, plan, target, on_progress), seed) for seed in seeds]
    pairs = {key: count for split in splits for key, count in split.pairs.items()}
    if not pairs:
        raise UsageError("no held-out task has runs that passed and others that failed, so nothing can be told apart.")
    return Measurements(
        rows=tuple(_combine(rows) for rows in zip(*(split.rows for split in splits), strict=True)),
        controls=tuple(_combine(rows) for rows in zip(*(split.controls for split in splits), strict=True)),
        target=target,
        tasks=len(pairs),
        pairs=sum(pairs.values()),
        reference_tasks=mean(split.reference_tasks for split in splits),
        held_out_tasks=mean(split.held_out_tasks for split in splits),
        seed=plan.seed,
        splits=plan.splits,
        by=plan.model.choice.name if plan.model else "rules",
    )


class SplitInputs(NamedTuple):
    """The inputs shared by all splits."""

    tasks: Sequence[Sequence[Trajectory]]
    plan: MeasurementPlan
    target: str
    on_progress: Progress = no_progress


@dataclass(frozen=True)
class SplitMeasurements:
    """The measurements of one split."""

    rows: list[MeasuredCondition]
    controls: list[MeasuredCondition]
    pairs: dict[str, int]
    """By held-out task: pairs of a passing and a failing run."""
    reference_tasks: int
    held_out_tasks: int


def _measure_split(inputs: SplitInputs, seed: int) -> SplitMeasurements:
    """Measure one split; runs as a job of an engine."""
    plan, split = inputs.plan, halves(inputs.tasks, seed)
    unseen = contests(split.held_out)
    condition_inputs = ConditionInputs(
        Reference(run for task in split.reference for run in task),
        plan.folder, target=inputs.target, model=plan.model, profile=plan.profile,
    )  # fmt: skip
    controls = [MeasuredCondition(name, "no memory") for name in CONTROLS]
    for control, judge in zip(controls, _controls(condition_inputs.reference).values(), strict=True):
        _add(control.orders, unseen, judge)
    rows = [MeasuredCondition(condition.name, condition.about) for condition in plan.conditions]
    for done, (row, condition) in enumerate(zip(rows, plan.conditions, strict=True), 1):
        _measure_condition(row, condition, condition_inputs, split.held_out, unseen)
        inputs.on_progress(f"split {seed}", done, len(rows))
    pairs = {contest.key: contest.pairs for contest in unseen}
    return SplitMeasurements(rows, controls, pairs, len(split.reference), len(split.held_out))


def _combine(splits: Sequence[MeasuredCondition]) -> MeasuredCondition:
    """Combine the measurements of one condition over all splits, in order."""
    whole = MeasuredCondition(splits[0].name, splits[0].about)
    for row in splits:
        whole.unit = row.unit or whole.unit
        whole.not_applicable = row.not_applicable or whole.not_applicable
        _add_orders(whole.orders, row.orders)
        for name, orders in row.parts.items():
            _add_orders(whole.parts.setdefault(name, {}), orders)
        whole.start_tokens += row.start_tokens
        whole.run_tokens += row.run_tokens
        whole.sizes += row.sizes
        whole.constructions += row.constructions
    return whole


def _add_orders(orders: dict[str, OrderedPairs], more: Mapping[str, OrderedPairs]) -> None:
    for key, order in more.items():
        before = orders.get(key, OrderedPairs(0, 0))
        orders[key] = OrderedPairs(before.right + order.right, before.pairs + order.pairs)


def _measure_condition(
    row: MeasuredCondition,
    condition: Condition,
    inputs: ConditionInputs,
    held_out: Iterable[Sequence[Trajectory]],
    unseen: Sequence[TaskContest],
) -> None:
    try:
        memory: BuiltMemory = condition.build(inputs)
    except NotApplicable as reason:
        row.not_applicable = str(reason)
        return
    row.unit = memory.unit
    row.sizes.append((memory.items, memory.tokens))
    row.constructions.append(memory.construction)
    for task in held_out:
        row.start_tokens.append(_start_tokens(memory.provider, task[0]))
        row.run_tokens.extend(_run_tokens(memory.provider, run) for run in task)
    if memory.judge is not None:
        _add(row.orders, unseen, memory.judge)
    for name, judge in memory.parts.items():
        _add(row.parts.setdefault(name, {}), unseen, judge)


def _add(orders: dict[str, OrderedPairs], unseen: Iterable[TaskContest], judge: Judge) -> None:
    for contest in unseen:
        _add_orders(orders, {contest.key: order_pairs(contest, judge(contest))})


def _controls(reference: Reference) -> Mapping[str, Judge]:
    judges = (run_length, distinct_functions, habit_judge(Habits()), source_pass_rate(reference.runs))
    return dict(zip(CONTROLS, judges, strict=True))


def _start_tokens(provider: MemoryProvider, run: Trajectory) -> int:
    return _begin(provider, run).guidance.tokens


def _run_tokens(provider: MemoryProvider, run: Trajectory) -> int:
    memory_run = _begin(provider, run)
    cards = (memory_run.before_call(event.function, event.arguments) for event in run.calls)
    return memory_run.guidance.tokens + sum(guidance.tokens for guidance in cards if guidance)


def _begin(provider: MemoryProvider, run: Trajectory) -> MemoryRun:
    apps = frozenset(run.apps) if run.apps else None
    return provider.begin(Query(run.task, run.ability, apps, task_id=run.task_id, scenario_id=run.scenario_id))
