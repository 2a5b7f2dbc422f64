"""`contramem hook`: guidance for Claude Code and Codex, through the hooks that both have."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from contramem.inject.hook_install import Client, InstalledHook

PROFILE = "Retrieval profile; by default the one stored in the bank."
LOG = "Append what is shown to this inject log."
RECORD = "Record sessions in this file, as runs that `contramem build` reads."


class NeverInTheWay(click.Group):
    """A wrong option is a line on standard error, not exit 2: Claude Code and Codex take 2 as an order to stop."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            click.echo(f"contramem hook: {error.format_message()}", err=True)
            ctx.exit(0)


@click.group(cls=NeverInTheWay, invoke_without_command=True)
@click.option("--bank", metavar="BANK", help="Frozen bank, or a SQLite store.")
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="Folder for session state.")
@click.option("--profile", metavar="P", help=PROFILE)
@click.option("--log", type=click.Path(path_type=Path, dir_okay=False), help=LOG)
@click.option("--record", type=click.Path(path_type=Path, dir_okay=False), help=RECORD)
@click.option("--batches", is_flag=True, help="The client reports the end of each batch of calls (PostToolBatch).")
@click.pass_context
def hook(
    ctx: click.Context,
    bank: str | None,
    state: Path | None,
    profile: str | None,
    log: Path | None,
    record: Path | None,
    batches: bool,
) -> None:
    """Answer a hook event of Claude Code or Codex (JSON on standard input).

    A prompt gets the cards that fit it; the first call of a function that has a card is held and gets the card.
    Whatever goes wrong, the agent goes on: one line on standard error, exit 0.
    """
    if ctx.invoked_subcommand:
        return
    from contramem.inject.hook import Hook, complain, serve

    if not bank:
        click.echo("contramem hook: name the bank with --bank.", err=True)
        return
    try:
        serve(Hook(bank, state, profile, log, batches, record), sys.stdin.read())
    except Exception as error:
        complain(error)


@hook.command()
@click.option("--client", required=True, type=click.Choice(["claude-code", "codex"]), help="Whose settings to write.")
@click.option(
    "--bank", type=click.Path(path_type=Path), default=Path("bank.jsonl"), show_default=True, help="Bank to use."
)
@click.option(
    "--project",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    help="Project whose settings to change (default: the current folder). Use your home folder for all projects.",
)
@click.option("--profile", metavar="P", help=PROFILE)
@click.option("--log", type=click.Path(path_type=Path, dir_okay=False), help=LOG)
@click.option("--record", type=click.Path(path_type=Path, dir_okay=False), help=RECORD)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def install(
    client: Client,
    bank: Path,
    project: Path,
    profile: str | None,
    log: Path | None,
    record: Path | None,
    as_json: bool,
) -> None:
    """Register the hook with Claude Code or Codex, leaving other hooks and settings alone."""
    from contramem.inject import hook_install
    from contramem.inject.loaded_bank import bank_at
    from contramem.retrieve.profiles import profile_named

    cards = bank_at(str(bank)).functions
    if profile:
        profile_named(profile)
    files = {"--log": log, "--record": record}
    options = {"--profile": profile} | {name: str(path.resolve()) if path else None for name, path in files.items()}
    command = hook_install.hook_command(client, bank, options)
    path = hook_install.settings_path(client, project)
    events = {**hook_install.EVENTS[client], **(hook_install.RECORDED if record else {})}
    done = hook_install.install(path, command, events)
    if as_json:
        click.echo(json.dumps({"path": str(done.path), "command": done.command, "changes": done.changes}, indent=2))
    else:
        _tell(client, done, len(cards))


def _tell(client: Client, done: InstalledHook, functions: int) -> None:
    click.echo(str(done.path))
    for event, change in done.changes.items():
        click.echo(f"  {event}: {change}")
    click.echo(f"  runs {done.command}")
    click.echo(
        f"The bank has cards for {functions} function(s); tools are matched by name (mcp__App__function or function)."
    )
    if client == "codex":
        click.echo(
            "Codex skips a hook until you trust it: open /hooks there now, and again whenever this command changes it."
        )
