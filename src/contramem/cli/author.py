"""`contramem author`: make a coding agent the author of a bank."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from contramem.cli import Group
from contramem.errors import UsageError
from contramem.study.install import STARTS, AuthorClient, install_author


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
