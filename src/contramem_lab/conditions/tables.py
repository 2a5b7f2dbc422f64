"""The measurements of conditions as tables. Runtime and construction are tables (a) and (b) of the paper's A.7."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from contramem.counting import ENCODING
from contramem.evaluate.report import ReportTable, between, difference_cell, number, unknown
from contramem.evaluate.report.table import Row
from contramem_lab.baselines import CONTROL
from contramem_lab.conditions.condition import ConstructionCost
from contramem_lab.conditions.foreseen import OURS, RowForesight, compare_foresight
from contramem_lab.conditions.measure import EXPECTED, Measurements
from contramem_lab.contest import MIN_PAIRS


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
                between(foresight.interval, scale=1, digits=3, sign=False),
                difference_cell(against.value, 3) if against else unknown(),
                between(against.interval, scale=1, digits=3) if against else unknown(),
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
