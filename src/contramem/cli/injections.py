"""`contramem injections`: which cards were shown, how runs ended with them, and what that cost."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from contramem.bank.render import visible
from contramem.cli.output import print_json
from contramem.inject.injections import Injections, Moments, RunCounts, read_log, summarize

if TYPE_CHECKING:
    from rich.table import Table


@click.command()
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def injections(logs: tuple[Path, ...], as_json: bool) -> None:
    """Count what the inject LOG says: cards shown, runs that passed and failed with them, tokens and turns."""
    read = [read_log(path) for path in logs]
    found = summarize([line for lines, _ in read for line in lines], sum(unreadable for _, unreadable in read))
    if as_json:
        print_json(found.as_json())
        return
    if found.unreadable:
        click.echo(f"{found.unreadable} line(s) could not be read.", err=True)
    _print(found)


def _print(found: Injections) -> None:
    from rich.console import Console

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    console.print(_groups(found))
    for line in _sentences(found):
        console.print(line, markup=False)
    if found.cards:
        console.print()
        console.print(_cards(found))


def _groups(found: Injections) -> Table:
    table = _table("", "runs", "passed", "failed", "unknown", "pass rate (95 %)")
    groups = {"with memory": found.with_memory, "held out": found.held_out, "switched off": found.switched_off}
    for name, tally in groups.items():
        if tally.runs or name == "with memory":
            table.add_row(name, *_counts(tally), _rate(tally))
    return table


def _sentences(found: Injections) -> list[str]:
    runs = found.with_memory.runs
    said = [f"At task start: {_cost(found.start, runs)}."]
    if found.before_call.times:
        held = f"Before calls: {_cost(found.before_call, runs)}; an integration that holds the call spent one turn each"
        said.append(f"{held}, {found.before_call.times / runs:.1f} a run." if runs else f"{held}.")
    if found.final.times:
        said.append(f"Before finishing: {_cost(found.final, runs)}.")
    unknown = found.with_memory.unknown + found.held_out.unknown
    if unknown:
        said.append(f"{unknown} run(s) have no known outcome and count neither way; run.finish(passed) tells it.")
    if found.difference:
        change, (low, high) = found.difference
        said.append(f"With memory minus held out: {change:+.2f} ({low:+.2f} to {high:+.2f}).")
    else:
        said.append("What memory changed cannot be told: that takes ten known outcomes with memory and ten held out.")
    return said


def _cards(found: Injections) -> Table:
    from rich.text import Text

    table = _table("card", "shown", "in runs", "passed", "failed", "unknown", "tokens")
    for use in found.cards:
        runs, *ends = _counts(use.runs)
        table.add_row(Text(visible(use.card_id)), str(use.times), runs, *ends, str(use.tokens))
    return table


def _table(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _counts(tally: RunCounts) -> list[str]:
    return [str(count) for count in (tally.runs, tally.passed, tally.failed, tally.unknown)]


def _rate(tally: RunCounts) -> str:
    if tally.rate is None or tally.interval is None:
        return "too few"
    return f"{tally.rate:.2f} ({tally.interval[0]:.2f} to {tally.interval[1]:.2f})"


def _cost(moments: Moments, runs: int) -> str:
    """In words: how often, in how many of the runs, and how long."""
    if not moments.times:
        return f"nothing was shown in {runs} run(s)"
    each = moments.tokens / moments.times
    often = f"shown {moments.times} time(s) in {moments.runs} of {runs} run(s)"
    return f"{often}, {moments.tokens} tokens ({each:.0f} each)"
