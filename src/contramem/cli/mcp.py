"""`contramem mcp` and `contramem author`: a bank, or the instruments of an author, over MCP."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from contramem.cli import Group
from contramem.errors import UsageError
from contramem.study.install import STARTS, AuthorClient, install_author

if TYPE_CHECKING:
    from contramem.study.instruments import Instruments


@click.command()
@click.option("--bank", required=True, metavar="BANK", help="Frozen bank, or a store (used as if frozen now).")
@click.option("--profile", metavar="P", help="Retrieval profile; by default the one stored in the bank.")
@click.option("--log", metavar="FILE", help="Append what is shown to this inject log.")
@click.option("--record", metavar="FILE", help="Record runs in this file, as traces that `contramem build` reads.")
@click.option("--redact", is_flag=True, help="With --record: write no values of tasks, arguments and results.")
@click.option("--author", "runs", metavar="RUNS", help="Serve the instruments of an author over RUNS instead.")
@click.option("--by", default="agent", show_default=True, metavar="NAME", help="With --author: who proposes.")
def mcp(
    bank: str, profile: str | None, log: str | None, record: str | None, redact: bool, runs: str | None, by: str
) -> None:
    """Serve BANK to an MCP client over standard input and output: guidance for a task, cards of functions.

    With --author, serve the instruments to learn from RUNS and to propose cards to BANK, which has to be a store.
    """
    if runs is not None:
        return serve_author(runs, bank, by)
    try:
        from contramem.inject.mcp_server import server
    except ImportError as error:
        raise UsageError("the MCP server needs the mcp package: pip install 'contramem[mcp]'.") from error
    from contramem.inject.loaded_bank import bank_at
    from contramem.inject.recording import RunRecording
    from contramem.inject.run import Memory

    recording = RunRecording(record, redact=redact) if record else None
    return server(Memory(bank_at(bank), log=log, record=recording), profile).run()


@click.group(cls=Group)
def author() -> None:
    """Make your coding agent the author of a bank."""


@author.command()
@click.argument("client", type=click.Choice(get_args(AuthorClient)))
@click.option("--runs", required=True, type=click.Path(path_type=Path, exists=True), help="Runs to learn from.")
@click.option("--bank", "store", required=True, metavar="STORE", help="Store that cards are proposed to.")
@click.option(
    "--project", type=click.Path(path_type=Path), default=Path(), help="Folder of the project; here by default."
)
def install(client: AuthorClient, runs: Path, store: str, project: Path) -> None:
    """Write the skill and the MCP server for CLIENT into a project. Then say to it: learn from these runs."""
    try:
        from contramem.study.instruments import read_skill
    except ImportError as error:
        raise UsageError("the author's tools need the mcp package: pip install 'contramem[author]'.") from error
    where = store if "://" in store else str(Path(store).resolve())
    installed = install_author(client, project, read_skill(), runs, where)
    click.echo(f"skill: {installed.skill}\nserver: {installed.server}\n{STARTS[client]}")


def serve_author(runs: str, store: str, name: str) -> None:
    """Serve until the client disconnects. The runs are read once, when the first tool is called."""
    try:
        from contramem.study.mcp_author import author_server, open_instruments
    except ImportError as error:
        raise UsageError("the MCP server needs the mcp package: pip install 'contramem[author]'.") from error
    from contramem.bank.locate import store_only
    from contramem.cli.author import study_runs
    from contramem.study.ask import DEFAULT_LOG
    from contramem.traces.reader import ReadOptions

    path, where = Path(runs), store_only(store) if Path(store).exists() else store
    if not path.exists():
        raise UsageError(f"--author {runs}: there is nothing here.")
    with ExitStack() as stack:

        def open_late() -> Instruments:
            study = stack.enter_context(study_runs((path,), ReadOptions()))
            tables = stack.enter_context(study.tables())
            return open_instruments(study.run_set, tables, where, name, Path(DEFAULT_LOG))

        author_server(open_late).run()
