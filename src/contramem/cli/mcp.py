"""`contramem mcp`: serves a bank over MCP."""

from __future__ import annotations

import click

from contramem.errors import UsageError


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
        from contramem.cli.author_server import serve_author

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
