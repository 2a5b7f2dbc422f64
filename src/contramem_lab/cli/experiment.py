"""`contramem lab experiment`: runs the experiment defined in a file, and shows its results."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec
from rich.console import Console

from contramem.cli import Group
from contramem.cli.kit import print_json, progress
from contramem.errors import UsageError
from contramem.evaluate.report import ReportTable, number
from contramem.evaluate.report.table import Row
from contramem_lab.config import load_experiment
from contramem_lab.experiment import RunForecast, State, foresee, out_folder, run_experiment, state_of
from contramem_lab.jobs import StoppedError, open_folder
from contramem_lab.report import foresight_table, headline, target_table, targets
from contramem_lab.results import Results

_OUT = click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Results; default results/NAME.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(cls=Group)
def experiment() -> None:
    """Split, build memories, run targets, compare, report: from one file, and resumable."""


@experiment.command("run")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@_OUT
@click.option("--dry-run", is_flag=True, help="Say what would run; run and write nothing.")
@_JSON
def run_command(file: Path, out: Path | None, dry_run: bool, as_json: bool) -> None:
    """Run the experiment that FILE.toml describes. Run it again to continue where it stopped."""
    loaded = load_experiment(file)
    where = out_folder(loaded, out)
    if dry_run:
        _show_plan(foresee(loaded, where), where, as_json)
        return
    try:
        with progress() as tell:
            results = run_experiment(loaded, where, tell)
    except StoppedError as stopped:
        again = f"contramem lab experiment run {file}" + (f" --out {out}" if out else "")
        done = f"{stopped.done} runs were done just now, {stopped.left} are left; all that is done is kept in {where}"
        if stopped.cause is not None:
            raise UsageError(f"{stopped.cause} {done}. Continue with: {again}") from None
        raise UsageError(f"stopped. {done}. Continue with: {again}") from None
    if as_json:
        print_json(results.as_json())
    else:
        _show(results, where, loaded.config.about)


@experiment.command("show")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@_JSON
def show_command(folder: Path, as_json: bool) -> None:
    """Show the progress of the experiment in DIR and its results."""
    state = state_of(open_folder(folder))
    if as_json:
        print_json(msgspec.to_builtins(state))
        return
    _show_state(state, folder)


@experiment.command("report")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@_JSON
def report_command(folder: Path, as_json: bool) -> None:
    """Print the paper's tables for the finished experiment in DIR. Its report.html has the figures too."""
    open_folder(folder)
    path = folder / "paper.md"
    if not path.exists():
        raise UsageError(
            f"{folder}: there is nothing to report yet. `contramem lab experiment run` ends with the report."
        )
    if as_json:
        print_json(
            {table.stem: table.read_text(encoding="utf-8") for table in sorted(folder.glob("tables/paper-*.csv"))}
        )
    else:
        click.echo(path.read_text(encoding="utf-8"))


def _show_plan(forecast: RunForecast, where: Path, as_json: bool) -> None:
    if as_json:
        print_json({"dry_run": True, "out": str(where), **msgspec.to_builtins(forecast)})
        return
    console = Console(highlight=False)
    for number_, fold in enumerate(forecast.split["folds"], 1):
        sides = (f"{len(fold['reference'])} reference tasks", f"{len(fold['held_out'])} held out")
        console.print(f"Fold {number_}: {', '.join(sides)}, by {forecast.split['by']}, seed {forecast.split['seed']}.")
    console.print(f"Memories: {', '.join(forecast.memories) or 'none'}. No held-out task is among what teaches.")
    rows: list[Row] = [
        [row.what, row.target, number(row.runs), number(row.done), number(row.calls), number(row.cost_usd, 2)]
        for row in forecast.rows
    ]
    header = ("Runs", "Target", "All", "Done", "Calls, at most", "USD, at most")
    if rows:
        console.print(ReportTable("Plan", header, rows, align="llrrrr").as_rich())
    console.print(f"Nothing was run or written. Results would go to {where}.")


def _show(results: Results, where: Path, about: str) -> None:
    console = Console(highlight=False)
    if about:
        console.print(about, markup=False)
    for target in targets(results):
        console.print(f"[bold]{target}[/], {_tasks(results, target)}:")
        console.print(target_table(results, target).as_rich())
    if results.foresight:
        console.print(foresight_table(results).as_rich())
    for reason in results.not_made:
        console.print(f"[yellow]not made:[/] {reason}")
    for note in results.notes:
        click.secho(note, err=True, fg="yellow")
    console.print(headline(results))
    console.print(f"[dim]Report: {where / 'report.html'}   Runs: {where / 'runs'}[/]")


def _tasks(results: Results, target: str) -> str:
    compared = next(iter(results.comparisons.get(target, {}).values()), None)
    return f"{compared.tasks} tasks" if compared else "nothing to compare"


def _show_state(state: State, folder: Path) -> None:
    console = Console(highlight=False)
    console.print(
        f"{state.name}: {state.finished}; {state.reference_tasks} reference tasks, {state.held_out_tasks} held out."
    )
    rows: list[Row] = [[cell.condition, cell.target, number(cell.runs), number(cell.passed)] for cell in state.runs]
    if rows:
        console.print(ReportTable("Runs", ("Condition", "Target", "Runs", "Passed"), rows, align="llrr").as_rich())
    if state.report is not None:
        console.print((folder / "report.md").read_text(encoding="utf-8").split("\n")[2], markup=False)
        console.print(f"[dim]Report: {state.report}[/]")
