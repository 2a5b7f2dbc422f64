"""`contramem connect`: a bank for Claude Code and Codex (hooks), MCP clients, and agent frameworks."""

from __future__ import annotations

import ast
import importlib.util
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from contramem.cli import Group
from contramem.errors import UsageError

if TYPE_CHECKING:
    from contramem.inject.enforcement import Level
    from contramem.inject.hook.install import Client, InstalledHook
    from contramem.inject.hook.place import HookHold

PROFILE = "Retrieval profile; by default the one stored in the bank."
LOG = "Append what is shown to this inject log."
RECORD = "Record sessions in this file, as runs that `contramem build` reads."
HOLD = (
    "Where calls that would do harm are held, and what is open is asked for before the end: in sessions that a person "
    "attends (the default), in those of `claude -p` too (always), or never. `claude -p` may end at a --max-turns that "
    "hooks are not told of."
)
HOLDS = click.option("--hold", type=click.Choice(["attended", "always", "never"]), default="attended", help=HOLD)
ENFORCE = click.option(
    "--enforce", type=click.Choice(["off", "remind", "ask", "deny"]), default="remind",
    help="What happens to a call that goes against a guard: nothing, the agent is reminded once (the default), the "
    "person is asked, or it is refused. Only guards that `contramem evaluate guards --save` found to stop hardly any "
    "passing run are refused.",
)  # fmt: skip
CLIENTS = click.Choice(["claude-code", "codex"])
PROJECT = click.option(
    "--project",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    help="Project whose settings to change (default: the current folder). Use your home folder for all projects.",
)


