"""Measures every condition on recorded runs: built on one half of the tasks, measured on the other.

No model is needed and nothing is run. Measured are how often a memory orders a passing and a failing run of an unseen
task correctly, how many tokens a task gets, and what the memory cost to build.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Any, NamedTuple

from contramem.counting import ENCODING
from contramem.engine import SERIAL, Engine
from contramem.errors import UsageError
from contramem.evaluate.report import (
    Bar,
    Estimate,
    IntervalRow,
    Manifest,
    Page,
    ReportTable,
    Section,
    bar_chart,
    between,
    difference_cell,
    interval_chart,
    number,
    unknown,
)
from contramem.evaluate.report.table import Row
from contramem.evaluate.stats import Interval, ends
from contramem.inject.provider import MemoryProvider, MemoryRun
from contramem.progress import Progress, no_progress
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Trajectory
from contramem_lab.condition import (
    BuiltMemory,
    ByModel,
    Condition,
    ConditionInputs,
    ConstructionCost,
    NotApplicable,
    Reference,
    median_source,
)
from contramem_lab.foresight import (
    CONTROL,
    MIN_PAIRS,
    ForesightDifference,
    Habits,
    Judge,
    OrderedPairs,
    TaskContest,
    compare_orders,
    contests,
    distinct_functions,
    habit_judge,
    order_pairs,
    run_length,
    share,
    share_interval,
    source_pass_rate,
)
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
        row.start_tokens.append(_begin(memory.provider, task[0]).guidance.tokens)
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


def _run_tokens(provider: MemoryProvider, run: Trajectory) -> int:
    memory_run = _begin(provider, run)
    cards = (memory_run.before_call(event.function, event.arguments) for event in run.calls)
    return memory_run.guidance.tokens + sum(guidance.tokens for guidance in cards if guidance)


def _begin(provider: MemoryProvider, run: Trajectory) -> MemoryRun:
    apps = frozenset(run.apps) if run.apps else None
    return provider.begin(Query(run.task, run.ability, apps, task_id=run.task_id, scenario_id=run.scenario_id))


OURS = "contramem"


@dataclass(frozen=True)
class RowForesight:
    """How well one condition or control orders runs."""

    name: str
    score: float | None
    interval: Interval | None
    difference: ForesightDifference | None
    part: str | None = None
    """Set if the row is this part of the memory in the row above."""

    def as_json(self) -> dict[str, Any]:
        against = self.difference
        return {
            "score": self.score,
            "interval": ends(self.interval),
            "difference": against.as_json() if against else None,
            "part": self.part,
        }


def compare_foresight(measured: Measurements) -> list[RowForesight]:
    """A row for each condition: contramem compared with the best other memory, all others with contramem."""
    rng = Random(measured.seed)
    orders = dict(_orders(measured))
    parts = {f"{row.name}: {part}": part for row in measured.rows for part in row.parts}
    others = {row.name: row.orders for row in measured.rows if row.orders and row.orders != orders.get(OURS)}
    best = max(others, key=lambda name: (share(list(others[name].values())) or 0.0, name), default=None)
    rows = []
    for name, by_task in orders.items():
        to = best if name == OURS else OURS
        of_tasks = list(by_task.values())
        against = None
        if by_task and to and orders.get(to) and to != name:
            shared = [key for key in by_task if key in orders[to]]
            mine, theirs = [by_task[key] for key in shared], [orders[to][key] for key in shared]
            against = compare_orders(mine, theirs, to, rng) if shared else None
        rows.append(RowForesight(name, share(of_tasks), share_interval(of_tasks, rng), against, parts.get(name)))
    return rows


def _orders(measured: Measurements) -> Iterator[tuple[str, Mapping[str, OrderedPairs]]]:
    for row in measured.rows:
        yield row.name, row.orders
        for part, orders in row.parts.items():
            yield f"{row.name}: {part}", orders
    for row in measured.controls:
        yield row.name, row.orders


def write_tables(measured: Measurements) -> list[ReportTable]:
    """All tables, in the order of the page."""
    return [foresight_table(measured), runtime_table(measured), construction_table(measured)]


def foresight_table(measured: Measurements) -> ReportTable:
    rows: list[Row] = []
    reasons = []
    rows_by_name = {row.name: row for row in measured.rows}
    compared = compare_foresight(measured)
    for foresight in compared:
        row = rows_by_name.get(foresight.name)
        if row is not None and row.not_applicable:
            reasons.append(f"{row.name} is n/a: {row.not_applicable}.")
        against = foresight.difference
        rows.append(
            [
                foresight.name if foresight.part is None else f"· {foresight.part}",
                number(foresight.score, 3),
                between(ends(foresight.interval), scale=1, digits=3, sign=False),
                difference_cell(against.value, 3) if against else unknown(),
                between(ends(against.interval), scale=1, digits=3) if against else unknown(),
            ]
        )
    first_control = len(rows) - len(measured.controls)
    return ReportTable(
        "Foresight: pairs of a passing and a failing run of an unseen task that are ordered correctly",
        ("Condition", "Correct", "95 %", "Difference", "95 % of difference"),
        rows,
        notes=(
            f"{measured.tasks} unseen tasks, {measured.pairs:,} pairs{_few(measured)}; {splits(measured)}. "
            "0.5 is chance.",
            f"Difference: {_name_comparison(compared)}, over the same pairs; intervals resample tasks.",
            f"Made by {measured.by}. The target of self and multi-rollout is {measured.target}. "
            "none and function-only cannot order runs.",
            f"Below the line: orderings without a memory. {EXPECTED}: the guards with their weights before any run was "
            f"seen. {CONTROL}: knows only which source ran.",
            *reasons,
        ),
        strong=frozenset(number for number, foresight in enumerate(compared) if foresight.name == OURS),
        sections=frozenset({first_control}),
        label="foresight",
    )


def _name_comparison(compared: Sequence[RowForesight]) -> str:
    best = next(
        (foresight.difference.to for foresight in compared if foresight.name == OURS and foresight.difference), None
    )
    return f"to {OURS}; in the row of {OURS}, to {best}, the best other memory" if best else f"to {OURS}"


def runtime_table(measured: Measurements) -> ReportTable:
    """The paper's Table (a), as far as recorded runs allow."""
    rows: list[Row] = [
        [
            row.name,
            number(row.median_tokens),
            number(row.mean_tokens),
            number(row.mean_run_tokens),
            number(average([items for items, _ in row.sizes]), 1),
            row.unit,
            number(average([tokens for _, tokens in row.sizes])),
        ]
        for row in measured.rows
    ]
    return ReportTable(
        "Memory tokens: what a held-out task gets, and the size of the whole memory",
        ("Condition", "Median", "Mean", "With calls", "Items", "", "Whole memory"),
        rows,
        align="lrrrrlr",
        notes=(
            f"Counted with {ENCODING}, at task start. With calls: the mean of all that recorded runs of these tasks "
            "would have been shown.",
            "Success, target tokens and events with a memory require new runs: see the closed loop.",
        ),
        strong=frozenset(number for number, row in enumerate(measured.rows) if row.name == OURS),
        label="runtime",
    )


