"""`contramem query`, `kinds`, `runs`, `try` and `explain`: explore all runs, and test hypotheses."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console

from contramem.cli.output import print_json, progress
from contramem.cli.reading import how_to_read
from contramem.cli.sections import SectionedCommand
from contramem.cli.study_runs import no_cache_option, study_runs
from contramem.cli.study_view import show_answer, tell_cut
from contramem.errors import UsageError
from contramem.study.ask import DEFAULT_LOG, TrialRequest, explain_kind, list_kinds, try_on
from contramem.study.report_json import explanation_json, trial_json
from contramem.study.report_text import write_explanations, write_kinds, write_trial
from contramem.study.side_by_side import lay_side_by_side
from contramem.traces.reader import ReadOptions

_RUNS = click.argument("path", metavar="RUNS", type=click.Path(path_type=Path))


@click.command(cls=SectionedCommand)
@_RUNS
@click.argument("sql", metavar="SQL", required=False)
@how_to_read
@no_cache_option
@click.option("--schema", is_flag=True, help="Print the tables and their columns, and stop.")
@click.option("--json", "as_json", is_flag=True, help="Rows as JSON objects.")
def query(path: Path, sql: str | None, options: ReadOptions, no_cache: bool, schema: bool, as_json: bool) -> None:
    """Run SQL over RUNS as tables (DuckDB): functions, runs, calls, arguments, fields,
    messages, outcomes, kinds.

    The database can only be read and cannot touch the disk. Values are shown as recorded.
    """
    from contramem.study.tables import SCHEMA

    if schema or sql is None:
        if sql is None and not schema:
            raise UsageError("give a query, or --schema to see the tables.")
        print_json(SCHEMA) if as_json else click.echo(_schema_text(SCHEMA))
        return
    with study_runs((path,), options, no_cache) as study, progress() as tell, study.tables(tell) as tables:
        answer = tables.query(sql)
    if as_json:
        print_json([dict(zip(answer.columns, map(_plain, row), strict=True)) for row in answer.rows])
    else:
        show_answer(answer, Console())
    if answer.is_cut:
        click.echo(tell_cut(answer), err=True)


def _schema_text(schema: dict[str, dict[str, str]]) -> str:
    return "\n".join(
        f"{table}({', '.join(f'{c} {t}' for c, t in columns.items())})" for table, columns in schema.items()
    )


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, (bool, int, float, str, list, dict)) else str(value)


@click.command(cls=SectionedCommand)
@_RUNS
@how_to_read
@no_cache_option
@click.option("--json", "as_json", is_flag=True, help="Print all kinds with their tasks as JSON.")
def kinds(path: Path, options: ReadOptions, no_cache: bool, as_json: bool) -> None:
    """Group the tasks of RUNS into kinds (same functions, near wording), with pass rates by source."""
    with study_runs((path,), options, no_cache) as study:
        rows = list_kinds(study.run_set)
    if as_json:
        print_json([row._asdict() for row in rows])
    else:
        click.echo(write_kinds(rows))


@click.command(cls=SectionedCommand)
@_RUNS
@how_to_read
@no_cache_option
@click.option("--task", default="", metavar="T", help="Runs of this task.")
@click.option("--kind", default="", metavar="K", help="Runs of some tasks of this kind that passed and failed.")
@click.option("--all", "on_all", is_flag=True, help="Of a kind, also tasks of the half that is kept back.")
def runs(path: Path, options: ReadOptions, no_cache: bool, task: str, kind: str, on_all: bool) -> None:
    """Show what the runs of a task did, call by call, with arguments and results as recorded.

    Passing and failing runs stand side by side, runs that did the same together.
    """
    with study_runs((path,), options, no_cache) as study:
        click.echo(lay_side_by_side(study.run_set, task=task, kind=kind, on_all=on_all))


@click.command(name="try", cls=SectionedCommand)
@click.argument("guard", metavar="GUARD")
@_RUNS
@how_to_read
@no_cache_option
@click.option("--kind", metavar="K", help="Only tasks of this kind.")
@click.option("--confirm", is_flag=True, help="Hold the guard against the half of the tasks that is kept back.")
@click.option("--all", "on_all", is_flag=True, help="Use all tasks. Nothing can be confirmed on them afterwards.")
@click.option(
    "--trials", "log", default=DEFAULT_LOG, show_default=True, metavar="FILE", help="File that counts trials."
)
@click.option("--by", default="", metavar="NAME", help="Who tries; written to the trials.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def try_(
    guard: str,
    path: Path,
    options: ReadOptions,
    no_cache: bool,
    kind: str | None,
    confirm: bool,
    on_all: bool,
    log: str,
    by: str,
    as_json: bool,
) -> None:
    """Replay GUARD on RUNS: who kept and broke it, by outcome, kind and source, and what would sharpen it.

    One half of the tasks is kept back. --confirm holds the guard against it; each such look is counted, so that
    `proven` means the same however many guards were tried.
    """
    if confirm and on_all:
        raise UsageError("--confirm needs tasks that are kept back, and --all keeps none back. Choose one of the two.")
    request = TrialRequest(guard, kind, confirm, on_all, Path(log), by, datetime.now(UTC).isoformat(timespec="seconds"))
    with study_runs((path,), options, no_cache) as study:
        report = try_on(study.run_set, request)
    if as_json:
        print_json(trial_json(report))
    else:
        click.echo(write_trial(report))


@click.command(cls=SectionedCommand)
@_RUNS
@how_to_read
@no_cache_option
@click.option("--kind", metavar="K", help="Tasks of this kind.")
@click.option("--function", metavar="F", help="Tasks in which some run calls this function, whatever their kind.")
@click.option("--limit", type=click.IntRange(min=1), default=8, show_default=True, help="Differences per kind.")
@click.option("--all", "on_all", is_flag=True, help="Use all tasks. Nothing can be confirmed on them afterwards.")
@click.option("--weak", is_flag=True, help="Also show hints that are mostly accidents.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, weak hints included.")
def explain(
    path: Path,
    options: ReadOptions,
    no_cache: bool,
    kind: str | None,
    function: str | None,
    limit: int,
    on_all: bool,
    weak: bool,
    as_json: bool,
) -> None:
    """Rank what separates passing from failing runs of a kind of task, each as a guard to try.

    Without --kind and --function every kind is explained, largest first.
    """
    with study_runs((path,), options, no_cache) as study:
        reports = explain_kind(study.run_set, kind=kind, function=function, limit=limit, on_all=on_all)
    if as_json:
        print_json([explanation_json(report) for report in reports])
    else:
        click.echo(write_explanations(reports, with_weak=weak))