class NeverInTheWay(click.Group):
    """Reports a wrong option on standard error and exits 0: Claude Code and Codex treat exit code 2 as a block."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            click.echo(f"contramem hook: {error.format_message()}", err=True)
            ctx.exit(0)


@click.group(cls=NeverInTheWay, invoke_without_command=True)
@click.option("--bank", metavar="BANK", help="Frozen bank, or a SQLite store.")
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="Where the hook keeps its files.")
@click.option("--profile", metavar="P", help=PROFILE)
@click.option("--log", type=click.Path(path_type=Path, dir_okay=False), help=LOG)
@click.option("--record", type=click.Path(path_type=Path, dir_okay=False), help=RECORD)
@HOLDS
@ENFORCE
@click.option("--batches", is_flag=True, hidden=True, help="Written by older installs.")
@click.pass_context
def hook(
    ctx: click.Context,
    bank: str | None,
    state: Path | None,
    profile: str | None,
    log: Path | None,
    record: Path | None,
    hold: HookHold,
    enforce: Level,
    batches: bool,
) -> None:
    """Answer a hook event of Claude Code or Codex (JSON on standard input).

    A prompt gets the cards that fit it; a call is held only if it would do harm (see --hold). Whatever fails, the agent
    continues: exit 0, and one message to the user.
    """
    if ctx.invoked_subcommand:
        return
    from contramem.inject.hook.__main__ import complain, serve
    from contramem.inject.hook.client import read_message
    from contramem.inject.hook.place import HookOptions

    if not bank:
        click.echo("contramem hook: name the bank with --bank.", err=True)
        return
    try:
        serve(HookOptions(bank, state, profile, log, record, hold, enforce), read_message())
    except Exception as error:
        complain(error)


@hook.command()
@click.option("--client", required=True, type=CLIENTS, help="Whose settings to write.")
@click.option(
    "--bank", type=click.Path(path_type=Path), default=Path("bank.jsonl"), show_default=True, help="Bank to use."
)
@PROJECT
@click.option(
    "--shared",
    is_flag=True,
    help="Write .claude/settings.json, which teams commit, without any path of this machine. By default it is "
    ".claude/settings.local.json.",
)
@click.option("--profile", metavar="P", help=PROFILE)
@click.option("--log", type=click.Path(path_type=Path, dir_okay=False), help=LOG)
@click.option("--record", type=click.Path(path_type=Path, dir_okay=False), help=RECORD)
@HOLDS
@ENFORCE
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def install(
    client: Client,
    bank: Path,
    project: Path,
    shared: bool,
    profile: str | None,
    log: Path | None,
    record: Path | None,
    hold: HookHold,
    enforce: Level,
    as_json: bool,
) -> None:
    """Register the hook with Claude Code or Codex, leaving other hooks and settings alone."""
    from contramem.inject.hook import install as hook_install
    from contramem.inject.loaded_bank import bank_at
    from contramem.retrieve.profiles import profile_named

    cards = bank_at(str(bank)).functions
    if profile:
        profile_named(profile)
    if shared and client == "codex":
        raise UsageError("Codex has one settings file and no variable for the project: --shared is for claude-code.")
    files = {"--log": log, "--record": record}
    paths = {name: str(path if shared else path.resolve()) for name, path in files.items() if path}
    chosen = {"--hold": None if hold == "attended" else hold, "--enforce": None if enforce == "remind" else enforce}
    options = {"--profile": profile, **paths, **chosen}
    command = (
        hook_install.shared_command(bank, project, options) if shared else hook_install.hook_command(bank, options)
    )
    if client == "claude-code":  # keep it in only one of the two files, or it would run twice
        hook_install.uninstall(hook_install.settings_path(client, project, not shared))
    path = hook_install.settings_path(client, project, shared)
    done = hook_install.install(path, command, hook_install.EVENTS[client])
    if as_json:
        click.echo(json.dumps({"path": str(done.path), "command": done.command, "changes": done.changes}, indent=2))
    else:
        _print_install(client, done, len(cards))


def _print_install(client: Client, done: InstalledHook, functions: int) -> None:
    click.echo(str(done.path))
    for event, change in done.changes.items():
        click.echo(f"  {event}: {change}")
    click.echo(f"  runs {done.command}")
    click.echo(
        f"The bank has cards for {functions} function(s). Tools are matched by name (mcp__App__function, function), "
        "shell commands by their program."
    )
    if client == "codex":
        click.echo("Codex skips a hook without a word until you trust it: open /hooks there, and again after a change.")


@hook.command()
@click.option("--client", required=True, type=CLIENTS, help="Whose settings to change.")
@PROJECT
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def uninstall(client: Client, project: Path, as_json: bool) -> None:
    """Take the hook out of the settings of Claude Code or Codex; everything else in them stays."""
    from contramem.inject.hook import install as hook_install

    changes = {path: hook_install.uninstall(path) for path in _paths(client, project)}
    if as_json:
        click.echo(json.dumps({str(path): removed for path, removed in changes.items() if removed}, indent=2))
        return
    for path, removed in changes.items():
        click.echo(f"{path}: {', '.join(removed) + ' removed' if removed else 'nothing of contramem'}")


@hook.command()
@PROJECT
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(project: Path, as_json: bool) -> None:
    """Say whether the hook is installed here, whether it works, and why it might silently do nothing.

    Exits with 1 if an installed hook does not work.
    """
    setups = [setup for client in ("claude-code", "codex") for setup in _setups(client, project)]
    if as_json:
        click.echo(json.dumps(setups, indent=2))
    else:
        _print_setups(setups, project)
    if any(setup["problem"] or setup["missing"] or setup["untrusted"] for setup in setups):
        raise SystemExit(1)


def _print_setups(setups: list[dict[str, Any]], project: Path) -> None:
    if not setups:
        click.echo(f"No hook of contramem is installed in {project.resolve()}. `contramem hook install` does it.")
    for setup in setups:
        click.echo(f"{setup['client']}: {setup['path']}")
        click.echo(f"  events: {', '.join(setup['events'])}")
        if setup["missing"]:
            click.echo(f"  not installed for: {', '.join(setup['missing'])}. Install it again.")
        click.echo(f"  {setup['problem'] or setup['bank']}")
        if setup["untrusted"]:
            events = ", ".join(setup["untrusted"])
            click.echo(f"  skipped: Codex does not trust the hook for {events}. Trust it in Codex with /hooks.")
        elif setup["client"] == "codex":
            click.echo("  Codex was told to trust it. If the hook was changed since then, look at /hooks there.")


def _paths(client: str, project: Path) -> list[Path]:
    from contramem.inject.hook.install import settings_path

    if client == "codex":
        return [settings_path("codex", project)]
    return [settings_path("claude-code", project, shared) for shared in (False, True)]


def _setups(client: Any, project: Path) -> list[dict[str, Any]]:
    from contramem.inject.hook.codex_trust import find_untrusted
    from contramem.inject.hook.install import EVENTS, find_installed_commands

    setups = []
    for path in _paths(client, project):
        commands = find_installed_commands(path)
        if commands:
            bank, problem = _check(next(iter(commands.values())), project)
            missing = [event for event in EVENTS[client] if event not in commands]
            setup = {"client": client, "path": str(path), "events": list(commands), "missing": missing}
            untrusted = find_untrusted(path, commands) if client == "codex" else []
            setups.append(setup | {"bank": bank, "problem": problem, "untrusted": untrusted})
    return setups


def _check(command: str, project: Path) -> tuple[str, str]:
    """A description of the bank of a hook command, and what is wrong with it. One of the two is empty."""
    from contramem.errors import ContramemError
    from contramem.inject.loaded_bank import bank_at
    from contramem.inject.switch import OFF, is_switched_off

    words = shlex.split(command.replace("$CLAUDE_PROJECT_DIR", str(project.resolve())))
    where = words[words.index("--bank") + 1] if "--bank" in words[:-1] else ""
    python = words[0] if words and words[0].startswith("/") else ""
    if python and not Path(python).exists():
        return "", f"broken: {python} is not there any more. Install the hook again."
    try:
        bank = bank_at(where)
    except ContramemError as error:
        return "", f"broken: {error}"
    if is_switched_off():
        return "", f"off: {OFF} is set."
    return f"works: {where}, {len(bank.skills)} Skill Cards, {len(bank.functions)} Function Cards.", ""


# MCP


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
        from contramem.cli.author import serve_author

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


# Frameworks

FRAMEWORKS = (
    "pydantic-ai", "langchain", "openai-agents", "inspect-ai", "claude-agent-sdk", "google-adk", "strands",
    "smolagents", "autogen", "crewai", "llama-index", "wrapper",
)  # fmt: skip
"""Names of the adapters; `wrapper` is for a loop of your own."""
_EXTRAS = {"inspect-ai": "contramem[inspect]", "wrapper": "contramem"}


@click.group(cls=Group)
def connect() -> None:
    """Connect a bank to an agent: hooks, MCP, or a few lines of Python."""


@connect.command()
@click.argument("name", type=click.Choice(FRAMEWORKS))
@click.option("--bank", default="bank.jsonl", show_default=True, metavar="BANK", help="Bank to load.")
def framework(name: str, bank: str) -> None:
    """Print what a framework needs: the package, the lines to add, and what counts as a run."""
    module = f"contramem.inject.adapters.{name.replace('-', '_')}"
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None, module
    usage = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))  # without the framework itself
    click.echo(f"pip install '{_EXTRAS.get(name, f'contramem[{name}]')}'\n")
    click.echo("from contramem import Memory")
    click.echo(f"from {module} import ...\n")
    click.echo(f"memory = Memory.load({bank!r})\n\n{usage}\n\nWhole examples: docs/integrations.md")


connect.add_command(hook)
connect.add_command(mcp)
