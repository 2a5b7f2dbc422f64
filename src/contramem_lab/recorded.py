"""`contramem lab conditions|foresight`: what memories know about recorded runs. Nothing is run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import click

from contramem.cli.engine_options import workers_option
from contramem.cli.kit import Report, command, make_table, progress
from contramem.cli.models import ModelOptions, few_model_options
from contramem.cli.reading import collect_runs, reading_options
from contramem.errors import UsageError
from contramem.traces.reader import ReadOptions

_FILE, _FOLDER = click.Path(path_type=Path, dir_okay=False), click.Path(path_type=Path, file_okay=False)
_AT_LEAST_1 = click.IntRange(1)


@command()
@reading_options
@workers_option
@few_model_options
def conditions(
    paths: tuple[Path, ...], options: ReadOptions, workers: int | None, by_model: ModelOptions | None, *,
    sources: Annotated[str | None, "Use only runs of these sources.", "A,B"] = None,
    target: Annotated[
        str | None, "Source whose own runs `self` and `multi-rollout` learn from; by default the median source.",
        "SOURCE",
    ] = None,
    conditions: Annotated[str | None, "Only these; an unknown name lists them all.", "A,B"] = None,
    seed: Annotated[int, "Random seed of the first split.", "N"] = 0,
    splits: Annotated[int, "How many random splits to average over.", "N", _AT_LEAST_1] = 1,
    work: Annotated[Path | None, "Folder to keep the stores in.", "DIR", _FOLDER] = None,
    html: Annotated[Path | None, "Write a report as a web page.", "FILE", _FILE] = None,
    markdown: Annotated[Path | None, "Write the tables as Markdown.", "FILE", _FILE] = None,
    latex: Annotated[Path | None, "Write the tables as LaTeX.", "FILE", _FILE] = None,
) -> Report:  # fmt: skip
    """Build every kind of memory from the runs under PATH... and measure each on tasks it has not seen.

    Tasks are split into two halves; no template, id or wording appears in both.
    """
    from contramem.engine import LocalEngine, count_processors
    from contramem.evaluate.report import Manifest, inputs_of, write_html, write_text
    from contramem_lab.conditions import CONDITIONS, pick_conditions
    from contramem_lab.measure import MeasurementPlan, as_json, measure, page, write_tables

    chosen = pick_conditions(conditions) if conditions else list(CONDITIONS.values())
    if by_model is not None and work is None:
        raise UsageError("--model: say with --work DIR where replies are kept, so that none is paid for twice.")
    with LocalEngine(workers or count_processors()) as engine, _work(work) as folder, _by_model(by_model) as model:
        with collect_runs(paths, options, sources, engine=engine) as pool:
            tasks = list(pool)
        with progress() as tell:
            table = measure(tasks, MeasurementPlan(chosen, folder, seed, splits, target, model), tell, engine)
    tables = write_tables(table)
    if html is not None:
        ran = shlex.join(["contramem", *sys.argv[1:]])
        write_html(page(table, Manifest(ran, inputs_of("runs", paths), seed)), html)
    if markdown is not None:
        write_text("\n".join(each.as_markdown() for each in tables), markdown)
    if latex is not None:
        write_text("\n".join(each.as_latex() for each in tables), latex)
    parts: list[Any] = [part for each in tables for part in (each.title, each.as_rich(), *each.notes, "")]
    return Report(as_json(table), parts)


@contextmanager
def _work(work: Path | None) -> Iterator[Path]:
    """The folder for stores: `--work`, or a temporary one."""
    from contramem.scratch import ScratchFolder

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
def _by_model(options: ModelOptions | None) -> Iterator[Any]:
    from contramem.cli.models import open_caller
    from contramem_lab.condition import ByModel

    if options is None:
        yield None
        return
    with open_caller(options) as caller:
        yield ByModel(options.choice, caller)


@command()
@reading_options
def foresight(
    paths: tuple[Path, ...], options: ReadOptions, *,
    bank: Annotated[str, "Frozen bank, or a store.", "BANK"],
    reference: Annotated[
        tuple[Path, ...],
        "Runs the bank was built from: used to weigh the guards and to compute more baselines. May be repeated.",
        "PATH",
    ] = (),
) -> Report:  # fmt: skip
    """Rank the passing and failing runs of each unseen task under PATH... by the guards of BANK.

    Tasks that taught the bank, or that are among the reference runs, are left out and counted.
    """
    from contextlib import ExitStack
    from random import Random

    from contramem.bank.frozen import load_bank
    from contramem_lab.foresight import foresight as order_runs

    cards = load_bank(bank)[0]
    with ExitStack() as opened:
        runs = opened.enter_context(collect_runs(paths, options))
        known = opened.enter_context(collect_runs(reference, options)) if reference else None
        found = order_runs(runs, cards, known, Random(0))
    return Report(found, _show_foresight(found))


def _show_foresight(found: Any) -> Iterator[Any]:
    from contramem_lab.foresight import CONTROL, OURS, PARTS

    left_out = f" ({found.left_out:,} that taught the bank left out)" if found.left_out else ""
    yield f"{found.tasks:,} unseen tasks{left_out}, {found.pairs:,} pairs of a passing and a failing run."
    shares = found.shares()
    yield make_table([
        {
            "ordered by": name + (" (control: knows only which source ran)" if name == CONTROL else ""),
            "correct": f"{shares[name]:.3f}{_between(found.interval) if name == OURS else ''}",
        }
        for name in sorted(shares, key=lambda name: (name not in PARTS, name != OURS, -shares[name]))
    ])  # fmt: skip
    for difference in (found.best, found.memory):
        sure = difference.interval is not None and (difference.interval.low > 0 or difference.interval.high < 0)
        doubt = "" if sure else ": too few tasks to say which is better"
        yield f"{difference.value:+.3f}{_between(difference.interval)} against {difference.to}{doubt}."
    if found.is_descriptive:
        yield "Fewer than 200 pairs: the figures describe these runs and prove nothing."


def _between(interval: Any) -> str:
    return "" if interval is None else f" [{interval.low:.3f}, {interval.high:.3f}]"
