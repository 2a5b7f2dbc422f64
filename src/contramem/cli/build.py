"""`contramem build`: from runs to a bank, with a progress bar and a summary of what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from contramem.bank.bank import Bank
from contramem.bank.locate import is_url
from contramem.bank.quorum import hold_to_quorum
from contramem.bank.store import open_store
from contramem.bank.support import GRADES, Grade
from contramem.build.author import Author, Only
from contramem.build.deltas import DeltasFrom
from contramem.build.reassess import DEFAULT_GRADE
from contramem.build.recorder import BuildReport
from contramem.build.rules.author import RuleAuthor, find_candidates
from contramem.build.thin import ThinBank, explain_thin
from contramem.cli.build_summary import show_summary, summary_as_json
from contramem.cli.build_thin import show_thin, thin_json
from contramem.cli.engine_options import EngineChoice, engine_options
from contramem.cli.model_options import ModelOptions, model_options
from contramem.cli.output import print_json
from contramem.cli.reading import reading_options
from contramem.cli.sections import SectionedCommand
from contramem.cli.selected_runs import Choice, SelectedRuns, check_free, select_runs
from contramem.contrast.packet import Packet
from contramem.contrast.selection import MAX_TASKS
from contramem.contrast.vocabulary import Vocabulary
from contramem.errors import UsageError
from contramem.pipeline import build_bank
from contramem.study.ask import DEFAULT_LOG
from contramem.traces.reader import ReadOptions
from contramem.validate.validator import Validator


@click.command(cls=SectionedCommand)
@reading_options
@click.option(
    "--bank", "where", required=True, metavar="STORE", help="SQLite path or PostgreSQL URL; created if missing."
)
@click.option("--sources", metavar="A,B", help="Learn only from runs of these sources.")
@click.option("--only", type=click.Choice(["functions", "skills"]), help="Build only these cards.")
@click.option("--rollouts", type=click.IntRange(1), metavar="N", help="At most N runs of a task by each source.")
@click.option(
    "--grade",
    type=click.Choice(GRADES),
    default=DEFAULT_GRADE,
    show_default=True,
    help="The lowest grade at which a rule is kept: enforced (a tool refuses otherwise), proven (more than chance "
    "explains) or observed (no run contradicts it).",
)
@click.option(
    "--min-sources",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="Serve only cards that runs of at least N sources show; others are kept muted until they do.",
)
@click.option("--no-reassess", is_flag=True, help="Keep cards as curation left them, without a check on all runs.")
@click.option("--append-only", is_flag=True, help="Add every delta as its own card, with no curation (a baseline).")
@click.option(
    "--deltas-from", metavar="STORE", help="Reuse the deltas recorded in STORE's ledger instead of reflecting again."
)
@click.option(
    "--author",
    type=click.Choice(["rules", "agent"]),
    help="Who writes the cards: rules (the default without --model), or with --model an agent that looks at all runs "
    "and tests its hypotheses before it proposes a card.",
)
@click.option("--trials", "log", metavar="FILE", help=f"With --author agent: file that counts trials ({DEFAULT_LOG}).")
@click.option(
    "--max-tasks",
    type=click.IntRange(1),
    default=MAX_TASKS,
    show_default=True,
    metavar="N",
    help="Learn from at most N tasks of each ability, drawn evenly from groups that call the same functions.",
)
@engine_options
@model_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def build(
    paths: tuple[Path, ...],
    options: ReadOptions,
    where: str,
    sources: str | None,
    only: Only | None,
    rollouts: int | None,
    append_only: bool,
    grade: Grade,
    min_sources: int,
    no_reassess: bool,
    deltas_from: str | None,
    author: str | None,
    log: str | None,
    max_tasks: int,
    engine_choice: EngineChoice,
    by_model: ModelOptions | None,
    as_json: bool,
) -> None:
    """Learn cards from the runs under PATH... and add them to a bank.

    Without --model this needs no key and no network.
    """
    choice = Choice(sources, only, rollouts, append_only, not no_reassess, max_tasks, min_sources)
    _check(choice, where, deltas_from)
    if author == "agent":
        if append_only or deltas_from is not None or only == "functions":
            raise UsageError(
                "--author agent writes Skill Cards by proposing them, so it cannot be combined with --append-only, "
                "--deltas-from or --only functions."
            )
        # Here and below: imported on use, because a build by rules does not wait for what only a model needs.
        from contramem.cli.build_with_model import build_by_agent

        build_by_agent(paths, options, where, choice, by_model, engine_choice, Path(log or DEFAULT_LOG), as_json)
        return
    if log is not None:
        raise UsageError("--trials needs --author agent.")
    if by_model is not None:
        if author is not None or deltas_from is not None:
            raise UsageError(
                "--model writes the cards itself, so it cannot be combined with --author or --deltas-from."
            )
        from contramem.cli.build_with_model import build_by_model

        build_by_model(paths, options, where, choice, by_model, engine_choice, as_json)
        return
    _build_by_rules(paths, options, where, choice, engine_choice, grade, deltas_from, as_json)


def _check(choice: Choice, where: str, deltas_from: str | None) -> None:
    """Refuse conflicting options before anything is read or created."""
    if choice.only == "functions" and (choice.append_only or not choice.reassesses or deltas_from is not None):
        raise UsageError(
            "--append-only, --no-reassess and --deltas-from are about skills: drop them, or drop --only functions."
        )
    if deltas_from is None:
        return
    open_store(deltas_from).close()
    if deltas_from == where or (not is_url(where) and Path(where).resolve() == Path(deltas_from).resolve()):
        raise UsageError(f"--deltas-from {deltas_from} is the bank itself. Give --bank a different store.")


def _build_by_rules(
    paths: tuple[Path, ...],
    options: ReadOptions,
    where: str,
    choice: Choice,
    engine_choice: EngineChoice,
    grade: Grade,
    deltas_from: str | None,
    as_json: bool,
) -> None:
    check_free(where)
    reflects = deltas_from is None and choice.only != "functions"
    with select_runs(paths, options, choice, engine_choice, find_candidates if reflects else None) as runs:
        writer = _author(runs.vocabulary, deltas_from, runs.packets)
        with open_store(where, create=True) as store:
            report = build_bank(
                runs.packets,
                store,
                writer,
                Validator(runs.vocabulary.closed),
                only=choice.only,
                append_only=choice.append_only,
                grade=grade,
                reassesses=choice.reassesses,
                tools=runs.tools,
                left_out=runs.selection.keys_left_out,
                on_progress=runs.tell,
            )
            bank = hold_to_quorum(store, choice.min_sources)
        thin = _explain_thin(report, bank, runs, choice)
    if as_json:
        described = {"thin": thin_json(thin, paths, where)} if thin else {}
        print_json(summary_as_json(report, bank, runs.selection) | described)
        return
    show_summary(report, bank, runs.selection, where)
    if thin:
        show_thin(thin, paths, where)


def _explain_thin(report: BuildReport, bank: Bank, runs: SelectedRuns, choice: Choice) -> ThinBank | None:
    """Why there are few Skill Cards. None if the runs were learned from before, or no Skill Cards were wanted."""
    if choice.only == "functions" or report.unchanged:
        return None
    return explain_thin(runs.selection, runs.packets, len(bank.skills), report.deltas, report.retired)


def _author(vocabulary: Vocabulary, deltas_from: str | None, packets: Sequence[Packet]) -> Author:
    rules = RuleAuthor(vocabulary)
    if deltas_from is None:
        return rules
    with open_store(deltas_from) as other:
        author = DeltasFrom(other.ledger(), rules, deltas_from)
    author.check(packets)
    return author
