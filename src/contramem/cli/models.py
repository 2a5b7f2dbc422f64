"""Models as authors on the command line: their options, and asking them directly, in batches, by file or with tools,
with live progress and cost."""

from __future__ import annotations

import functools
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, current_thread, main_thread
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from contramem.bank.frozen import is_url
from contramem.bank.store import Store, open_store
from contramem.build.agent.estimate import estimate_conversations
from contramem.build.agent.rounds import AgentPlan, AgentRounds
from contramem.build.model.answering import AskInBatches, AskNow, BatchQueue, FromFile, TakeInFirst, open_batches
from contramem.build.model.estimate import StageEstimate, estimate, replicate
from contramem.build.model.packet_text import PACKET_BUDGET_TOKENS
from contramem.build.model.prompts import SUITES
from contramem.build.model.rounds import Answer, BuildPlan
from contramem.cli.build_cost import ModelBuildCost
from contramem.cli.kit import MODEL, SectionOption
from contramem.errors import ModelError, UsageError
from contramem.llm.batches import ProviderBatches, read_replies, write_requests
from contramem.llm.client import (
    EFFORTS,
    TIMEOUT_S,
    Model,
    ModelSettings,
    Price,
    ProviderModel,
    price_of,
    read_price,
    reply_tokens,
)
from contramem.llm.exchange import Budget, Exchange, ModelCaller, RecordedModel
from contramem.pipeline import build_by_agent, build_by_model
from contramem.validate.validator import Validator

if TYPE_CHECKING:
    from contramem.build.model.author import ModelChoice


Command = TypeVar("Command", bound=Callable[..., Any])

_FILE = click.Path(path_type=Path, dir_okay=False)
_option = functools.partial(click.option, cls=SectionOption, section=MODEL)
_OPTIONS = {
    "model": _option(
        "--model", metavar="M", help="Model that writes the cards: openai:gpt-5.5, anthropic:..., recorded:FILE."
    ),
    "base_url": _option("--base-url", metavar="URL", help="URL of an OpenAI-compatible server."),
    "suite": _option(
        "--suite", type=click.Choice(list(SUITES)), help="Prompts for app tools (default) or code agents."
    ),
    "focus": _option("--focus", type=_FILE, metavar="FILE", help="TOML file with your own focus blocks."),
    "prompts": _option(
        "--prompts",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Folder with templates that replace the built-in ones.",
    ),
    "prompt_tokens": _option(
        "--prompt-tokens",
        type=click.IntRange(200),
        metavar="N",
        help=f"Most tokens that runs take up in a prompt ({PACKET_BUDGET_TOKENS}); use fewer for small models.",
    ),
    "every_function": _option(
        "--every-function", is_flag=True, help="Write a Function Card for every function that was seen to work."
    ),
    "reasoning_effort": _option(
        "--reasoning-effort", type=click.Choice(EFFORTS), help="Reasoning effort, for models that support it."
    ),
    "temperature": _option(
        "--temperature", type=float, metavar="T", help="Sampling temperature, for models that support it."
    ),
    "seed": _option("--seed", type=int, metavar="N", help="Random seed, for providers that support it."),
    "max_reply_tokens": _option(
        "--max-reply-tokens", type=click.IntRange(256), metavar="N", help="Longest reply in tokens, reasoning included."
    ),
    "window": _option(
        "--window",
        type=click.IntRange(1),
        metavar="N",
        help="How many tasks are reflected on before the bank is updated.",
    ),
    "parallel": _option("--parallel", type=click.IntRange(1), metavar="N", help="Maximum calls at once."),
    "timeout": _option(
        "--timeout", type=click.FloatRange(1), metavar="S", help=f"Seconds before a call times out ({TIMEOUT_S:g})."
    ),
    "price": _option("--price", metavar="IN,OUT", help="Dollars per million tokens, for models without a list price."),
    "batch": _option("--batch", is_flag=True, help="Use the provider's batch service: slow, but half the price."),
    "dry_run": _option(
        "--dry-run", is_flag=True, help="Estimate the cost without calling the model or changing anything."
    ),
    "budget": _option(
        "--budget", type=click.FloatRange(0), metavar="USD", help="Stop before this command spends more than this."
    ),
    "no_keep_replies": _option(
        "--no-keep-replies", is_flag=True, help="Don't store prompts and replies; a resumed build then pays again."
    ),
    "export_requests": _option(
        "--export-requests",
        type=_FILE,
        metavar="FILE",
        help="Write the requests that are ready to a file; needs no key.",
    ),
    "import_replies": _option(
        "--import-replies",
        type=_FILE,
        metavar="FILE",
        help="Read replies from a file and continue as far as they allow.",
    ),
}
_FEW = ("model", "base_url", "reasoning_effort", "temperature", "parallel", "timeout", "price", "budget")


