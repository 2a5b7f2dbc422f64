"""The estimated and the actual cost of a build with a model, as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from contramem.bank.tables import StoredExchange
from contramem.build.model.estimate import Range, StageEstimate
from contramem.counting import ENCODING
from contramem.errors import UsageError
from contramem.llm.client import PAPER_STAGES, STAGES
from contramem.llm.exchange import Exchange
from contramem.pipeline import ModelBuild

PAPER = (
    ("AWM (paper)", 1, 142_000, 0.92),
    ("ACE (paper)", 246, 15_720_000, 94.57),
    ("contramem (paper): skills", None, 1_440_000, None),
    ("contramem (paper): skills and all functions", None, 1_940_000, None),
)
"""Construction cost for the Search ability of GAIA2: 120 trajectories, GPT-5.5 with high effort (A.7). None if the
paper doesn't say."""


@dataclass(frozen=True)
class ModelBuildCost:
    """A build with a model, and what it cost."""

    build: ModelBuild
    exchange: Exchange
    troubles: dict[str, int]
    open: int = 0
    """Requests that are waiting for a reply by file."""
    unused: int = 0
    """Replies in the file that match no request."""


# Estimated cost


def estimate_json(estimates: list[StageEstimate]) -> dict[str, Any]:
    """`stages` is still to be paid for; `in_batches` was already submitted and is not asked for again."""
    return {
        "dry_run": True,
        "stages": [_stage_json(estimate) for estimate in estimates if estimate.part != "held"],
        "in_batches": [_stage_json(estimate) for estimate in estimates if estimate.part == "held"],
    }


def _stage_json(estimate: StageEstimate) -> dict[str, Any]:
    return {
        "stage": estimate.stage,
        "part": estimate.part,
        "calls": [int(bound) for bound in estimate.calls],
        "tokens_in": [int(bound) for bound in estimate.tokens_in],
        "tokens_out": [int(bound) for bound in estimate.tokens_out],
        "cost_usd": [round(bound, 6) for bound in estimate.cost_usd] if estimate.cost_usd else None,
    }


PARTS = {"ready": "known now", "held": "in a batch already", "later": "later"}


