"""What was measured, as tables, a page and JSON. Runtime and construction are the paper's tables (a) and (b) of A.7."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random
from statistics import mean
from typing import Any

from contramem.counting import ENCODING
from contramem.evaluate.baselines import CONTROL
from contramem.evaluate.conditions.condition import Construction
from contramem.evaluate.conditions.measure import EXPECTED, Table
from contramem.evaluate.contest import MIN_PAIRS, Ordered, difference, difference_interval, share, share_interval
from contramem.evaluate.report import (
    Bar,
    Estimate,
    IntervalRow,
    Manifest,
    Page,
    Section,
    bar_chart,
    between,
    interval_chart,
    number,
    signed,
    unknown,
)
from contramem.evaluate.report import Table as Written
from contramem.evaluate.report.table import Row
from contramem.evaluate.stats import Interval

OURS = "contramem"


@dataclass(frozen=True)
class Difference:
    """A row minus another over the same pairs."""

    to: str
    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Foreseen:
    """How well one row ordered runs."""

    name: str
    score: float | None
    interval: tuple[float, float] | None
    difference: Difference | None
    part: str | None = None
    """It is no memory of its own, but this part of the row above."""


def foreseen(table: Table) -> list[Foreseen]:
    """Every row: contramem against the best other memory, all others against contramem, over the same tasks."""
    rng = Random(table.seed)
    orders, parts = dict(_orders(table)), {f"{row.name}: {part}": part for row in table.rows for part in row.parts}
    others = {row.name: row.orders for row in table.rows if row.orders and row.orders != orders.get(OURS)}
    best = max(others, key=lambda name: (share(list(others[name].values())) or 0.0, name), default=None)
    found = []
    for name, by_task in orders.items():
        to = best if name == OURS else OURS
        against = None
        if by_task and to and orders.get(to) and to != name:
            against = _difference(by_task, orders[to], to, rng)
        of_tasks = list(by_task.values())
        found.append(Foreseen(name, share(of_tasks), _pair(share_interval(of_tasks, rng)), against, parts.get(name)))
    return found


def _orders(table: Table) -> Iterator[tuple[str, Mapping[str, Ordered]]]:
    for row in table.rows:
        yield row.name, row.orders
        for part, orders in row.parts.items():
            yield f"{row.name}: {part}", orders
    for row in table.controls:
        yield row.name, row.orders


def _difference(mine: Mapping[str, Ordered], theirs: Mapping[str, Ordered], to: str, rng: Random) -> Difference | None:
    pairs = [(mine[key], theirs[key]) for key in mine if key in theirs]
    ours, others = [one for one, _ in pairs], [other for _, other in pairs]
    value = difference(ours, others)
    return None if value is None else Difference(to, value, _pair(difference_interval(ours, others, rng)))


def _pair(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)


# Tables


def written(table: Table) -> list[Written]:
    """All of them, in the order a reader wants them."""
    return [foresight_table(table), runtime_table(table), construction_table(table)]


def foresight_table(table: Table) -> Written:
    rows: list[Row] = []
    reasons = []
    known = {row.name: row for row in table.rows}
    found = foreseen(table)
    for one in found:
        row = known.get(one.name)
        if row is not None and row.not_applicable:
            reasons.append(f"{row.name} is n/a: {row.not_applicable}.")
        against = one.difference
        rows.append(
            [
                one.name if one.part is None else f"· {one.part}",
                number(one.score, 3),
                between(one.interval, scale=1, digits=3, sign=False),
                signed(against.value, 3) if against else unknown(),
                between(against.interval, scale=1, digits=3) if against else unknown(),
            ]
        )
    first_control = len(rows) - len(table.controls)
    return Written(
        "Foresight: pairs of a passing and a failing run of an unseen task that are ordered rightly",
        ("Condition", "Rightly", "95 %", "Difference", "95 % of it"),
        rows,
        notes=(
            f"{table.tasks} unseen tasks, {table.pairs:,} pairs{_few(table)}; {_splits(table)}. 0.5 is chance.",
            f"Difference: {_compared(found)}, over the same pairs; intervals resample tasks.",
            f"Made by {table.by}. The target of self and multi-rollout is {table.target}. none and function-only order "
            "nothing.",
            f"Below the line: orders without a memory. {EXPECTED}: the guards as weighed before any run was seen. "
            f"{CONTROL}: sees only who ran.",
            *reasons,
        ),
        strong=frozenset(number for number, one in enumerate(found) if one.name == OURS),
        sections=frozenset({first_control}),
        label="foresight",
    )


def _compared(found: Sequence[Foreseen]) -> str:
    best = next((one.difference.to for one in found if one.name == OURS and one.difference), None)
    return f"to {OURS}; that of {OURS} to {best}, the best other memory" if best else f"to {OURS}"


def runtime_table(table: Table) -> Written:
    """The paper's Table (a), as far as recorded runs tell."""
    rows: list[Row] = [
        [
            row.name,
            number(row.median_tokens),
            number(row.mean_tokens),
            number(row.mean_run_tokens),
            number(_average([items for items, _ in row.sizes]), 1),
            row.unit,
            number(_average([tokens for _, tokens in row.sizes])),
        ]
        for row in table.rows
    ]
    return Written(
        "Memory tokens: what a held-out task gets, and the size of the whole memory",
        ("Condition", "Median", "Mean", "With calls", "Items", "", "Whole memory"),
        rows,
        align="lrrrrlr",
        notes=(
            f"Counted with {ENCODING}, at task start. With calls: what recorded runs of these tasks would have been "
            "shown in all, mean.",
            "Success, target tokens and events with a memory take new runs: see the closed loop.",
        ),
        strong=frozenset(number for number, row in enumerate(table.rows) if row.name == OURS),
        label="runtime",
    )


