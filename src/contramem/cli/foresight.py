"""`contramem foresight`: on unseen tasks, do a bank's guards tell failing runs from passing ones?"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from random import Random

import click
from rich.console import Console
from rich.table import Table

from contramem.bank.locate import load_bank
from contramem.cli.output import print_json
from contramem.cli.reading import complain, nothing_read, reading, reading_options
from contramem.evaluate.baselines import CONTROL
from contramem.evaluate.foresight import OURS, PARTS, Foresight, ForesightDifference
from contramem.evaluate.foresight import foresight as measure
from contramem.evaluate.stats import Interval
from contramem.traces.pool import Pool
from contramem.traces.reader import ReadOptions

SEED = 0


@click.command()
@reading_options
@click.option("--bank", required=True, metavar="BANK", help="Frozen bank, or a store.")
@click.option(
    "--reference", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
    help="Runs the bank was built from: they weigh the guards, and more baselines can be had. May be repeated.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print every figure as JSON.")
def foresight(
    paths: tuple[Path, ...], options: ReadOptions, bank: str, reference: tuple[Path, ...], as_json: bool
) -> None:
    """Order the passing and failing runs of each unseen task under PATH... by the guards of BANK.

    Tasks that taught the bank, or that are among the reference runs, are left out and counted.
    """
    cards = load_bank(bank)[0]
    with ExitStack() as pools:
        pool = pools.enter_context(_pool(paths, options))
        known = pools.enter_context(_pool(reference, options)) if reference else None
        found = measure(pool, cards, known, Random(SEED))
    if as_json:
        print_json(found.as_json())
    else:
        _show(found, Console(highlight=False))


def _pool(paths: tuple[Path, ...], options: ReadOptions) -> Pool:
    with reading(paths, options) as runs:
        pool = Pool(runs)
    complain(runs.problems, runs.problem_count)
    if not len(pool):
        raise nothing_read(runs.problems, runs.ignored)
    return pool


def _show(found: Foresight, console: Console) -> None:
    left_out = f" ({found.left_out:,} that had taught the bank left out)" if found.left_out else ""
    console.print(f"{found.tasks:,} unseen tasks{left_out}, {found.pairs:,} pairs of a passing and a failing run.")
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("ordered by")
    table.add_column("rightly", justify="right")
    shares = found.shares()
    for name in sorted(shares, key=lambda name: (name not in PARTS, name != OURS, -shares[name])):
        style = "bold green" if name == OURS else "dim" if name in (CONTROL, *PARTS) else ""
        told = f"{shares[name]:.3f}" + (_between(found.interval) if name == OURS else "")
        table.add_row(name + (" (control: sees only who ran)" if name == CONTROL else ""), told, style=style)
    console.print(table)
    for one in (found.best, found.memory):
        console.print(_difference(one))
    if found.is_descriptive:
        console.print("[yellow]Fewer than 200 pairs: the figures describe these runs and prove nothing.[/]")


def _difference(one: ForesightDifference) -> str:
    sure = one.interval is not None and (one.interval.low > 0 or one.interval.high < 0)
    told = "" if sure else ": these tasks do not tell which is better"
    return f"[bold]{one.value:+.3f}[/]{_between(one.interval)} against {one.to}{told}."


def _between(interval: Interval | None) -> str:
    return "" if interval is None else rf" \[{interval.low:.3f}, {interval.high:.3f}]"
