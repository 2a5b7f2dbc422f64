"""`contramem evaluate`: does memory help, and whom does it harm?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import click
import msgspec

from contramem.errors import HarmError
from contramem.evaluate.compare import Comparison, compare
from contramem.traces.read import Reading, ReadOptions, read_traces

SEED = 0
SHOWN_PROBLEMS = 10
SHOWN_HARMED = 20


@click.group()
def evaluate() -> None:
    """Measure what memory changes on the same tasks."""


class PathsAfterWith(click.Command):
    """Lets `BASE --with runs/*` mean what it says: the shell makes many paths of one, and none of them is BASE."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _each_with_its_option(args))


def _each_with_its_option(arguments: list[str]) -> list[str]:
    if not arguments or arguments[0].startswith("-"):
        return arguments  # BASE is still to come, so only the path right after --with is its own
    spread: list[str] = []
    of_memory = False
    for before, argument in zip(["", *arguments], arguments, strict=False):
        if argument.startswith("-"):
            of_memory = argument.partition("=")[0] == "--with"
        elif of_memory and before != "--with":
            spread.append("--with")
        spread.append(argument)
    return spread


@evaluate.command("compare", cls=PathsAfterWith)
@click.argument("base", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--with", "memory", multiple=True, required=True, type=click.Path(path_type=Path), metavar="PATH",
    help="Runs with memory. Several paths may follow, and it may be given more than once.",
)  # fmt: skip
@click.option("--by", type=click.Choice(["ability"]), help="Show each ability on a line of its own.")
@click.option(
    "--fail-on-harm", type=click.IntRange(min=0), metavar="N", help="Exit 1 if more than N tasks were harmed."
)
@click.option("--drop-unpaired", is_flag=True, help="Leave out tasks that were run on one side only.")
@click.option("--format", "format_", metavar="F", help="The trace format, where it cannot be told from the files.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole comparison as JSON.")
def compare_command(
    base: tuple[Path, ...],
    memory: tuple[Path, ...],
    by: str | None,
    fail_on_harm: int | None,
    drop_unpaired: bool,
    format_: str | None,
    as_json: bool,
) -> None:
    """Compare the runs in BASE (without memory) to runs of the same tasks with memory.

    Runs are paired by task and trial, and by source when both sides share sources.
    """
    options = ReadOptions(format=format_)
    readings = (read_traces(base, options), read_traces(memory, options))
    try:
        comparison = compare(*readings, rng=Random(SEED), drop_unpaired=drop_unpaired)
    finally:
        _report_problems(readings)
    if as_json:
        click.echo(_as_json(comparison, readings))
    else:
        from rich.console import Console

        from contramem.evaluate.table import as_table

        Console(highlight=False).print(as_table(comparison, abilities=by == "ability"))
    _check_harm(comparison, fail_on_harm)


def _report_problems(readings: tuple[Reading, ...]) -> None:
    problems = [problem for reading in readings for problem in reading.problems]
    for problem in problems[:SHOWN_PROBLEMS]:
        click.echo(str(problem), err=True)
    more = sum(reading.problem_count for reading in readings) - SHOWN_PROBLEMS
    if more > 0:
        click.echo(f"{more} more could not be read; `contramem traces` lists them.", err=True)
    for reason, count in sorted(_skipped(readings).items()):
        click.echo(f"{count} run(s) skipped: {reason}", err=True)


def _skipped(readings: tuple[Reading, ...]) -> Counter[str]:
    return sum((reading.skipped for reading in readings), Counter())


def _as_json(comparison: Comparison, readings: tuple[Reading, ...]) -> str:
    document = msgspec.to_builtins(comparison) | {
        "problems": [problem._asdict() for reading in readings for problem in reading.problems],
        "skipped": dict(sorted(_skipped(readings).items())),
        "ignored": sum(reading.ignored for reading in readings),
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _check_harm(comparison: Comparison, allowed: int | None) -> None:
    harmed = comparison.harmed_tasks
    if allowed is not None and len(harmed) > allowed:
        more = f" and {len(harmed) - SHOWN_HARMED} more" if len(harmed) > SHOWN_HARMED else ""
        named = f"{', '.join(harmed[:SHOWN_HARMED])}{more}"
        raise HarmError(f"{len(harmed)} task(s) were harmed, --fail-on-harm allows {allowed}: {named}.")