def show_estimate(estimates: list[StageEstimate], model: str, in_batches: bool) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("stage", "calls", "tokens in", "tokens out", "price"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    for estimate in estimates:
        table.add_row(
            f"{estimate.stage} ({PARTS[estimate.part]})",
            *_cells(estimate),
            style="dim" if estimate.part == "held" else None,
        )
    if ahead := [estimate for estimate in estimates if estimate.part != "held"]:
        table.add_row("all that is still to be asked", *_cells(_sum(ahead)), style="bold")
    console = Console()
    prices = ", at batch prices" if in_batches else ""
    console.print(table if estimates else "Nothing to ask: every reply is there already.")
    console.print(
        f"[dim]{model}{prices}; tokens as counted with {ENCODING}. Asking again after an unusable reply, and "
        "reasoning that is billed as output, come on top. Nothing was called, nothing changed.[/]"
    )


class _Cells(NamedTuple):
    """The cells of a row of the estimate."""

    calls: Range
    tokens_in: Range
    tokens_out: Range
    cost_usd: Range | None


def _sum(estimates: list[StageEstimate]) -> _Cells:
    costs = [estimate.cost_usd for estimate in estimates if estimate.cost_usd]
    return _Cells(
        sum((estimate.calls for estimate in estimates), Range(0, 0)),
        sum((estimate.tokens_in for estimate in estimates), Range(0, 0)),
        sum((estimate.tokens_out for estimate in estimates), Range(0, 0)),
        sum(costs, Range(0, 0)) if costs else None,
    )


def _cells(estimate: StageEstimate | _Cells) -> tuple[str, ...]:
    cost = _dollars(estimate.cost_usd) if estimate.cost_usd else "?"
    return _range(estimate.calls), _range(estimate.tokens_in), _range(estimate.tokens_out), cost


def _range(bounds: Range) -> str:
    return f"{bounds.least:,.0f}" if bounds.exact else f"{bounds.least:,.0f} to {bounds.most:,.0f}"


def _dollars(bounds: Range) -> str:
    return f"${bounds.least:,.2f} to ${bounds.most:,.2f}"


# Actual cost


def account_json(account: ModelBuildCost) -> dict[str, Any]:
    stages = {
        name: vars(cost)
        for name, cost in account.exchange.stages.items()
        if name in PAPER_STAGES or cost.calls or cost.cached
    }
    return {
        "finished": account.build.finished,
        "stopped": str(account.build.stopped) if account.build.stopped else None,
        "stages": stages,
        "spent_usd": round(account.exchange.spent_usd, 6),
        "tried_again": dict(sorted(account.troubles.items())),
        "unusable_replies": dict(sorted(account.exchange.oddities.items())),
        "open_requests": account.open,
        "unused_replies": account.unused,
    }


def show_account(account: ModelBuildCost, exported_to: Path | None) -> None:
    console = Console()
    table = _cost_table()
    for name, cost in account.exchange.stages.items():
        if not (cost.calls or cost.cached):
            continue
        price = f"${cost.cost_usd:,.2f}{' + ?' if cost.unpriced else ''}"
        table.add_row(name, f"{cost.calls:,}", f"{cost.cached:,}", f"{cost.tokens_in:,}", f"{cost.tokens_out:,}", price)
    _add_paper(table)
    console.print(table)
    for counts, what in ((account.troubles, "tried again after"), (account.exchange.oddities, "unusable replies:")):
        if counts:
            console.print(f"[yellow]{what}[/] " + ", ".join(f"{name} {n}" for name, n in sorted(counts.items())))
    if account.unused:
        console.print(f"[yellow]{account.unused:,} replies[/] in the file answer nothing that is asked.")
    if account.open:
        where = f" in {exported_to}" if exported_to else "; write them with --export-requests FILE"
        console.print(f"{account.open:,} requests wait for a reply{where}. --import-replies FILE takes the replies.")
    if not account.exchange.keep:
        console.print("[yellow]Prompts and replies were not kept[/]: what is not decided yet will be paid for again.")


def _cost_table() -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("stage", "calls", "from the store", "tokens in", "tokens out", "price"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    return table


def _add_paper(table: Table) -> None:
    for name, calls, tokens, cost in PAPER:
        count = f"{calls:,}" if calls else "?"
        table.add_row(name, count, "", f"{tokens:,} in all", "", f"${cost:,.2f}" if cost else "?", style="dim")


def cost_json(calls: Iterable[StoredExchange]) -> dict[str, Any]:
    """The cost of a store's calls by stage, with the paper's figures."""
    all_calls = list(calls)
    stages = {}
    for stage in STAGES:
        of_stage = [call for call in all_calls if call.stage == stage]
        if not of_stage and stage not in PAPER_STAGES:
            continue
        priced = [call.cost_usd for call in of_stage if call.cost_usd is not None]
        stages[stage] = {
            "calls": len(of_stage),
            "tokens_in": sum(call.tokens_in for call in of_stage),
            "tokens_out": sum(call.tokens_out for call in of_stage),
            "cost_usd": round(sum(priced), 6),
            "unpriced": len(of_stage) - len(priced),
        }
    paper = [{"what": what, "calls": n, "tokens": tokens, "cost_usd": cost} for what, n, tokens, cost in PAPER]
    return {"models": sorted({call.model for call in all_calls}), "stages": stages, "paper": paper}


def cost_table(calls: Iterable[StoredExchange]) -> Table:
    """The same as a table."""
    costs = cost_json(calls)
    table = _cost_table()
    for stage, cost in costs["stages"].items():
        price = f"${cost['cost_usd']:,.2f}{' + ?' if cost['unpriced'] else ''}"
        table.add_row(stage, f"{cost['calls']:,}", "", f"{cost['tokens_in']:,}", f"{cost['tokens_out']:,}", price)
    _add_paper(table)
    return table


def exchange_json(calls: Iterable[StoredExchange], call_id: str) -> dict[str, Any]:
    """One call in full. `call_id` may be the beginning of its digest, as shown in the ledger."""
    matches = [call for call in calls if call.digest.startswith(call_id)]
    if not matches:
        raise UsageError(f"there is no call {call_id!r} in this store.")
    call = matches[-1]
    return {**call._asdict(), "request": json.loads(call.request) if call.request else None}


def exchange_text(calls: Iterable[StoredExchange], call_id: str) -> str:
    """The same as text."""
    call = exchange_json(calls, call_id)
    parts = [f"[{role}]\n{text}" for role, text in call["request"] or [("prompt", "not kept")]]
    parts.append(f"[reply, {call['finish']}]\n{call['reply'] if call['reply'] is not None else 'not kept'}")
    return "\n\n".join([f"{call['stage']} about {call['subject']}, {call['model']}, {call['recorded_at']}", *parts])
