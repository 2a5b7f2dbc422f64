"""Asks a model for the cards of a build: directly, in batches or by file, with live progress and cost."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, current_thread, main_thread

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from contramem.bank.locate import is_url
from contramem.bank.store import Store, open_store
from contramem.build.model.answering import AskInBatches, AskNow, BatchQueue, FromFile, TakeInFirst, open_batches
from contramem.build.model.estimate import StageEstimate, estimate
from contramem.build.model.rounds import Answer, BuildPlan
from contramem.cli.build_cost import ModelBuildCost
from contramem.cli.model_options import ModelOptions
from contramem.errors import ModelError, UsageError
from contramem.llm.batches import ProviderBatches, read_replies, write_requests
from contramem.llm.client import Model, ProviderModel
from contramem.llm.exchange import Budget, Exchange, ModelCaller, RecordedModel
from contramem.pipeline import build_by_model
from contramem.validate.validator import Validator


def run(plan: BuildPlan, store: Store, model: Model | None, options: ModelOptions, checks: Validator) -> ModelBuildCost:
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


def foresee(plan: BuildPlan, where: str, options: ModelOptions, checks: Validator) -> list[StageEstimate]:
    """Estimate the cost. An existing store is read; a missing one is not created."""
    if not is_url(where) and not Path(where).exists():
        return estimate(plan, options.choice, checks, options.price, None)
    with open_store(where) as store:
        return estimate(plan, options.choice, checks, options.price, store)
