"""`contramem lab conditions`: compares ways to build a memory from the same recorded runs. Needs no key."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from contramem.cli.engine_options import workers_option
from contramem.cli.kit import SectionedCommand, print_json, progress
from contramem.cli.models import ModelOptions, few_model_options, open_caller
from contramem.cli.reading import collect_runs, reading_options
from contramem.engine import LocalEngine, count_processors
from contramem.errors import UsageError
from contramem.evaluate.report import Manifest, inputs_of, write_html, write_text
from contramem.scratch import ScratchFolder
from contramem.traces.reader import ReadOptions
from contramem_lab.condition import ByModel
from contramem_lab.conditions import CONDITIONS, pick_conditions
from contramem_lab.measure import MeasurementPlan, as_json, measure, page, write_tables

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("conditions", cls=SectionedCommand)
@reading_options
@click.option("--sources", metavar="A,B", help="Use only runs of these sources.")
@click.option(
    "--target",
    metavar="SOURCE",
    help="Source whose own runs `self` and `multi-rollout` learn from; by default the median source.",
)
@click.option("--conditions", "names", metavar="A,B", help=f"Only these: {', '.join(CONDITIONS)}.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Random seed of the first split.")
@click.option(
    "--splits",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many random splits to average over.",
)
@click.option(
    "--work", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Folder to keep the stores in."
)
@workers_option
@few_model_options
@click.option("--html", type=_FILE, metavar="FILE", help="Write a report as a web page.")
@click.option("--markdown", type=_FILE, metavar="FILE", help="Write the tables as Markdown.")
@click.option("--latex", type=_FILE, metavar="FILE", help="Write the tables as LaTeX.")
@click.option("--json", "as_json_", is_flag=True, help="Print every figure as JSON.")
def conditions(
    paths: tuple[Path, ...],
    options: ReadOptions,
    sources: str | None,
    target: str | None,
    names: str | None,
    seed: int,
    splits: int,
    work: Path | None,
    workers: int | None,
    by_model: ModelOptions | None,
    html: Path | None,
    markdown: Path | None,
    latex: Path | None,
    as_json_: bool,
) -> None:
    """Build every kind of memory from the runs under PATH... and measure each on tasks it has not seen.

    Tasks are split into two halves; no template, id or wording appears in both.
    """
    chosen = pick_conditions(names) if names else list(CONDITIONS.values())
    if by_model is not None and work is None:
        raise UsageError("--model: say with --work DIR where replies are kept, so that none is paid for twice.")
    with LocalEngine(workers or count_processors()) as engine, _folder(work) as folder, _model(by_model) as model:
        with collect_runs(paths, options, sources, engine=engine) as pool:
            tasks = list(pool)
        with progress() as tell:
            table = measure(tasks, MeasurementPlan(chosen, folder, seed, splits, target, model), tell, engine)
    tables = write_tables(table)
    if html is not None:
        command = shlex.join(["contramem", *sys.argv[1:]])
        write_html(page(table, Manifest(command, inputs_of("runs", paths), seed)), html)
    for file, texts in (
        (markdown, (written_table.as_markdown() for written_table in tables)),
        (latex, (written_table.as_latex() for written_table in tables)),
    ):
        if file is not None:
            write_text("\n".join(texts), file)
    if as_json_:
        print_json(as_json(table))
        return
    console = Console(highlight=False)
    for written_table in tables:
        console.print(written_table.title, style="bold")
        console.print(written_table.as_rich())
        for note in written_table.notes:
            console.print(note, style="dim", markup=False)
        console.print()


@contextmanager
def _folder(work: Path | None) -> Iterator[Path]:
    """The folder for stores: `--work`, or a temporary one."""
    if work is None:
        with ScratchFolder("conditions") as folder:
            yield folder
        return
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--work {work}: cannot be made ({error.strerror}).") from error
    yield work


@contextmanager
def _model(options: ModelOptions | None) -> Iterator[ByModel | None]:
    if options is None:
        yield None
        return
    with open_caller(options) as caller:
        yield ByModel(options.choice, caller)
