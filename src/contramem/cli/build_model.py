"""`contramem build --model`: its options, and running it with a live line of what it costs."""

from __future__ import annotations

import functools
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, current_thread, main_thread
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from contramem.bank.locate import is_url
from contramem.bank.store import Store, open_store
from contramem.build.answering import AskNow, FromFile
from contramem.build.batching import AskInBatches, Desk, TakeInFirst, held_batches
from contramem.build.construction import Checks
from contramem.build.estimate import StageEstimate, estimate
from contramem.build.focus import SUITES, load_focus
from contramem.build.model import ModelChoice
from contramem.build.rounds import DEFAULT_WINDOW, Answer, Plan
from contramem.build.suites import Prompts
from contramem.cli.build_cost import Account
from contramem.errors import ModelError, UsageError
from contramem.llm.batch import ProviderBatches, check_batches
from contramem.llm.calls import PARALLEL, Budget, Caller
from contramem.llm.client import ProviderModel
from contramem.llm.exchange import Exchange
from contramem.llm.files import read_replies, write_requests
from contramem.llm.price import Price, price_of, read_price
from contramem.llm.recorded import RecordedModel
from contramem.llm.request import EFFORTS, Model, Settings, reply_tokens
from contramem.pipeline import build_by_model

Command = TypeVar("Command", bound=Callable[..., Any])

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
    click.option("--batch", is_flag=True, help="Ask through the provider's batch service: slow, at half the price."),
    click.option("--dry-run", is_flag=True, help="Say what it will cost; call nobody, change nothing."),
    click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Spend no more than this, now."),
    click.option("--no-keep-replies", is_flag=True, help="Keep no prompts and replies; going on then pays again."),
    click.option("--export-requests", type=_FILE, metavar="FILE", help="Write what is ready to be asked; no key."),
    click.option("--import-replies", type=_FILE, metavar="FILE", help="Take replies, and go on as far as they reach."),
)
_NAMES = (
    "model base_url suite focus prompts reasoning_effort temperature seed max_reply_tokens window parallel price"
    " batch dry_run budget no_keep_replies export_requests import_replies"
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
    """The user's, or else the list's; of batches, where it is to be asked in batches."""
    given_price: Price | None
    batch: bool
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
    if given["batch"]:
        _check_batch(given)
        price, given_price = price and price.in_batch, given_price and given_price.in_batch
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
        batch=bool(given["batch"]),
        dry_run=given["dry_run"],
        budget=given["budget"],
        keep=not given["no_keep_replies"],
        export=given["export_requests"],
        replies=given["import_replies"],
    )


def _check_batch(given: dict[str, Any]) -> None:
    if given["export_requests"] or given["import_replies"]:
        raise UsageError("--batch hands requests to the provider; by file you hand them over yourself. Choose one.")
    if given["no_keep_replies"]:
        raise UsageError("--no-keep-replies: a build in batches goes on from the replies that it keeps.")
    if str(given["model"]).startswith("recorded:"):
        raise UsageError("--batch: recorded exchanges have no batch service. Leave --batch away.")
    check_batches(str(given["model"]), given["base_url"])


# Running it


def run(plan: Plan, store: Store, model: Model | None, options: ModelOptions, checks: Checks) -> Account:
    """Build, by calls, in batches or by file (without a model)."""
    exchange = Exchange(store, keep=options.keep)
    if model is None:
        return _by_file(plan, store, options, checks, exchange)
    budget = _budget(options)
    with _live(exchange) as live, _stoppable(live) as stop:
        caller = Caller(model, options.parallel, budget, stop=stop)
        answer: Answer = AskNow(caller, exchange, live.round)
        if isinstance(model, ProviderModel) and (options.batch or held_batches(store, model.name)):
            desk = Desk(ProviderBatches(model), exchange, store, budget, live.say, stop, troubles=caller.troubles)
            answer = AskInBatches(desk) if options.batch else TakeInFirst(desk, answer)
        build = build_by_model(plan, store, options.choice, checks, answer, exchange=exchange, on_progress=live.stage)
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
    with opened(options) as model:
        assert model is not None, "neither a dry run nor a build by file"
        yield Caller(model, options.parallel, _budget(options))


def _budget(options: ModelOptions) -> Budget | None:
    return Budget(options.budget, options.price) if options.budget is not None and options.price else None


@contextmanager
def opened(options: ModelOptions) -> Iterator[Model | None]:
    """The model that the options name; None where nobody is to be asked. What keeps it from working is said at once."""
    if options.dry_run or options.by_file:
        yield None
        return
    if options.model.startswith("recorded:"):
        yield RecordedModel(Path(options.model.partition(":")[2]))
        return
    model = ProviderModel(options.model, base_url=options.base_url, price=options.given_price)
    try:
        if options.batch:
            ProviderBatches(model)  # complains about a model that its provider takes no batches for
        yield model
    finally:
        model.close()


@contextmanager
def _stoppable(live: _Live) -> Iterator[Event]:
    """The first Ctrl-C sets the event; a second one ends the command at once."""
    stop = Event()

    def ask_to_stop(*_: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        live.say("Stopping: what is under way is waited for and kept. Ctrl-C again leaves at once.")

    if current_thread() is not main_thread():  # only there can signals be taken
        yield stop
        return
    before = signal.signal(signal.SIGINT, ask_to_stop)
    try:
        with warnings.catch_warnings():
            # A setting that was asked for and would be left aside is an error, before anything is spent.
            warnings.filterwarnings("error", message="Sampling parameters")
            yield stop
    except KeyboardInterrupt:
        raise ModelError(
            "left at once. Replies that had come are kept; what was under way may have been paid for, and is asked "
            "again when the same command goes on from here."
        ) from None
    finally:
        signal.signal(signal.SIGINT, before)


class _Live:
    """One line for each stage, and one for the calls of the round under way, with what they have cost so far."""

    def __init__(self, bars: Progress, exchange: Exchange) -> None:
        self._bars = bars
        self._exchange = exchange
        self._tasks: dict[str, TaskID] = {}

    def say(self, sentence: str) -> None:
        """For waits of hours, and where there is no terminal: a line that stays."""
        self._bars.console.print(sentence, highlight=False)

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


def foresee(plan: Plan, where: str, options: ModelOptions, checks: Checks) -> list[StageEstimate]:
    """The estimate. A store that is there is read; one that is not is not made."""
    if not is_url(where) and not Path(where).exists():
        return estimate(plan, options.choice, checks, options.price, None)
    with open_store(where) as store:
        return estimate(plan, options.choice, checks, options.price, store)
