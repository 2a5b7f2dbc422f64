"""`contramem lab foresight`: measures how well a bank's guards separate failing from passing runs of unseen tasks."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from random import Random

import click
from rich.console import Console
from rich.table import Table

from contramem.bank.frozen import load_bank
from contramem.cli.kit import SectionedCommand, print_json
from contramem.cli.reading import complain, nothing_read_error, reading, reading_options
from contramem.collection.runs import Collection
from contramem.evaluate.stats import Interval
from contramem.traces.reader import ReadOptions
from contramem_lab.foresight import CONTROL, OURS, PARTS, Foresight, ForesightDifference
from contramem_lab.foresight import foresight as measure

SEED = 0


@click.command(cls=SectionedCommand)
@reading_options
@click.option("--bank", required=True, metavar="BANK", help="Frozen bank, or a store.")
@click.option(
    "--reference", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
    help="Runs the bank was built from: used to weigh the guards and to compute more baselines. May be repeated.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print every figure as JSON.")
def foresight(
    paths: tuple[Path, ...], options: ReadOptions, bank: str, reference: tuple[Path, ...], as_json: bool
) -> None:
    """Rank the passing and failing runs of each unseen task under PATH... by the guards of BANK.

    Tasks that taught the bank, or that are among the reference runs, are left out and counted.
    """
    cards = load_bank(bank)[0]
    with ExitStack() as pools:
        pool = pools.enter_context(_pool(paths, options))
        reference_pool = pools.enter_context(_pool(reference, options)) if reference else None
        result = measure(pool, cards, reference_pool, Random(SEED))
    if as_json:
        print_json(result.as_json())
    else:
        _show(result, Console(highlight=False))


def _pool(paths: tuple[Path, ...], options: ReadOptions) -> Collection:
    with ExitStack() as opened:
        with reading(paths, options) as runs:
            pool = opened.enter_context(Collection(runs))
        complain(runs.problems, runs.problem_count, strict=options.strict)
        if not len(pool):
            raise nothing_read_error(runs.problems, runs.ignored)
        opened.pop_all()
    return pool


def _show(result: Foresight, console: Console) -> None:
    left_out = f" ({result.left_out:,} that taught the bank left out)" if result.left_out else ""
    console.print(f"{result.tasks:,} unseen tasks{left_out}, {result.pairs:,} pairs of a passing and a failing run.")
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("ordered by")
    table.add_column("correct", justify="right")
    shares = result.shares()
    for name in sorted(shares, key=lambda name: (name not in PARTS, name != OURS, -shares[name])):
        style = "bold green" if name == OURS else "dim" if name in (CONTROL, *PARTS) else ""
        cell = f"{shares[name]:.3f}" + (_between(result.interval) if name == OURS else "")
        table.add_row(name + (" (control: knows only which source ran)" if name == CONTROL else ""), cell, style=style)
    console.print(table)
    for difference in (result.best, result.memory):
        console.print(_difference(difference))
    if result.is_descriptive:
        console.print("[yellow]Fewer than 200 pairs: the figures describe these runs and prove nothing.[/]")


def _difference(difference: ForesightDifference) -> str:
    sure = difference.interval is not None and (difference.interval.low > 0 or difference.interval.high < 0)
    doubt = "" if sure else ": too few tasks to say which is better"
    return f"[bold]{difference.value:+.3f}[/]{_between(difference.interval)} against {difference.to}{doubt}."


def _between(interval: Interval | None) -> str:
    return "" if interval is None else rf" \[{interval.low:.3f}, {interval.high:.3f}]"