def construction_table(table: Table) -> Written:
    """The paper's Table (b)."""
    rows: list[Row] = []
    for row in table.rows:
        spent = averaged(row.constructions)
        if spent is None:
            rows.append([row.name, *[unknown()] * 6])
            continue
        rows.append(
            [
                row.name,
                spent.by,
                number(spent.trajectories),
                number(spent.calls),
                number(spent.tokens_in + spent.tokens_out),
                number(spent.cost_usd, 2),
                number(spent.seconds, 1),
            ]
        )
    return Written(
        "Construction: what making each memory took",
        ("Condition", "Made by", "Runs read", "Calls", "Tokens", "Cost (USD)", "Seconds"),
        rows,
        align="llrrrrr",
        notes=(f"{_splits(table).capitalize()}. Rules call no model.",),
        strong=frozenset(number for number, row in enumerate(table.rows) if row.name == OURS),
        label="construction",
    )


def averaged(found: Sequence[Construction]) -> Construction | None:
    """The mean over splits."""
    if not found:
        return None
    costs = [one.cost_usd for one in found if one.cost_usd is not None]
    return Construction(
        by=found[0].by,
        trajectories=round(mean(one.trajectories for one in found)),
        calls=round(mean(one.calls for one in found)),
        tokens_in=round(mean(one.tokens_in for one in found)),
        tokens_out=round(mean(one.tokens_out for one in found)),
        cost_usd=mean(costs) if len(costs) == len(found) else None,
        seconds=mean(one.seconds for one in found),
    )


def _average(values: Sequence[int]) -> float | None:
    return mean(values) if values else None


def _few(table: Table) -> str:
    return f" (fewer than {MIN_PAIRS}: they describe these runs and prove nothing)" if table.pairs < MIN_PAIRS else ""


def _splits(table: Table) -> str:
    split = f"split {table.seed}" if table.splits == 1 else f"splits {table.seed} to {table.seed + table.splits - 1}"
    return f"{split}, {table.reference_tasks:g} reference and {table.held_out_tasks:g} held-out tasks each"


# The page


def page(table: Table, manifest: Manifest) -> Page:
    """The report."""
    found = foreseen(table)
    ours = next((one for one in found if one.name == OURS), None)
    rows = [
        IntervalRow(one.name, [Estimate(one.score, *(one.interval or (None, None)))])
        for one in found
        if one.score is not None
    ]
    bars = [
        Bar(row.name, row.mean_tokens, kind="memory" if row.name == OURS else "base") for row in table.rows
    ]  # fmt: skip
    foresight, runtime, construction = written(table)
    return Page(
        title="Conditions on recorded runs",
        verdict=_verdict(ours),
        subtitle=f"{len(table.rows)} ways to remember the same runs; {_splits(table)}.",
        sections=[
            Section(
                "Which memory tells passing runs from failing ones?",
                figures=[
                    interval_chart(
                        "Pairs ordered rightly",
                        rows,
                        kinds=("memory",),
                        measure="share of pairs ordered rightly",
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
        not_known=[f"{row.name}: {row.not_applicable}." for row in table.rows if row.not_applicable],
    )


def _verdict(ours: Foreseen | None) -> str:
    if ours is None or ours.score is None or ours.difference is None:
        return "contramem was not compared."
    against = ours.difference
    told = f"contramem orders {ours.score:.3f} of the pairs rightly, {against.value:+.3f} against {against.to}"
    if against.interval is None or against.interval[0] <= 0 <= against.interval[1]:
        return f"{told}: these tasks do not tell which is better."
    return f"{told}, the {'best' if against.value > 0 else 'better'} other memory."


def as_json(table: Table) -> dict[str, Any]:
    """Every figure."""
    rows = {}
    for row in table.rows:
        spent = averaged(row.constructions)
        rows[row.name] = {
            "about": row.about,
            "not_applicable": row.not_applicable or None,
            "memory_tokens": {
                "median": row.median_tokens,
                "mean": row.mean_tokens,
                "mean_with_calls": row.mean_run_tokens,
                "whole": _average([tokens for _, tokens in row.sizes]),
                "items": _average([items for items, _ in row.sizes]),
                "unit": row.unit,
            },
            "construction": asdict(spent) if spent else None,
        }
    return {
        "tasks": table.tasks,
        "pairs": table.pairs,
        "descriptive_only": table.pairs < MIN_PAIRS,
        "target": table.target,
        "seed": table.seed,
        "splits": table.splits,
        "by": table.by,
        "encoding": ENCODING,
        "conditions": rows,
        "foresight": {one.name: {k: v for k, v in asdict(one).items() if k != "name"} for one in foreseen(table)},
    }
