"""The command line: each command parses its options, calls one library function and prints the result."""

from __future__ import annotations

import gc
import importlib
import signal
import sys
from collections.abc import Callable
from functools import cache
from io import TextIOWrapper
from threading import current_thread, main_thread
from typing import Any, NamedTuple

import click

from contramem.cli.kit import help_all_option, shows_all
from contramem.errors import ContramemError, nearest

OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""With Python's default of 700, a tenth of the time of a build goes to looking for garbage, and hardly any is found."""


class Place(NamedTuple):
    """Where a command is, what it does, and whether `--help` lists it."""

    where: str
    summary: str
    is_listed: bool = True


# Commands are imported on use, so that `contramem traces` does not load what `contramem guide` needs; their summaries
# are repeated here, so that `contramem --help` imports none.
COMMANDS = {
    "doctor": Place(
        "traces:doctor", "Say what files hold, what is doubtful or missing, and which command to run next."
    ),
    "contrast": Place("contrast:contrast", "Put runs of one task side by side and show what separates them."),
    "build": Place("build:build", "Learn cards from runs and write the bank that agents load."),
    "cards": Place("cards:cards", "List, show, review, undo, freeze and export the cards of a bank."),
    "guide": Place("guide:guide", "Show what an agent would be told for a task."),
    "connect": Place("connect:connect", "Connect a bank to Claude Code, Codex, an MCP client or an agent framework."),
    "serve": Place("serve:serve", "Browse a bank and its runs, review cards, and guide agents over HTTP."),
    "evaluate": Place("evaluate:evaluate", "Compare runs with and without memory, paired by task."),
    "author": Place("author:author", "Write cards yourself or with a coding agent, tested on all runs."),
    "bank": Place("bank:bank", "Count, compare, import, copy, check and erase: a bank as a whole.", False),
    "traces": Place("traces:traces", "Read runs in any supported format and summarize them.", False),
    "convert": Place("traces:convert", "Write runs in contramem's own format.", False),
    "watch": Place("watch:watch", "Learn from runs as they appear, and serve each bank that passes the gate.", False),
    "monitor": Place("monitor:monitor", "Replay a run and show which obligations it left open.", False),
    "hook": Place("connect:hook", "What Claude Code and Codex call; `connect hook` sets it up.", False),
    "mcp": Place("connect:mcp", "What MCP clients call: a bank over standard input and output.", False),
}

# Commands of other packages, as entry points of this group.
PLUGINS = "contramem.commands"

# Old names of commands. They go with 0.2.0.
RENAMED = {
    "experiment": "lab experiment",
    "bench": "lab bench",
    "foresight": "lab foresight",
    "evaluate conditions": "lab conditions",
    "bank cards": "cards list",
    "bank card": "cards show",
    **{f"bank {name}": f"cards {name}" for name in ("review", "history", "revert", "freeze", "export")},
    "bank propose": "author propose",
    **{name: f"author {name}" for name in ("kinds", "runs", "query", "try", "explain")},
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

    def __init__(self, places: dict[str, Place], package: str, **settings: Any) -> None:
        super().__init__(**settings)
        self.places = places
        self._package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.places)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.places:
            return super().get_command(ctx, name)
        module, _, attribute = self.places[name].where.partition(":")
        command: click.Command = getattr(importlib.import_module(f"{self._package}.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(self.summaries(lambda place: place.is_listed))
        if more := self.summaries(lambda place: not place.is_listed) if shows_all(ctx) else ():
            with formatter.section("More commands"):
                formatter.write_dl(more)

    def summaries(self, is_wanted: Callable[[Place], bool]) -> list[tuple[str, str]]:
        return [(name, place.summary) for name, place in self.places.items() if is_wanted(place)]


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
                break
        return super().resolve_command(ctx, args)

    def summaries(self, is_wanted: Callable[[Place], bool]) -> list[tuple[str, str]]:
        added = {name: Place("", plugin.get_short_help_str(limit=200)) for name, plugin in sorted(_plugins().items())}
        return [(name, place.summary) for name, place in (self.places | added).items() if is_wanted(place)]


@cache
def _plugins() -> dict[str, click.Command]:
    """Commands of other packages. Looking for them takes 20 ms, so no command of ours does."""
    from importlib.metadata import entry_points

    return {point.name: point.load() for point in entry_points(group=PLUGINS)}


@click.group(
    cls=Commands,
    places=COMMANDS,
    package=__name__,
    params=[help_all_option()],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(package_name="contramem", prog_name="contramem")
def cli() -> None:
    """Procedural memory for agents, learned from contrasting runs.

    Begin with doctor, then contrast, then build.
    """


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
