"""`contramem evaluate`: measures whether memory helps, and which tasks it harms."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import click
import msgspec

from contramem.cli import Group
from contramem.cli.kit import Report, SectionedCommand, command, make_table, plural, print_json
from contramem.cli.reading import complain, how_to_read, nothing_read_error, reading, reading_options, select_sources
from contramem.errors import HarmError, UsageError
from contramem.evaluate.cards import Cards, card_effects
from contramem.evaluate.compare import Comparison, compare_both
from contramem.evaluate.pairs import Attempt, Pairing
from contramem.inject.log import read_log
from contramem.traces.read import TraceReading
from contramem.traces.reader import ReadOptions

if TYPE_CHECKING:
    from contramem.bank.bank import Bank
    from contramem.bank.frozen import FrozenBank
    from contramem.evaluate.guards import GuardReplay
    from contramem.evaluate.report.page import Manifest, Section
    from contramem.inject.enforcement import Level

SEED = 0
SHOWN_HARMED = 20
ARGUMENTS = "contramem.arguments"


@click.group(cls=Group)
def evaluate() -> None:
    """Measure what memory changes on the same tasks."""


class PathsAfterWith(SectionedCommand):
    """Makes `BASE --with runs/*` work: all paths that the shell expands after --with belong to it, not to BASE."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, _repeat_with_option(args))


def _repeat_with_option(arguments: list[str]) -> list[str]:
    """Put `--with` before every path that follows it."""
    if not arguments or arguments[0].startswith("-"):
        return arguments  # BASE comes later, so only the path right after --with belongs to it
    expanded: list[str] = []
    after_with = False
    for before, argument in zip(["", *arguments], arguments, strict=False):
        if argument.startswith("-"):
            after_with = argument.partition("=")[0] == "--with"
        elif after_with and before != "--with":
            expanded.append("--with")
        expanded.append(argument)
    return expanded


@evaluate.command("compare", cls=PathsAfterWith)
@click.argument("base", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--with", "memory", multiple=True, required=True, type=click.Path(path_type=Path), metavar="PATH",
    help="Runs with memory. Several paths may follow, and it may be given more than once.",
)  # fmt: skip
@click.option("--sources", metavar="A,B", help="Take only the runs of these sources from BASE.")
@click.option("--with-sources", metavar="A,B", help="Take only the runs of these sources from --with.")
@click.option("--by", type=click.Choice(["ability"]), help="Show each ability on a line of its own.")
@click.option(
    "--fail-on-harm", type=click.IntRange(min=0), metavar="N", help="Exit 1 if more than N tasks were harmed."
)
@click.option("--drop-unpaired", is_flag=True, help="Leave out tasks that were run on one side only.")
@click.option(
    "--injections", "logs", multiple=True, type=click.Path(path_type=Path), metavar="LOG",
    help="Inject log of the runs with memory: adds how runs ended that were shown each card.",
)  # fmt: skip
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a report as one web page.")
@click.option("--bank", metavar="STORE", help="With --html: show how this bank came about.")
@click.option(
    "--tables", type=click.Path(path_type=Path), metavar="DIR", help="Write tables as Markdown, LaTeX and CSV."
)
@click.option(
    "--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write what a pull request needs as Markdown."
)
@click.option(
    "--banks", nargs=2, metavar="BEFORE AFTER", help="With --markdown: name the cards that differ between two banks."
)
@how_to_read
@click.option("--json", "as_json", is_flag=True, help="Print the whole comparison as JSON.")
def compare_command(
    base: tuple[Path, ...],
    memory: tuple[Path, ...],
    sources: str | None,
    with_sources: str | None,
    by: str | None,
    fail_on_harm: int | None,
    drop_unpaired: bool,
    logs: tuple[Path, ...],
    html: Path | None,
    bank: str | None,
    tables: Path | None,
    markdown: Path | None,
    banks: tuple[str, str] | None,
    options: ReadOptions,
    as_json: bool,
) -> None:
    """Compare the runs in BASE (without memory) to runs of the same tasks with memory.

    Runs are paired by task and trial, and by source when both sides share sources.
    """
    if bank and not html:
        raise UsageError("--bank is for the report. Name the report's file with --html.")
    if banks and not markdown:
        raise UsageError("--banks is for the text of a pull request. Name its file with --markdown.")
    sides = (_ChosenRuns(base, sources, "--sources"), _ChosenRuns(memory, with_sources, "--with-sources"))
    comparison = _compare(sides, options, drop_unpaired, logs)
    _show(comparison, by == "ability", as_json)
    if html:
        _write_report(comparison, html, bank, {"base": base, "memory": memory, "injections": logs})
    if tables:
        from contramem.evaluate.report.page import write_tables
        from contramem.evaluate.report.tables import paper_tables, verdict

        write_tables(paper_tables(comparison.comparison, comparison.cards), tables, verdict(comparison.comparison))
    if markdown:
        _write_markdown(comparison.comparison, markdown, banks)
    for written in filter(None, (html, tables, markdown)):
        click.echo(f"{written}: written.", err=True)
    _check_harm(comparison.comparison, fail_on_harm)


