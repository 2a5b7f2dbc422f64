"""`contramem serve`: the explorer, review in the browser and the HTTP API, by default on this machine only."""

from __future__ import annotations

import importlib.util
import logging
import signal
import sys
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import click

from contramem.cli.kit import print_json
from contramem.errors import ContramemError, UsageError

if TYPE_CHECKING:
    from contramem.inject.enforcement import Level
    from contramem.server.project import Project

WAIT_FOR_RUNS_S = 3.0
"""How long to wait for recorded runs before serving without those that are still being read."""
SCOPES = ("read", "guide", "record", "review", "admin")


@click.group(invoke_without_command=True)
@click.option("--bank", metavar="BANK", help="The bank to serve: SQLite path, PostgreSQL URL or a frozen file.")
@click.option("--runs", multiple=True, type=click.Path(path_type=Path, exists=True), metavar="PATH",
              help="Recorded runs to browse. May be repeated.")  # fmt: skip
@click.option("--log", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Inject log to show, and to append to when runs are guided.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8321, show_default=True, help="Port to listen on.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need --tokens.")
@click.option("--tokens", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Require a token from this file.")  # fmt: skip
@click.option("--project", "projects", multiple=True, metavar="NAME=STORE",
              help="Serve another bank, isolated, under /NAME/. May be repeated.")  # fmt: skip
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME",
              help="Host name that a reverse proxy serves this under; needs --tokens. May be repeated.")  # fmt: skip
@click.option("--show-values", is_flag=True, help="Show recorded values instead of placeholders (loopback only).")
@click.option("--state", type=click.Path(path_type=Path, file_okay=False, exists=True), metavar="DIR",
              help="Folder for live runs; by default beside the bank.")  # fmt: skip
@click.option("--rate", type=click.IntRange(1), default=60_000, show_default=True, metavar="N",
              help="Maximum requests per minute from one client.")  # fmt: skip
@click.option("--audit", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Append who changed what to this file.")  # fmt: skip
@click.option("--enforce", type=click.Choice(["off", "remind", "ask", "deny"]), default="remind", show_default=True,
              help="What a call that goes against a guard gets; `/stop` says so to agents.")  # fmt: skip
@click.option("--access-log", is_flag=True, help="Write one JSON line for each request to stderr.")
@click.pass_context
def serve(
    ctx: click.Context,
    bank: str | None,
    runs: tuple[Path, ...],
    log: Path | None,
    port: int,
    host: str,
    tokens: Path | None,
    projects: tuple[str, ...],
    hosts: tuple[str, ...],
    show_values: bool,
    state: Path | None,
    rate: int,
    audit: Path | None,
    enforce: Level,
    access_log: bool,
) -> None:
    """Browse a bank and its runs, review cards, and guide agents over HTTP."""
    if ctx.invoked_subcommand:
        return
    _check_installed()
    if bank is None:
        raise UsageError("name the bank with --bank BANK. `contramem build TRACES --bank STORE` makes one.")
    from contramem.server.options import DEFAULT_PROJECT, ProjectOptions, ServerOptions

    chosen = {DEFAULT_PROJECT: ProjectOptions(bank, runs, log, enforce)}
    chosen |= {name: ProjectOptions(store, enforce=enforce) for name, store in map(_project, projects)}
    options = ServerOptions(
        chosen, host, port, tokens, hosts, show_values, state, requests_per_minute=rate, audit=audit
    )  # fmt: skip
    if access_log:
        logging.basicConfig(level=logging.WARNING, format="%(message)s")
        logging.getLogger("contramem.server").setLevel(logging.INFO)
    _run(options)


def _run(options: object) -> None:
    import uvicorn

    from contramem.server.app import Server, make_app
    from contramem.server.connections import Connection
    from contramem.server.options import ServerOptions

    assert isinstance(options, ServerOptions)
    server = Server(options)
    # uvicorn re-raises the signal at its end. Without a handler, the process would exit before `close`.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        server.open()
        indexing = [Thread(target=_index_runs, args=(project,), daemon=True) for project in server.projects.values()]
        for thread in indexing:
            thread.start()
            thread.join(WAIT_FOR_RUNS_S)
        address = f"[{options.host}]" if ":" in options.host else options.host
        click.echo(f"Open http://{address}:{options.port}/ in a browser; Ctrl-C stops the server.", err=True)
        uvicorn.run(
            make_app(server), host=options.host, port=options.port, log_level="warning", access_log=False,
            server_header=False, timeout_graceful_shutdown=10, http=Connection, ws="none",
        )  # fmt: skip
    finally:
        server.close()


def _index_runs(project: Project) -> None:
    """Index recorded runs while the server already answers. Runs that cannot be read are reported but not fatal."""
    from contramem.collection.browse import Stopped

    try:
        count = project.index_runs()
    except Stopped:
        return
    except ContramemError as error:
        click.echo(f"contramem: {error}", err=True)
        count = project.runs.count
    bank = project.snapshot.bank
    cards = f"{len(bank.functions)} Function Cards, {len(bank.skills)} Skill Cards"
    click.echo(f"{project.name}: {cards}, {count:,} recorded runs", err=True)


def _project(text: str) -> tuple[str, str]:
    name, equals, store = text.partition("=")
    if not (equals and store and name.isidentifier()):
        raise UsageError(f"--project takes NAME=STORE, for example support=support.db; got {text!r}.")
    return name, store


def _check_installed() -> None:
    missing = [name for name in ("starlette", "uvicorn", "httptools") if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"the server needs {' and '.join(missing)}: pip install 'contramem[serve]'.")


_tokens = click.option("--tokens", required=True, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                       help="File of tokens; it holds only their hashes.")  # fmt: skip


@serve.group()
def token() -> None:
    """Add, list and revoke tokens. A server that is running obeys at once."""


@token.command("add")
@click.argument("name")
@_tokens
@click.option("--scopes", default="read", show_default=True, metavar="A,B",
              help=f"What it allows: {', '.join(SCOPES)}.")  # fmt: skip
@click.option("--only-project", metavar="NAME", help="Allow this project only.")
def add(name: str, tokens: Path, scopes: str, only_project: str | None) -> None:
    """Make a token for NAME and print it once. A token of the same name is replaced."""
    from contramem.server.tokens import SCOPES, add_token

    wanted = tuple(scope for scope in SCOPES if scope in scopes.split(","))
    if unknown := sorted({*scopes.split(",")} - {*wanted}):
        raise UsageError(f"--scopes: there is no scope {', '.join(unknown)}. Choose from {', '.join(SCOPES)}.")
    click.echo(add_token(tokens, name, wanted, only_project))
    print(f"{name}: {', '.join(wanted)}. Keep the token; {tokens} holds its hash only.", file=sys.stderr)


@token.command("list")
@_tokens
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_tokens(tokens: Path, as_json: bool) -> None:
    """Who has a token, with which scopes, in which project."""
    from contramem.server.tokens import read_tokens

    known = read_tokens(tokens)
    if as_json:
        print_json([{"name": token.name, "scopes": token.scopes, "project": token.project} for token in known])
        return
    for token in known:
        click.echo(f"{token.name}: {', '.join(token.scopes)} in {token.project or 'every project'}")
    if not known:
        click.echo(f"{tokens} has no tokens.", err=True)


@token.command()
@click.argument("name")
@_tokens
def revoke(name: str, tokens: Path) -> None:
    """Delete the token of NAME, and end the sessions opened with it."""
    from contramem.server.tokens import revoke_token

    revoke_token(tokens, name)
    click.echo(f"{name}: revoked.", err=True)