def construction_table(measured: Measurements) -> ReportTable:
    """The paper's Table (b)."""
    rows: list[Row] = []
    for row in measured.rows:
        spent = average_cost(row.constructions)
        if spent is None:
            rows.append([row.name, *[unknown()] * 6])
            continue
        tokens = spent.tokens_in + spent.tokens_out
        counts = map(number, (spent.trajectories, spent.calls, tokens))
        rows.append([row.name, spent.by, *counts, number(spent.cost_usd, 2), number(spent.seconds, 1)])
    return ReportTable(
        "Construction: what it took to make each memory",
        ("Condition", "Made by", "Runs read", "Calls", "Tokens", "Cost (USD)", "Seconds"),
        rows,
        align="llrrrrr",
        notes=(f"{splits(measured).capitalize()}. Rules call no model.",),
        strong=frozenset(number for number, row in enumerate(measured.rows) if row.name == OURS),
        label="construction",
    )


def average_cost(splits: Sequence[ConstructionCost]) -> ConstructionCost | None:
    """The mean cost over splits; None without any."""
    if not splits:
        return None
    costs = [cost.cost_usd for cost in splits if cost.cost_usd is not None]
    return ConstructionCost(
        by=splits[0].by,
        trajectories=round(mean(cost.trajectories for cost in splits)),
        calls=round(mean(cost.calls for cost in splits)),
        tokens_in=round(mean(cost.tokens_in for cost in splits)),
        tokens_out=round(mean(cost.tokens_out for cost in splits)),
        cost_usd=mean(costs) if len(costs) == len(splits) else None,
        seconds=mean(cost.seconds for cost in splits),
    )