def _write_markdown(comparison: Comparison, path: Path, banks: tuple[str, str] | None) -> None:
    from contramem.bank.frozen import load_bank
    from contramem.bank.show import bank_difference
    from contramem.evaluate.report.comparison import pull_request_text

    before, after = (load_bank(where)[0] for where in banks) if banks else (None, None)
    difference = bank_difference(before, after) if before is not None and after is not None else None
    try:
        path.write_text(pull_request_text(comparison, difference), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from None


@command(evaluate, "guards", common=("bank", "max-false-stops", "save"))
@reading_options
def guards_command(
    paths: tuple[Path, ...],
    *,
    bank: Annotated[str, "Frozen bank or store whose guards to try.", "BANK"],
    max_false_stops: Annotated[
        float,
        "The share of passing runs that a guard may stop; above it, it only reminds.",
        "S",
        click.FloatRange(0, 1),
    ] = 0.01,
    save: Annotated[bool, "Keep the counts in the bank: `--enforce` refuses no call without them."] = False,
    options: ReadOptions,
) -> Report:
    """Count whom the guards of a bank would stop, in runs that it has not seen.

    A guard stops a run if it objects to a call that then worked, or is not kept when the run ends. Runs of tasks that
    taught a card are left out.
    """
    from contramem.bank.frozen import load_bank
    from contramem.evaluate.guards import replay_guards

    known, frozen = load_bank(bank)
    with reading(paths, options) as runs:
        replay = replay_guards(known, runs, max_false_stops)
    complain(runs.problems, runs.problem_count, strict=options.strict)
    if not replay.passing + replay.failing:
        if not replay.seen + replay.without_outcome:
            raise nothing_read_error(runs.problems, runs.ignored)
        seen, unknown = plural(replay.seen, "run"), replay.without_outcome
        raise UsageError(f"no run is left: {seen} of tasks that taught a card, {unknown} without an outcome.")
    if save:
        _save_replay(bank, frozen, known, replay, max_false_stops)
    return Report(msgspec.to_builtins(replay), _describe_replay(replay, max_false_stops))


def _save_replay(where: str, frozen: FrozenBank | None, bank: Bank, replay: GuardReplay, limit: float) -> None:
    from contramem.bank.frozen import refresh_frozen
    from contramem.bank.store import open_store
    from contramem.evaluate.guards import record_replay

    decisions = record_replay(bank, replay, limit)
    if frozen is not None:
        refresh_frozen(Path(where), bank.with_changes(change for decision in decisions for change in decision.changes))
        return
    with open_store(where) as store, store.writing("evaluate guards"):
        store.record(*decisions)


def _describe_replay(replay: GuardReplay, limit: float) -> Iterator[Any]:
    runs = f"{plural(replay.passing, 'passing run')} and {replay.failing:,} failing ones"
    left_out = f"{replay.seen:,} of tasks that taught a card and {replay.without_outcome:,} without an outcome left out"
    yield f"{runs} ({left_out})."
    rows = [
        {
            "passing": effect.passing, "stopped": effect.false_stops, "share": f"{effect.share:.1%}",
            "failing": effect.failing, "caught": effect.caught, "grade": effect.grade or "", "at most": effect.level,
            "guard": effect.guard,
        }
        for effect in replay.guards if effect.passing or effect.failing
    ]  # fmt: skip
    if rows:
        yield make_table(rows)
    if len(rows) < len(replay.guards):
        yield f"{plural(len(replay.guards) - len(rows), 'guard')} applied to no run."
    told: dict[Level, str] = {
        "remind": "all guards", "ask": "those that may ask a person", "deny": "those that may refuse",
    }  # fmt: skip
    for level, who in told.items():
        stopped = replay.stopped[level]
        yield f"Stopped at a call by {who}: {stopped.passing:,} passing and {stopped.failing:,} failing runs."
    yield f"Reminded at the end: {replay.ended.passing:,} passing and {replay.ended.failing:,} failing runs."


class _ChosenRuns(NamedTuple):
    """The runs of one side: their paths and sources."""

    paths: tuple[Path, ...]
    sources: str | None
    option: str


@dataclass(frozen=True)
class _ComparedRuns:
    """The comparison, with what it was made from."""

    comparison: Comparison
    pairing: Pairing
    cards: Cards | None
    readings: tuple[TraceReading, ...]
    unreadable: int
    """Lines of the inject log that could not be read."""


def _compare(
    sides: tuple[_ChosenRuns, _ChosenRuns], options: ReadOptions, drop_unpaired: bool, logs: Iterable[Path]
) -> _ComparedRuns:
    logged = [read_log(path) for path in logs]
    attempts, readings = _read_both(*sides, options)
    for side in readings:
        complain(side.problems, side.problem_count)
    for reason, count in sorted(_describe_skipped(readings).items()):
        click.echo(f"{count} run(s) skipped: {reason}", err=True)
    compared = compare_both(*attempts, rng=Random(SEED), drop_unpaired=drop_unpaired)
    cards = card_effects(compared.pairing, [line for lines, _ in logged for line in lines]) if logged else None
    return _ComparedRuns(
        compared.comparison, compared.pairing, cards, readings, sum(unreadable for _, unreadable in logged)
    )


def _read_both(
    base: _ChosenRuns, memory: _ChosenRuns, options: ReadOptions
) -> tuple[list[list[Attempt]], tuple[TraceReading, TraceReading]]:
    with reading(base.paths, options) as without:
        attempts = [[Attempt.of(run) for run in select_sources(without, base.sources, base.option)]]
    if options.outcomes is not None:  # outcomes that are unused so far may belong to the other side
        early = set(options.outcomes.unused())
        without.problems = [problem for problem in without.problems if tuple(problem) not in early]
        without.problem_count -= len(early)
    with reading(memory.paths, options) as with_memory:
        attempts.append([Attempt.of(run) for run in select_sources(with_memory, memory.sources, memory.option)])
    return attempts, (without, with_memory)


def _write_report(compared: _ComparedRuns, html: Path, bank: str | None, read: dict[str, tuple[Path, ...]]) -> None:
    from contramem.evaluate.report.comparison import Extras, comparison_page
    from contramem.evaluate.report.page import write_html

    sections, titles = _of_bank(bank) if bank else ((), {})
    extras = Extras(compared.cards, titles, sections)
    write_html(comparison_page(compared.comparison, compared.pairing, _manifest(read, bank), extras), html)


def _of_bank(bank: str) -> tuple[tuple[Section, ...], dict[str, str]]:
    """A section with the history of a bank, and the titles of its cards."""
    from contramem.bank.card import SkillCard
    from contramem.bank.frozen import kind_of, without_password
    from contramem.bank.store import open_store
    from contramem.evaluate.report.comparison import evolution_section

    if kind_of(bank) == "frozen":
        raise UsageError(f"{bank}: a frozen bank has no ledger. Name the store it was frozen from.")
    with open_store(bank) as store:
        entries = store.bank().entries.values()
        titles = {entry.card.card_id: entry.card.title for entry in entries if isinstance(entry.card, SkillCard)}
        ledger = store.ledger()
    if not ledger:
        raise UsageError(f"{without_password(bank)}: its ledger is empty. `contramem build` makes decisions.")
    return (evolution_section(ledger, without_password(bank)),), titles


def _manifest(read: dict[str, tuple[Path, ...]], bank: str | None) -> Manifest:
    from contramem.bank.frozen import is_url, without_password
    from contramem.evaluate.report.page import Manifest, inputs_of

    if bank and not is_url(bank):
        read = read | {"bank": (Path(bank),)}
    arguments = click.get_current_context().meta[ARGUMENTS]
    return Manifest(
        command=shlex.join(["contramem", "evaluate", "compare", *map(without_password, arguments)]),
        inputs=tuple(digest for role, paths in read.items() for digest in inputs_of(role, paths)),
        seed=SEED,
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    )


def _show(compared: _ComparedRuns, abilities: bool, as_json: bool) -> None:
    if as_json:
        print_json(_as_json(compared))
        return
    from rich.console import Console

    from contramem.evaluate.report.comparison import as_table

    Console(highlight=False).print(as_table(compared.comparison, abilities, compared.cards))
    if compared.unreadable:
        click.echo(f"{compared.unreadable} line(s) of the inject log could not be read.", err=True)


def _describe_skipped(readings: tuple[TraceReading, ...]) -> Counter[str]:
    return sum((reading.skipped for reading in readings), Counter())


def _as_json(compared: _ComparedRuns) -> dict[str, Any]:
    readings, cards = compared.readings, compared.cards
    comparison: dict[str, Any] = msgspec.to_builtins(compared.comparison)
    return comparison | {
        "cards": msgspec.to_builtins(cards.effects) if cards else None,
        "injections": _injections(cards, compared.unreadable) if cards else None,
        "problems": [problem._asdict() for reading in readings for problem in reading.problems],
        "skipped": dict(sorted(_describe_skipped(readings).items())),
        "ignored": sum(reading.ignored for reading in readings),
    }


def _injections(cards: Cards, unreadable: int) -> dict[str, float | None]:
    counts = {"shown": cards.shown, "held_out": cards.held_out, "not_in_log": cards.not_in_log}
    return counts | {"memory_tokens": cards.memory_tokens, "unreadable": unreadable}


def _check_harm(comparison: Comparison, allowed: int | None) -> None:
    harmed = comparison.harmed_tasks
    if allowed is not None and len(harmed) > allowed:
        more = f" and {len(harmed) - SHOWN_HARMED} more" if len(harmed) > SHOWN_HARMED else ""
        named = f"{', '.join(harmed[:SHOWN_HARMED])}{more}"
        raise HarmError(f"{len(harmed)} task(s) were harmed, --fail-on-harm allows {allowed}: {named}.")