@dataclass(frozen=True)
class ModelOptions:
    """The values of --model and the options that go with it."""

    model: str
    base_url: str | None
    choice: ModelChoice
    window: int
    parallel: int
    timeout_s: float
    price: Price | None
    """The user's price or, without one, the list price; the batch price if --batch is given."""
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
    return _with_options(command, tuple(_OPTIONS))


def few_model_options(command: Command) -> Command:
    """Add only the options for the model, its settings and the budget."""
    return _with_options(command, _FEW)


def _with_options(command: Command, names: Sequence[str]) -> Command:
    absent = dict.fromkeys(_OPTIONS)

    @functools.wraps(command)
    def with_options(**given: Any) -> Any:
        return command(by_model=_options(absent | {name: given.pop(name) for name in names}), **given)

    decorated: Any = with_options
    for name in reversed(names):
        decorated = _OPTIONS[name](decorated)
    return decorated  # type: ignore[no-any-return]


def _options(given: dict[str, Any]) -> ModelOptions | None:
    if given["model"] is None:
        if alone := [name for name, value in given.items() if value]:
            raise UsageError(f"--{alone[0].replace('_', '-')} needs --model.")
        return None
    # Imported on use: a command without --model does not wait for what only a model needs.
    from contramem.build.model.author import ModelChoice
    from contramem.build.model.function_text import FUNCTION_BUDGET_TOKENS
    from contramem.build.model.prompts import Prompts, load_focus
    from contramem.build.model.rounds import DEFAULT_WINDOW
    from contramem.llm.exchange import PARALLEL, RecordedModel

    effort = given["reasoning_effort"]
    settings = ModelSettings(
        effort, given["temperature"], given["seed"], given["max_reply_tokens"] or reply_tokens(effort)
    )
    prompts = Prompts(given["suite"] or "app_tool", load_focus(given["focus"]), given["prompts"])
    packet_tokens = given["prompt_tokens"] or PACKET_BUDGET_TOKENS
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
        raise UsageError(
            "--dry-run changes nothing, so it cannot be combined with --export-requests or --import-replies."
        )
    return ModelOptions(
        model=str(given["model"]),
        base_url=given["base_url"],
        choice=ModelChoice(
            model,
            settings,
            prompts,
            packet_tokens,
            min(packet_tokens, FUNCTION_BUDGET_TOKENS),
            bool(given["every_function"]),
        ),
        window=given["window"] or DEFAULT_WINDOW,
        parallel=given["parallel"] or PARALLEL,
        timeout_s=given["timeout"] or TIMEOUT_S,
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
        raise UsageError("--no-keep-replies: a build in batches continues from the replies it keeps.")
    if str(given["model"]).startswith("recorded:"):
        raise UsageError("--batch: recorded exchanges have no batch service. Drop --batch.")
    from contramem.llm.batches import check_batches

    check_batches(str(given["model"]), given["base_url"])


# Asking


def run_by_model(
    plan: BuildPlan, store: Store, model: Model | None, options: ModelOptions, checks: Validator
) -> ModelBuildCost:
    """Build with direct calls, in batches, or (without a model) by file."""
    exchange = Exchange(store, keep=options.keep)
    if model is None:
        return _by_file(plan, store, options, checks, exchange)
    with ask_live(model, options, exchange) as (caller, live):
        answer: Answer = AskNow(caller, exchange, live.round)
        if isinstance(model, ProviderModel) and (options.batch or open_batches(store, model.name)):
            batches, budget = ProviderBatches(model), caller.budget
            queue = BatchQueue(batches, exchange, store, budget, live.say, caller.stop, troubles=caller.troubles)
            answer = AskInBatches(queue) if options.batch else TakeInFirst(queue, answer)
        build = build_by_model(plan, store, options.choice, checks, answer, exchange=exchange, on_progress=live.stage)
    return ModelBuildCost(build, exchange, dict(caller.troubles))


@contextmanager
def ask_live(model: Model, options: ModelOptions, exchange: Exchange) -> Iterator[tuple[ModelCaller, _Live]]:
    """A caller that Ctrl-C stops cleanly, and the live display of progress and cost."""
    with _live(exchange) as live, _stoppable(live) as stop:
        yield ModelCaller(model, options.parallel, _budget(options), stop=stop), live


def _by_file(
    plan: BuildPlan, store: Store, options: ModelOptions, checks: Validator, exchange: Exchange
) -> ModelBuildCost:
    if not options.keep:
        raise UsageError("--no-keep-replies: a build by file continues from the replies it keeps.")
    replies = read_replies(options.replies, options.price) if options.replies else {}
    answer = FromFile(replies, exchange)
    build = build_by_model(plan, store, options.choice, checks, answer, exchange=exchange)
    if options.export is not None:
        write_requests(options.export, answer.open)
    return ModelBuildCost(build, exchange, {}, len(answer.open), answer.unused)


@contextmanager
def open_caller(options: ModelOptions) -> Iterator[ModelCaller]:
    """A caller for the chosen model, with its budget."""
    with open_chosen_model(options) as model:
        assert model is not None, "neither a dry run nor a build by file"
        yield ModelCaller(model, options.parallel, _budget(options))


def _budget(options: ModelOptions) -> Budget | None:
    return Budget(options.budget, options.price) if options.budget is not None and options.price else None


@contextmanager
def open_chosen_model(options: ModelOptions) -> Iterator[Model | None]:
    """Open the chosen model; None for a dry run or a build by file. Problems are reported at once."""
    if options.dry_run or options.by_file:
        yield None
        return
    if options.model.startswith("recorded:"):
        yield RecordedModel(Path(options.model.partition(":")[2]))
        return
    model = ProviderModel(
        options.model, base_url=options.base_url, price=options.given_price, timeout_s=options.timeout_s
    )
    try:
        if options.batch:
            ProviderBatches(model)  # raises if the provider has no batch service for the model
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
        live.say("Finishing the requests in flight. Press Ctrl-C again to stop immediately.")

    if current_thread() is not main_thread():  # signals can only be handled in the main thread
        yield stop
        return
    before = signal.signal(signal.SIGINT, ask_to_stop)
    try:
        with warnings.catch_warnings():
            # A setting that would be ignored is an error, before anything is spent.
            warnings.filterwarnings("error", message="Sampling parameters")
            yield stop
    except KeyboardInterrupt:
        raise ModelError(
            "stopped immediately. Replies that had arrived are kept. Requests in flight may have been billed, and are "
            "sent again when you run the same command."
        ) from None
    finally:
        signal.signal(signal.SIGINT, before)


class _Live:
    """A progress bar for each stage, and one for the calls of the current round with their cost so far."""

    def __init__(self, bars: Progress, exchange: Exchange) -> None:
        self._bars = bars
        self._exchange = exchange
        self._tasks: dict[str, TaskID] = {}

    def say(self, sentence: str) -> None:
        """Print a line that stays, for long waits and for output without a terminal."""
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


def foresee_by_model(plan: BuildPlan, where: str, options: ModelOptions, checks: Validator) -> list[StageEstimate]:
    """Estimate the cost. An existing store is read; a missing one is not created."""
    if not is_url(where) and not Path(where).exists():
        return estimate(plan, options.choice, checks, options.price, None)
    with open_store(where) as store:
        return estimate(plan, options.choice, checks, options.price, store)


# Asking a model with tools that explores all runs


def check_agent_options(options: ModelOptions | None) -> ModelOptions:
    """Refuse conflicting options before anything is read."""
    if options is None:
        raise UsageError("--author agent is a model with tools: name it with --model. Without a model, `contramem "
                         "author install` makes your coding agent the author.")  # fmt: skip
    if options.batch or options.by_file:
        raise UsageError(
            "--author agent is a conversation, so it cannot be combined with --batch, "
            "--export-requests or --import-replies."
        )
    if not options.keep:
        raise UsageError("--no-keep-replies: a conversation continues from the replies it keeps.")
    return options


def run_by_agent(plan: AgentPlan, store: Store, model: Model, options: ModelOptions) -> ModelBuildCost:
    """Run all conversations, or as many as the budget allows."""
    exchange = Exchange(store)
    with ask_live(model, options, exchange) as (caller, live):
        answer = AskNow(caller, exchange, live.round)
        build = build_by_agent(plan, store, options.choice, answer, exchange=exchange, on_progress=live.stage)
    return ModelBuildCost(build, exchange, dict(caller.troubles))


def foresee_by_agent(plan: AgentPlan, where: str, options: ModelOptions) -> list[StageEstimate]:
    """Estimate the cost. An existing store is read; a missing one is not created."""
    if not is_url(where) and not Path(where).exists():
        return _foresee(plan, None, options)
    with open_store(where) as store:
        return _foresee(plan, store, options)


def _foresee(plan: AgentPlan, store: Store | None, options: ModelOptions) -> list[StageEstimate]:
    with replicate(store) as replica, replica.writing("build --dry-run"):
        rounds = AgentRounds(plan, replica, options.choice, Exchange(replica))
        return estimate_conversations(rounds.conversations, options.price)
