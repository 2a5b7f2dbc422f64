"""`contramem author`: what whoever writes cards needs. Kinds of tasks, runs, SQL, guards to try, proposals."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from rich.console import Console
from rich.table import Table

from contramem.bank.store import open_store
from contramem.cli import Group
from contramem.cli.cards import By, StorePath, sign
from contramem.cli.kit import Report, command, progress
from contramem.cli.reading import collect_runs, how_to_read
from contramem.errors import UsageError
from contramem.study.ask import DEFAULT_LOG, TrialRequest, explain_kind, list_kinds, try_on
from contramem.study.install import STARTS, AuthorClient, install_author
from contramem.study.proposal import Proposal, read_proposals
from contramem.study.propose import Proposer, propose
from contramem.study.report_json import explanation_json, trial_json
from contramem.study.report_text import write_explanations, write_kinds, write_reply, write_trial
from contramem.study.run_cache import FOLDER, Study, open_study
from contramem.study.side_by_side import lay_side_by_side
from contramem.study.tables import SCHEMA, QueryAnswer
from contramem.study.trial_log import TrialLog
from contramem.traces.reader import ReadOptions

if TYPE_CHECKING:
    from contramem.study.instruments import Instruments

Runs = Annotated[Path, None, "RUNS"]
NoCache = Annotated[bool, f"Read RUNS again and store nothing in {FOLDER} (used for large sets)."]
EveryTask = Annotated[bool, "Use all tasks. Nothing can be confirmed on them afterwards."]
TrialFile = Annotated[str, "File that counts trials.", "FILE"]


@click.group(cls=Group)
def author() -> None:
    """Write cards: look at all runs, test a supposition on them, propose what holds."""


@contextmanager
def study_runs(paths: tuple[Path, ...], options: ReadOptions, no_cache: bool = False) -> Iterator[Study]:
    """Open the runs under `paths` for a study."""
    cache = None if no_cache else FOLDER
    with (
        progress() as tell,
        open_study(paths, options, lambda: collect_runs(paths, options), cache=cache, on_progress=tell) as study,
    ):
        yield study


@command(author)
@how_to_read
def kinds(path: Runs, *, no_cache: NoCache = False, options: ReadOptions) -> Report:
    """Group the tasks of RUNS into kinds (same functions, near wording), with pass rates by source."""
    with study_runs((path,), options, no_cache) as study:
        rows = list_kinds(study.run_set)
    return Report([row._asdict() for row in rows], [write_kinds(rows)])


@command(author)
@how_to_read
def runs(
    path: Runs,
    *,
    task: Annotated[str, "Runs of this task.", "T"] = "",
    kind: Annotated[str, "Runs of some tasks of this kind that passed and failed.", "K"] = "",
    all_: Annotated[bool, "Of a kind, also tasks of the half that is kept back."] = False,
    no_cache: NoCache = False,
    options: ReadOptions,
) -> None:
    """Show what the runs of a task did, call by call, with arguments and results as recorded.

    Passing and failing runs stand side by side, runs that did the same together.
    """
    with study_runs((path,), options, no_cache) as study:
        click.echo(lay_side_by_side(study.run_set, task=task, kind=kind, on_all=all_))


@command(author)
@how_to_read
def query(
    path: Runs,
    sql: Annotated[str | None, None, "SQL"] = None,
    *,
    schema: Annotated[bool, "Print the tables and their columns, and stop."] = False,
    no_cache: NoCache = False,
    options: ReadOptions,
) -> Report:
    """Run SQL over RUNS as tables (DuckDB): functions, runs, calls, arguments, fields,
    messages, outcomes, kinds.

    The database can only be read and cannot touch the disk. Values are shown as recorded.
    """
    if schema or sql is None:
        if sql is None and not schema:
            raise UsageError("give a query, or --schema to see the tables.")
        columns = {table: ", ".join(f"{name} {kind}" for name, kind in of.items()) for table, of in SCHEMA.items()}
        return Report(SCHEMA, [f"{table}({listed})" for table, listed in columns.items()])
    with study_runs((path,), options, no_cache) as study, progress() as tell, study.tables(tell) as tables:
        answer = tables.query(sql)
    if answer.is_cut:
        click.echo(tell_cut(answer), err=True)
    rows = [dict(zip(answer.columns, map(_plain, row), strict=True)) for row in answer.rows]
    return Report(rows, lay_out(answer, is_terminal=Console().is_terminal))


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, (bool, int, float, str, list, dict)) else str(value)


MAX_CELL = 80


def lay_out(answer: QueryAnswer, *, is_terminal: bool) -> Iterator[str | Table]:
    """A table as wide as a terminal; elsewhere one line a row, with cells whole and between tabs, for programs and
    agents to read."""
    if not is_terminal:
        yield "\t".join(answer.columns)
        yield from (
            "\t".join("" if cell is None else " ".join(str(cell).split()) for cell in row) for row in answer.rows
        )
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in answer.columns:
        table.add_column(column, overflow="fold")
    for row in answer.rows:
        table.add_row(*("" if value is None else str(value)[:MAX_CELL] for value in row))
    yield table


def tell_cut(answer: QueryAnswer) -> str:
    """That rows are missing, and what to do about it."""
    shown = len(answer.rows)
    return (
        f"Only the first {shown:,} rows are shown, and there are more. Count or group them, or ask for the next with "
        f"ORDER BY ... LIMIT {shown} OFFSET {shown}."
    )


@command(author, name="try")
@how_to_read
def try_(
    guard: Annotated[str, None, "GUARD"],
    path: Runs,
    *,
    kind: Annotated[str | None, "Only tasks of this kind.", "K"] = None,
    confirm: Annotated[bool, "Hold the guard against the half of the tasks that is kept back."] = False,
    all_: EveryTask = False,
    trials: TrialFile = DEFAULT_LOG,
    by: Annotated[str, "Who tries; written to the trials.", "NAME"] = "",
    no_cache: NoCache = False,
    options: ReadOptions,
) -> Report:
    """Replay GUARD on RUNS: who kept and broke it, by outcome, kind and source, and what would sharpen it.

    One half of the tasks is kept back. --confirm holds the guard against it; each such look is counted, so that
    `proven` means the same however many guards were tried.
    """
    if confirm and all_:
        raise UsageError("--confirm needs tasks that are kept back, and --all keeps none back. Choose one of the two.")
    at = datetime.now(UTC).isoformat(timespec="seconds")
    with study_runs((path,), options, no_cache) as study:
        report = try_on(study.run_set, TrialRequest(guard, kind, confirm, all_, Path(trials), by, at))
    return Report(trial_json(report), [write_trial(report)])


@command(author)
@how_to_read
def explain(
    path: Runs,
    *,
    kind: Annotated[str | None, "Tasks of this kind.", "K"] = None,
    function: Annotated[str | None, "Tasks in which some run calls this function, whatever their kind.", "F"] = None,
    limit: Annotated[int, "Differences per kind.", None, click.IntRange(1)] = 8,
    all_: EveryTask = False,
    weak: Annotated[bool, "Also show hints that are mostly accidents."] = False,
    no_cache: NoCache = False,
    options: ReadOptions,
) -> Report:
    """Rank what separates passing from failing runs of a kind of task, each as a guard to try.

    Without --kind and --function every kind is explained, largest first.
    """
    with study_runs((path,), options, no_cache) as study:
        reports = explain_kind(study.run_set, kind=kind, function=function, limit=limit, on_all=all_)
    return Report([explanation_json(report) for report in reports], [write_explanations(reports, with_weak=weak)])


@command(author, name="propose")
@how_to_read
def propose_cards(
    where: StorePath,
    file: Annotated[Path, None, None, click.Path(path_type=Path, dir_okay=False)],
    *,
    runs: Annotated[tuple[Path, ...], "Runs to check on."],
    by: By = "",
    trials: TrialFile = DEFAULT_LOG,
    yes: Annotated[bool, "Apply suggested edits of existing cards without asking."] = False,
    options: ReadOptions,
) -> Report:
    """Check the cards of FILE (text, YAML or JSON) on --runs and bring them into STORE.

    Each card is checked (form, guards on all runs, private values, planted text) and compared with its neighbours in
    the bank. Duplicates, wider and narrower cards are edited after confirmation. Every decision is in the ledger.
    """
    proposals = read_proposals(file)
    needs_tables = any(isinstance(proposal, Proposal) and proposal.check for proposal in proposals)
    with ExitStack() as stack:
        study = stack.enter_context(study_runs(runs, options))
        tables = stack.enter_context(study.tables()) if needs_tables else None
        store = stack.enter_context(open_store(where, create=True))
        proposer = Proposer(sign(by).name, study.run_set, TrialLog(Path(trials), study.run_set.digest), tables)
        replies = propose(proposals, store, proposer, lambda question: yes or _ask(question))
    report = Report([vars(reply) for reply in replies], [write_reply(reply) for reply in replies])
    if not any(reply.fate == "accepted" for reply in replies):
        waiting = sum(reply.fate == "waiting" for reply in replies)
        rest = f" {waiting} wait for confirmation; --yes carries them out." if waiting else ""
        click.echo(f"contramem: none of {len(replies)} cards was accepted.{rest}", err=True)
        return report._replace(failed=True)
    return report


def _ask(question: str) -> bool:
    """Ask the user. False without a terminal, so that the edit waits."""
    return sys.stdin.isatty() and click.confirm(question, err=True)


@command(author)
def install(
    client: AuthorClient,
    *,
    runs: Annotated[Path, "Runs to learn from.", None, click.Path(path_type=Path, exists=True)],
    bank: Annotated[str, "Store that cards are proposed to.", "STORE"],
    project: Annotated[Path, "Folder of the project; here by default."] = Path(),
) -> None:
    """Write the skill and the MCP server for CLIENT into a project. Then say to it: learn from these runs."""
    try:
        from contramem.study.instruments import read_skill
    except ImportError as error:
        raise UsageError("the author's tools need the mcp package: pip install 'contramem[author]'.") from error
    where = bank if "://" in bank else str(Path(bank).resolve())
    installed = install_author(client, project, read_skill(), runs, where)
    click.echo(f"skill: {installed.skill}\nserver: {installed.server}\n{STARTS[client]}")


def serve_author(runs: str, store: str, name: str) -> None:
    """Serve until the client disconnects. The runs are read once, when the first tool is called."""
    try:
        from contramem.study.mcp_author import author_server, open_instruments
    except ImportError as error:
        raise UsageError("the MCP server needs the mcp package: pip install 'contramem[author]'.") from error
    from contramem.bank.frozen import store_only

    path, where = Path(runs), store_only(store) if Path(store).exists() else store
    if not path.exists():
        raise UsageError(f"--author {runs}: there is nothing here.")
    with ExitStack() as stack:

        def open_late() -> Instruments:
            study = stack.enter_context(study_runs((path,), ReadOptions()))
            tables = stack.enter_context(study.tables())
            return open_instruments(study.run_set, tables, where, name, Path(DEFAULT_LOG))

        author_server(open_late).run()
