"""`contramem injections`: shows which cards were shown, how those runs ended, and what it cost."""

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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def injections(logs: tuple[Path, ...], as_json: bool) -> None:
    """Summarize an inject LOG: which cards were shown, how those runs ended, and what it cost in tokens and turns."""
    read = [read_log(path) for path in logs]
    summary = summarize([line for lines, _ in read for line in lines], sum(unreadable for _, unreadable in read))
    if as_json:
        print_json(summary.as_json())
        return
    if summary.unreadable:
        click.echo(f"{summary.unreadable} line(s) could not be read.", err=True)
    _print(summary)


def _print(summary: Injections) -> None:
    from rich.console import Console

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    console.print(_groups(summary))
    for line in _sentences(summary):
        console.print(line, markup=False)
    if summary.cards:
        console.print()
        console.print(_cards(summary))


def _groups(summary: Injections) -> Table:
    table = _table("", "runs", "passed", "failed", "unknown", "pass rate (95 %)")
    groups = {"with memory": summary.with_memory, "held out": summary.held_out, "switched off": summary.switched_off}
    for name, tally in groups.items():
        if tally.runs or name == "with memory":
            table.add_row(name, *_counts(tally), _rate(tally))
    return table


def _sentences(summary: Injections) -> list[str]:
    runs = summary.with_memory.runs
    sentences = [f"At task start: {_cost(summary.start, runs)}."]
    if summary.before_call.times:
        line = f"Before calls: {_cost(summary.before_call, runs)}; holding a call costs one extra turn each time"
        sentences.append(f"{line}, {summary.before_call.times / runs:.1f} a run." if runs else f"{line}.")
    if summary.final.times:
        sentences.append(f"Before finishing: {_cost(summary.final, runs)}.")
    unknown = summary.with_memory.unknown + summary.held_out.unknown
    if unknown:
        sentences.append(
            f"{unknown} run(s) have no known outcome and are not counted; report it with run.finish(passed)."
        )
    if summary.difference:
        change, (low, high) = summary.difference
        sentences.append(f"With memory minus held out: {change:+.2f} ({low:+.2f} to {high:+.2f}).")
    else:
        sentences.append(
            "Too few runs to measure the effect: it takes ten known outcomes with memory and ten held out."
        )
    return sentences


def _cards(summary: Injections) -> Table:
    from rich.text import Text

    table = _table("card", "shown", "in runs", "passed", "failed", "unknown", "tokens")
    for use in summary.cards:
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
    """How often something was shown, in how many runs, and with how many tokens."""
    if not moments.times:
        return f"nothing was shown in {runs} run(s)"
    each = moments.tokens / moments.times
    often = f"shown {moments.times} time(s) in {moments.runs} of {runs} run(s)"
    return f"{often}, {moments.tokens} tokens ({each:.0f} each)"
