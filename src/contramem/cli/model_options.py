"""The options of model authors: model, settings, budget; and which of them conflict."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from contramem.build.model.packet_text import PACKET_BUDGET_TOKENS
from contramem.build.model.prompts import SUITES
from contramem.cli.sections import MODEL, SectionOption
from contramem.errors import UsageError
from contramem.llm.client import EFFORTS, TIMEOUT_S, ModelSettings, Price, price_of, read_price, reply_tokens

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
    from contramem.build.functions.calls_text import FUNCTION_BUDGET_TOKENS
    from contramem.build.model.author import ModelChoice
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
