"""`contramem build --model`: its options, what it will cost, the live line of what it costs, the account at the end."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from contramem.bank.calls import Call
from contramem.bank.locate import is_url
from contramem.bank.store import Store, open_store
from contramem.build.answering import AskNow, FromFile
from contramem.build.construction import Checks
from contramem.build.estimate import Range, StageEstimate, estimate
from contramem.build.focus import SUITES, load_focus
from contramem.build.model import ModelChoice
from contramem.build.rounds import DEFAULT_WINDOW, Plan
from contramem.build.suites import Prompts
from contramem.errors import UsageError
from contramem.inject.budget import ENCODING
from contramem.llm.calls import PARALLEL, Budget, Caller
from contramem.llm.exchange import Exchange
from contramem.llm.files import read_replies, write_requests
from contramem.llm.price import Price, price_of, read_price
from contramem.llm.recorded import RecordedModel
from contramem.llm.request import EFFORTS, STAGES, Model, Settings, reply_tokens
from contramem.pipeline import ModelBuild, build_by_model

Command = TypeVar("Command", bound=Callable[..., Any])

PAPER = (
    ("AWM (paper)", 1, 142_000, 0.92),
    ("ACE (paper)", 246, 15_720_000, 94.57),
    ("contramem (paper): skills", None, 1_440_000, None),
    ("contramem (paper): skills and all functions", None, 1_940_000, None),
)
"""Construction for the Search ability of GAIA2: 120 trajectories, GPT-5.5 with high effort (A.7). None: not given."""

_FILE = click.Path(path_type=Path, dir_okay=False)
_OPTIONS = (
    click.option("--model", metavar="M", help="Author by a model: openai:gpt-5.5, anthropic:..., recorded:FILE."),
    click.option("--base-url", metavar="URL", help="Any OpenAI-compatible server."),
    click.option("--suite", type=click.Choice(list(SUITES)), help="Prompts for app tools (default) or code agents."),
    click.option("--focus", type=_FILE, metavar="FILE", help="TOML with focus blocks of your own."),
    click.option("--prompts", type=click.Path(path_type=Path), metavar="DIR", help="Templates in place of ours."),
    click.option("--reasoning-effort", type=click.Choice(EFFORTS), help="Where the model has it."),
    click.option("--temperature", type=float, metavar="T", help="Where the model takes one."),
    click.option("--seed", type=int, metavar="N", help="Where the provider has one."),
    click.option("--max-reply-tokens", type=click.IntRange(256), metavar="N", help="Of one reply, reasoning included."),
    click.option("--window", type=click.IntRange(1), metavar="N", help="Tasks reflected on against the same bank."),
    click.option("--parallel", type=click.IntRange(1), metavar="N", help="Calls at a time, at most."),
    click.option("--price", metavar="IN,OUT", help="Dollars per million tokens, where the list has none."),
    click.option("--dry-run", is_flag=True, help="Say what it will cost; call nobody, change nothing."),
    click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Spend no more than this, now."),
    click.option("--no-keep-replies", is_flag=True, help="Keep no prompts and replies; going on then pays again."),
    click.option("--export-requests", type=_FILE, metavar="FILE", help="Write what is ready to be asked; no key."),
    click.option("--import-replies", type=_FILE, metavar="FILE", help="Take replies, and go on as far as they reach."),
)
_NAMES = (
    "model base_url suite focus prompts reasoning_effort temperature seed max_reply_tokens window parallel price"
    " dry_run budget no_keep_replies export_requests import_replies"
).split()


@dataclass(frozen=True)
class ModelOptions:
    """What --model and its companions say."""

    model: str
    base_url: str | None
    choice: ModelChoice
    window: int
    parallel: int
    price: Price | None
    """The user's, or else the list's."""
    given_price: Price | None
    dry_run: bool
    budget: float | None
    keep: bool
    export: Path | None
    replies: Path | None

    @property
    def by_file(self) -> bool:
        return self.export is not None or self.replies is not None


def model_options(command: Command) -> Command:
    """Add the options of model authors; the command gets `by_model`, None without --model."""
    return _with_options(command, _NAMES)


def few_model_options(command: Command) -> Command:
    """Add those that say who is asked, how, and for how much."""
    return _with_options(command, "model base_url reasoning_effort temperature parallel price budget".split())


def _with_options(command: Command, names: Sequence[str]) -> Command:
    absent = dict.fromkeys(_NAMES)

    @functools.wraps(command)
    def with_options(**given: Any) -> Any:
        return command(by_model=_options(absent | {name: given.pop(name) for name in names}), **given)

    decorated: Any = with_options
    for name, option in reversed(list(zip(_NAMES, _OPTIONS, strict=True))):
        if name in names:
            decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _options(given: dict[str, Any]) -> ModelOptions | None:
    if given["model"] is None:
        if alone := [name for name, value in given.items() if value]:
            raise UsageError(f"--{alone[0].replace('_', '-')} goes with --model.")
        return None
    effort = given["reasoning_effort"]
    settings = Settings(effort, given["temperature"], given["seed"], given["max_reply_tokens"] or reply_tokens(effort))
    prompts = Prompts(given["suite"] or "app_tool", load_focus(given["focus"]), given["prompts"])
    model = str(given["model"])
    if model.startswith("recorded:"):
        model = RecordedModel(Path(model.partition(":")[2])).name
    given_price = read_price(given["price"]) if given["price"] else None
    price = given_price or price_of(model)
    if given["budget"] is not None and price is None:
        raise UsageError(f"--budget: the price of {model} is not known. Say it with --price IN,OUT.")
    if given["dry_run"] and (given["export_requests"] or given["import_replies"]):
        raise UsageError("--dry-run changes nothing, so it goes with neither --export-requests nor --import-replies.")
    return ModelOptions(
        model=str(given["model"]),
        base_url=given["base_url"],
        choice=ModelChoice(model, settings, prompts),
        window=given["window"] or DEFAULT_WINDOW,
        parallel=given["parallel"] or PARALLEL,
        price=price,
        given_price=given_price,
        dry_run=given["dry_run"],
        budget=given["budget"],
        keep=not given["no_keep_replies"],
        export=given["export_requests"],
        replies=given["import_replies"],
    )


# Running it


@dataclass(frozen=True)
class Account:
    """A build by a model, and what it used."""

    build: ModelBuild
    exchange: Exchange
    troubles: dict[str, int]
    open: int = 0
    """Requests that wait for a reply by file."""
    unused: int = 0
    """Replies in the file that answer nothing that was asked."""


def run(plan: Plan, store: Store, options: ModelOptions, checks: Checks) -> Account:
    """Build, by calls or by file."""
    exchange = Exchange(store, keep=options.keep)
    if options.by_file:
        return _by_file(plan, store, options, checks, exchange)
    with calling(options) as caller, _live(exchange) as live:
        answer = AskNow(caller, exchange, live.round)
        build = build_by_model(
            plan, store, options.choice, checks, answer, exchange=exchange, on_progress=live.stage
        )  # fmt: skip
    return Account(build, exchange, dict(caller.troubles))


def _by_file(plan: Plan, store: Store, options: ModelOptions, checks: Checks, exchange: Exchange) -> Account:
    if not options.keep:
        raise UsageError("--no-keep-replies: a build by file goes on from the replies that it keeps.")
    replies = read_replies(options.replies, options.price) if options.replies else {}
    answer = FromFile(replies, exchange)
    build = build_by_model(plan, store, options.choice, checks, answer, exchange=exchange)
    if options.export is not None:
        write_requests(options.export, answer.open)
    return Account(build, exchange, {}, len(answer.open), answer.unused)


@contextmanager
def calling(options: ModelOptions) -> Iterator[Caller]:
    """The model that the options name, asked within their budget."""
    budget = Budget(options.budget, options.price) if options.budget is not None and options.price else None
    with opened(options) as model:
        yield Caller(model, options.parallel, budget)


@contextmanager
def opened(options: ModelOptions) -> Iterator[Model]:
    """The model that the options name."""
    if options.model.startswith("recorded:"):
        yield RecordedModel(Path(options.model.partition(":")[2]))
        return
    from contramem.llm.client import ProviderModel

    model = ProviderModel(options.model, base_url=options.base_url, price=options.given_price)
    try:
        yield model
    finally:
        model.close()


class _Live:
    """One line for each stage, and one for the calls of the round under way, with what they have cost so far."""

    def __init__(self, bars: Progress, exchange: Exchange) -> None:
        self._bars = bars
        self._exchange = exchange
        self._tasks: dict[str, TaskID] = {}

    def stage(self, name: str, done: int, total: int) -> None:
        if total and name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total, spent="")
        if name in self._tasks:
            self._bars.update(self._tasks[name], completed=done)

    def round(self, answered: int, asked: int) -> None:
        if "calls" not in self._tasks:
            self._tasks["calls"] = self._bars.add_task("calls of this round", spent="")
        spent = f"${self._exchange.spent_usd:.2f}"
        self._bars.update(self._tasks["calls"], completed=answered, total=asked, spent=spent)


@contextmanager
def _live(exchange: Exchange) -> Iterator[_Live]:
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("{task.fields[spent]}"), console=console, transient=True, disable=not console.is_terminal,
    ) as bars:  # fmt: skip
        yield _Live(bars, exchange)


# What it will cost


def foresee(plan: Plan, where: str, options: ModelOptions, checks: Checks) -> list[StageEstimate]:
    """The estimate. A store that is there is read; one that is not is not made."""
    if not is_url(where) and not Path(where).exists():
        return estimate(plan, options.choice, checks, options.price, None)
    with open_store(where) as store:
        return estimate(plan, options.choice, checks, options.price, store)


def estimate_json(found: list[StageEstimate]) -> dict[str, Any]:
    stages = [
        {
            "stage": one.stage,
            "part": one.part,
            "calls": [int(bound) for bound in one.calls],
            "tokens_in": [int(bound) for bound in one.tokens_in],
            "tokens_out": [int(bound) for bound in one.tokens_out],
            "cost_usd": [round(bound, 6) for bound in one.cost_usd] if one.cost_usd else None,
        }
        for one in found
    ]
    return {"dry_run": True, "stages": stages}


def show_estimate(found: list[StageEstimate], options: ModelOptions) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("stage", "calls", "tokens in", "tokens out", "price"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    for one in found:
        name = f"{one.stage} ({'known now' if one.part == 'ready' else 'later'})"
        cost = _dollars(one.cost_usd) if one.cost_usd else "?"
        table.add_row(name, _range(one.calls), _range(one.tokens_in), _range(one.tokens_out), cost)
    if found:
        tokens_in = sum((one.tokens_in for one in found), Range(0, 0))
        tokens_out = sum((one.tokens_out for one in found), Range(0, 0))
        costs = [one.cost_usd for one in found if one.cost_usd]
        total = _dollars(sum(costs, Range(0, 0))) if costs else "?"
        calls = sum((one.calls for one in found), Range(0, 0))
        table.add_row("all", _range(calls), _range(tokens_in), _range(tokens_out), total, style="bold")
    console = Console()
    console.print(table if found else "Nothing to ask: every reply is there already.")
    console.print(
        f"[dim]{options.choice.name}; tokens as counted with {ENCODING}. Asking again after an unusable reply, and "
        "reasoning that is billed as output, come on top. Nothing was called, nothing changed.[/]"
    )


def _range(bounds: Range) -> str:
    return f"{bounds.least:,.0f}" if bounds.exact else f"{bounds.least:,.0f} to {bounds.most:,.0f}"


def _dollars(bounds: Range) -> str:
    return f"${bounds.least:,.2f} to ${bounds.most:,.2f}"


# What it has cost


def account_json(account: Account) -> dict[str, Any]:
    stages = {name: vars(cost) for name, cost in account.exchange.stages.items()}
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


def show_account(account: Account, options: ModelOptions) -> None:
    console = Console()
    table = _cost_table()
    for name, cost in account.exchange.stages.items():
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
        where = f" in {options.export}" if options.export else "; write them with --export-requests FILE"
        console.print(f"{account.open:,} requests wait for a reply{where}. --import-replies FILE takes the replies.")
    if not options.keep:
        console.print("[yellow]Prompts and replies were not kept[/]: what is not decided yet will be paid for again.")


def _cost_table() -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("stage", "calls", "from the store", "tokens in", "tokens out", "price"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    return table


def _add_paper(table: Table) -> None:
    for name, calls, tokens, cost in PAPER:
        made = f"{calls:,}" if calls else "?"
        table.add_row(name, made, "", f"{tokens:,} in all", "", f"${cost:,.2f}" if cost else "?", style="dim")


def cost_json(calls: Iterable[Call]) -> dict[str, Any]:
    """What a store's calls have cost, by stage, beside the paper's figures."""
    made = list(calls)
    stages = {}
    for stage in STAGES:
        of_stage = [call for call in made if call.stage == stage]
        priced = [call.cost_usd for call in of_stage if call.cost_usd is not None]
        stages[stage] = {
            "calls": len(of_stage),
            "tokens_in": sum(call.tokens_in for call in of_stage),
            "tokens_out": sum(call.tokens_out for call in of_stage),
            "cost_usd": round(sum(priced), 6),
            "unpriced": len(of_stage) - len(priced),
        }
    paper = [{"what": what, "calls": n, "tokens": tokens, "cost_usd": cost} for what, n, tokens, cost in PAPER]
    return {"models": sorted({call.model for call in made}), "stages": stages, "paper": paper}


def cost_table(calls: Iterable[Call]) -> Table:
    """The same for people."""
    found = cost_json(calls)
    table = _cost_table()
    for stage, cost in found["stages"].items():
        price = f"${cost['cost_usd']:,.2f}{' + ?' if cost['unpriced'] else ''}"
        table.add_row(stage, f"{cost['calls']:,}", "", f"{cost['tokens_in']:,}", f"{cost['tokens_out']:,}", price)
    _add_paper(table)
    return table


def exchange_json(calls: Iterable[Call], call_id: str) -> dict[str, Any]:
    """One call, whole. `call_id` may be the beginning of its digest, as the ledger gives it."""
    found = [call for call in calls if call.digest.startswith(call_id)]
    if not found:
        raise UsageError(f"there is no call {call_id!r} in this store.")
    call = found[-1]
    return {**call._asdict(), "request": json.loads(call.request) if call.request else None}


def exchange_text(calls: Iterable[Call], call_id: str) -> str:
    """The same for people."""
    call = exchange_json(calls, call_id)
    said = [f"[{role}]\n{text}" for role, text in call["request"] or [("prompt", "not kept")]]
    said.append(f"[reply, {call['finish']}]\n{call['reply'] if call['reply'] is not None else 'not kept'}")
    return "\n\n".join([f"{call['stage']} about {call['subject']}, {call['model']}, {call['recorded_at']}", *said])
