"""What was measured, as tables. Runtime and construction are the paper's tables (a) and (b) of A.7."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from contramem.counting import ENCODING
from contramem.evaluate.baselines import CONTROL
from contramem.evaluate.conditions.condition import Construction
from contramem.evaluate.conditions.foreseen import OURS, Foreseen, foreseen
from contramem.evaluate.conditions.measure import EXPECTED, Table
from contramem.evaluate.contest import MIN_PAIRS
from contramem.evaluate.report import Table as Written
from contramem.evaluate.report import between, number, signed, unknown
from contramem.evaluate.report.table import Row


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
            f"{table.tasks} unseen tasks, {table.pairs:,} pairs{_few(table)}; {splits(table)}. 0.5 is chance.",
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
            number(average([items for items, _ in row.sizes]), 1),
            row.unit,
            number(average([tokens for _, tokens in row.sizes])),
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
        notes=(f"{splits(table).capitalize()}. Rules call no model.",),
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


def average(values: Sequence[int]) -> float | None:
    """None without any."""
    return mean(values) if values else None


def _few(table: Table) -> str:
    return f" (fewer than {MIN_PAIRS}: they describe these runs and prove nothing)" if table.pairs < MIN_PAIRS else ""


def splits(table: Table) -> str:
    """Which splits it was, and how large, in words."""
    split = f"split {table.seed}" if table.splits == 1 else f"splits {table.seed} to {table.seed + table.splits - 1}"
    return f"{split}, {table.reference_tasks:g} reference and {table.held_out_tasks:g} held-out tasks each"
