"""`contramem bank propose`: checks cards that somebody wrote against runs, and adds them to a store."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from contramem.bank.store import open_store
from contramem.cli.output import print_json
from contramem.cli.reading import how_to_read
from contramem.cli.review import by_option
from contramem.cli.sections import SectionedCommand
from contramem.cli.study_runs import study_runs
from contramem.errors import UsageError
from contramem.study.ask import DEFAULT_LOG
from contramem.study.proposal import Proposal, read_proposals
from contramem.study.propose import Proposer, propose
from contramem.study.report_text import write_reply
from contramem.study.trial_log import TrialLog
from contramem.traces.reader import ReadOptions


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
