"""The commands of authors without a model: `kinds`, `runs`, `query`, `try`, `explain` and `bank propose`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from contramem.bank.store import open_store
from contramem.cli.kit import SectionedCommand, print_json, progress
from contramem.cli.reading import collect_runs, how_to_read
from contramem.cli.review import by_option
from contramem.errors import UsageError
from contramem.study.ask import DEFAULT_LOG, TrialRequest, explain_kind, list_kinds, try_on
from contramem.study.proposal import Proposal, read_proposals
from contramem.study.propose import Proposer, propose
from contramem.study.report_json import explanation_json, trial_json
from contramem.study.report_text import write_explanations, write_kinds, write_reply, write_trial
from contramem.study.run_cache import FOLDER, Study, open_study
from contramem.study.side_by_side import lay_side_by_side
from contramem.study.tables import QueryAnswer
from contramem.study.trial_log import TrialLog
from contramem.traces.reader import ReadOptions

if TYPE_CHECKING:
    pass


no_cache_option = click.option(
    "--no-cache", is_flag=True, help=f"Read RUNS again and store nothing in {FOLDER} (used for large sets)."
)


@contextmanager
def study_runs(paths: tuple[Path, ...], options: ReadOptions, no_cache: bool = False) -> Iterator[Study]:
    """Open the runs under `paths` for a study."""
    with progress() as tell:
        study = open_study(
            paths,
            options,
            lambda: collect_runs(paths, options),
            cache=None if no_cache else FOLDER,
            on_progress=tell,
        )
        with study as opened:
            yield opened


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


MAX_CELL = 80


def show_answer(answer: QueryAnswer, console: Console) -> None:
    """A table as wide as a terminal; elsewhere one line a row, with cells whole and between tabs, for programs and
    agents to read."""
    if not console.is_terminal:
        console.file.writelines(f"{line}\n" for line in _list_lines(answer))
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in answer.columns:
        table.add_column(column, overflow="fold")
    for row in answer.rows:
        table.add_row(*("" if value is None else str(value)[:MAX_CELL] for value in row))
    console.print(table)


def _list_lines(answer: QueryAnswer) -> Iterator[str]:
    yield "\t".join(answer.columns)
    for row in answer.rows:
        yield "\t".join("" if value is None else " ".join(str(value).split()) for value in row)


def tell_cut(answer: QueryAnswer) -> str:
    """That rows are missing, and what to do about it."""
    shown = len(answer.rows)
    return (
        f"Only the first {shown:,} rows are shown, and there are more. Count or group them, or ask for the next with "
        f"ORDER BY ... LIMIT {shown} OFFSET {shown}."
    )


@click.command(name="propose", cls=SectionedCommand)
@click.argument("where", metavar="STORE")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@by_option
@click.option(
    "--runs", "paths", multiple=True, required=True, type=click.Path(path_type=Path), help="Runs to check on."
)
@how_to_read
@click.option(
    "--trials", "log", default=DEFAULT_LOG, show_default=True, metavar="FILE", help="File that counts trials."
)
@click.option("--yes", is_flag=True, help="Apply suggested edits of existing cards without asking.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def propose_command(
    where: str,
    file: Path,
    name: str,
    paths: tuple[Path, ...],
    options: ReadOptions,
    log: str,
    yes: bool,
    as_json: bool,
) -> None:
    """Check the cards of FILE (text, YAML or JSON) on --runs and bring them into STORE.

    Each card is checked (form, guards on all runs, private values, planted text) and compared with its neighbours in
    the bank. Duplicates, wider and narrower cards are edited after confirmation. Every decision is in the ledger.
    """
    proposals = read_proposals(file)
    needs_tables = any(isinstance(proposal, Proposal) and proposal.check for proposal in proposals)
    with ExitStack() as stack:
        study = stack.enter_context(study_runs(paths, options))
        tables = stack.enter_context(study.tables()) if needs_tables else None
        store = stack.enter_context(open_store(where, create=True))
        author = Proposer(name, study.run_set, TrialLog(Path(log), study.run_set.digest), tables)
        replies = propose(proposals, store, author, lambda question: yes or _ask(question))
    if as_json:
        print_json([vars(reply) for reply in replies])
    else:
        for reply in replies:
            click.echo(write_reply(reply))
    if not any(reply.fate == "accepted" for reply in replies):
        waiting = sum(reply.fate == "waiting" for reply in replies)
        rest = f" {waiting} wait for confirmation; --yes carries them out." if waiting else ""
        raise UsageError(f"none of {len(replies)} cards was accepted.{rest}")


def _ask(question: str) -> bool:
    """Ask the user. False without a terminal, so that the edit waits."""
    return sys.stdin.isatty() and click.confirm(question, err=True)