def average(values: Sequence[int]) -> float | None:
    """The mean; None without values."""
    return mean(values) if values else None


def _few(measured: Measurements) -> str:
    if measured.pairs >= MIN_PAIRS:
        return ""
    return f" (fewer than {MIN_PAIRS}: they describe these runs and prove nothing)"


def splits(measured: Measurements) -> str:
    """The number and size of the splits, in words."""
    first, last = measured.seed, measured.seed + measured.splits - 1
    split = f"split {first}" if first == last else f"splits {first} to {last}"
    return f"{split}, {measured.reference_tasks:g} reference and {measured.held_out_tasks:g} held-out tasks each"


def page(measured: Measurements, manifest: Manifest) -> Page:
    """The report."""
    compared = compare_foresight(measured)
    ours = next((row for row in compared if row.name == OURS), None)
    rows = [
        IntervalRow(row.name, [Estimate(row.score, *(ends(row.interval) or (None, None)))])
        for row in compared
        if row.score is not None
    ]
    bars = [
        Bar(row.name, row.mean_tokens, kind="memory" if row.name == OURS else "base") for row in measured.rows
    ]  # fmt: skip
    foresight, runtime, construction = write_tables(measured)
    return Page(
        title="Conditions on recorded runs",
        verdict=_verdict(ours),
        subtitle=f"{len(measured.rows)} ways to remember the same runs; {splits(measured)}.",
        sections=[
            Section(
                "Which memory tells passing runs from failing ones?",
                figures=[
                    interval_chart(
                        "Pairs ordered correctly",
                        rows,
                        kinds=("memory",),
                        measure="share of pairs ordered correctly",
                        span=(0.4, 1.0),
                        reference=0.5,
                        digits=3,
                    )
                ],
                tables=[foresight],
            ),
            Section(
                "What does a task get?",
                figures=[bar_chart("Memory tokens at task start", bars, measure="tokens, mean over held-out tasks")],
                tables=[runtime],
            ),
            Section("What did it take to build?", tables=[construction]),
        ],
        manifest=manifest,
        not_known=[f"{row.name}: {row.not_applicable}." for row in measured.rows if row.not_applicable],
    )


def _verdict(ours: RowForesight | None) -> str:
    if ours is None or ours.score is None or ours.difference is None:
        return "contramem was not compared."
    against = ours.difference
    sentence = f"contramem orders {ours.score:.3f} of the pairs correctly, {against.value:+.3f} against {against.to}"
    if against.interval is None or against.interval.low <= 0 <= against.interval.high:
        return f"{sentence}: these tasks do not show which is better."
    return f"{sentence}, the {'best' if against.value > 0 else 'better'} other memory."


def as_json(measured: Measurements) -> dict[str, Any]:
    """Every figure."""
    rows = {}
    for row in measured.rows:
        spent = average_cost(row.constructions)
        rows[row.name] = {
            "about": row.about,
            "not_applicable": row.not_applicable or None,
            "memory_tokens": {
                "median": row.median_tokens,
                "mean": row.mean_tokens,
                "mean_with_calls": row.mean_run_tokens,
                "whole": average([tokens for _, tokens in row.sizes]),
                "items": average([items for items, _ in row.sizes]),
                "unit": row.unit,
            },
            "construction": asdict(spent) if spent else None,
        }
    return {
        "tasks": measured.tasks,
        "pairs": measured.pairs,
        "descriptive_only": measured.pairs < MIN_PAIRS,
        "target": measured.target,
        "seed": measured.seed,
        "splits": measured.splits,
        "by": measured.by,
        "encoding": ENCODING,
        "conditions": rows,
        "foresight": {row.name: row.as_json() for row in compare_foresight(measured)},
    }
