"""The command line: each command parses its options, calls one library function and prints the result."""

from __future__ import annotations

import gc
import importlib
import signal
import sys
from functools import cache
from io import TextIOWrapper
from threading import current_thread, main_thread
from typing import Any

import click

from contramem.errors import ContramemError, nearest

OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""With Python's default of 700, a tenth of the time of a build goes to looking for garbage, and hardly any is found."""

# Commands are imported on use, so that `contramem traces` does not load what `contramem guide` needs.
COMMANDS = {
    "traces": "contramem.cli.traces:traces",
    "doctor": "contramem.cli.traces:doctor",
    "convert": "contramem.cli.traces:convert",
    "contrast": "contramem.cli.contrast:contrast",
    "kinds": "contramem.cli.author:kinds",
    "runs": "contramem.cli.author:runs",
    "query": "contramem.cli.author:query",
    "try": "contramem.cli.author:try_",
    "explain": "contramem.cli.author:explain",
    "author": "contramem.cli.mcp:author",
    "build": "contramem.cli.build:build",
    "watch": "contramem.cli.watch:watch",
    "bank": "contramem.cli.bank:bank",
    "guide": "contramem.cli.guide:guide",
    "monitor": "contramem.cli.monitor:monitor",
    "hook": "contramem.cli.hook:hook",
    "mcp": "contramem.cli.mcp:mcp",
    "serve": "contramem.cli.serve:serve",
    "evaluate": "contramem.cli.evaluate:evaluate",
}

# Repeated here, so that `contramem --help` does not have to import all commands.
SUMMARIES = {
    "traces": "Read runs in any supported format and summarize them.",
    "doctor": "Say what files hold, what is missing, and which command to run next.",
    "convert": "Write runs in contramem's own format.",
    "contrast": "Put runs of one task side by side and show what separates them.",
    "kinds": "Group tasks of one kind, with pass rates by source.",
    "runs": "Show what passing and failing runs of a task did, values and all.",
    "query": "Ask all runs in SQL.",
    "try": "Test a guard on all runs, and confirm it on tasks kept back.",
    "explain": "Rank what separates passing from failing runs of a kind.",
    "author": "Make your coding agent the author of a bank.",
    "build": "Learn cards from runs and add them to a bank.",
    "watch": "Learn from runs as they appear, and serve each bank that passes the gate.",
    "bank": "Look at a bank, review it, freeze it, export it.",
    "guide": "Show what an agent would be told for a task.",
    "monitor": "Replay a run and show which obligations it left open.",
    "hook": "Guide Claude Code and Codex through their hooks.",
    "mcp": "Serve a bank over the Model Context Protocol.",
    "serve": "Browse a bank and its runs, review cards, and guide agents over HTTP.",
    "evaluate": "Compare runs with and without memory, paired by task.",
}


# Commands of other packages, as entry points of this group.
PLUGINS = "contramem.commands"

# Old names of commands. They go with 0.2.0.
RENAMED = {
    "experiment": "lab experiment",
    "bench": "lab bench",
    "foresight": "lab foresight",
    "evaluate conditions": "lab conditions",
}


class Group(click.Group):
    """A group that suggests the closest command for a typo, and shows summaries in full."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"No such command {args[0]!r}{nearest(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(limit=200)) for name, command in commands if command])


class LazyGroup(Group):
    """A group that imports a command only when it is used."""

    def __init__(self, places: dict[str, str], summaries: dict[str, str], **settings: Any) -> None:
        super().__init__(**settings)
        self._places = places
        self._summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._places)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._places:
            return None
        module, _, attribute = self._places[name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries.items()))


class Commands(LazyGroup):
    """Our commands, and after them those that other packages add."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *sorted(_plugins())]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return super().get_command(ctx, name) or _plugins().get(name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        for old, new in RENAMED.items():
            words = old.split()
            if args[: len(words)] == words:
                click.echo(f"`contramem {old}` is now `contramem {new}`. The old name goes with 0.2.0.", err=True)
                args = [*new.split(), *args[len(words) :]]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        added = {name: command.get_short_help_str(limit=200) for name, command in sorted(_plugins().items())}
        with formatter.section("Commands"):
            formatter.write_dl(list((self._summaries | added).items()))


@cache
def _plugins() -> dict[str, click.Command]:
    """Commands of other packages. Looking for them takes 20 ms, so no command of ours does."""
    from importlib.metadata import entry_points

    return {point.name: point.load() for point in entry_points(group=PLUGINS)}


@click.group(
    cls=Commands,
    places=COMMANDS,
    summaries=SUMMARIES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(package_name="contramem", prog_name="contramem")
def cli() -> None:
    """Procedural memory for agents, learned from contrasting runs."""


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line. A ContramemError ends in one line and exit code 1; a bug keeps its traceback."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 20, 20)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower() not in ("utf-8", "utf8"):
            # An encoding without ✓ gets a question mark instead of a traceback.
            stream.reconfigure(errors="replace")
    if current_thread() is main_thread():
        # By default the process would end on the spot, and leave its temporary folders behind.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return cli.main(arguments, prog_name="contramem", standalone_mode=True)
    except ContramemError as error:
        click.echo(f"contramem: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:  # `contramem traces ... | head`
        sys.stderr.close()
        sys.exit(1)
