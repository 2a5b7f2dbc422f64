"""`contramem lab door`: be the agent, the user or the judge of a benchmark, from a shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import click

from contramem.cli import Group
from contramem.errors import UsageError
from contramem_lab.door import Ask, Door, Role
from contramem_lab.target import ToolCall

_FOLDER = click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
_KEY = click.argument("key")
_WAIT = click.option("--wait", "wait_s", type=float, default=500.0, show_default=True, metavar="SECONDS",
                     help="How long to wait for the next question.")  # fmt: skip


@click.group(cls=Group)
def door() -> None:
    """Take part in `contramem lab bench ... --target FOLDER` from a shell, one command a step."""


@door.command("start")
@_FOLDER
@click.option(
    "--as", "role", type=click.Choice(get_args(Role)), default="agent", show_default=True, help="Who you are."
)
@_WAIT
def start(folder: Path, role: Any, wait_s: float) -> None:
    """Take the next conversation that waits in FOLDER, and print what it is about."""
    ask = Door(folder, wait_s).next(role)
    if ask is None:
        click.echo("Nobody waits for you yet. Run the same command again.")
    else:
        _show(ask)


@door.command("call")
@_FOLDER
@_KEY
@click.argument("function")
@click.argument("arguments", default="{}")
@_WAIT
def call(folder: Path, key: str, function: str, arguments: str, wait_s: float) -> None:
    """Call FUNCTION with ARGUMENTS, a JSON object, and print the result."""
    try:
        given = json.loads(arguments)
    except ValueError as error:
        raise UsageError(f"the arguments are not JSON: {error}.") from None
    if not isinstance(given, dict):
        raise UsageError('the arguments must be a JSON object, such as \'{"order_id": "A-1"}\'.')
    _show_next(Door(folder, wait_s), key, calls=(ToolCall(function, given),))


@door.command("say")
@_FOLDER
@_KEY
@click.argument("text")
@_WAIT
def say(folder: Path, key: str, text: str, wait_s: float) -> None:
    """Say TEXT: to the user as the agent, to the agent as the user, or your verdict as the judge. Prints the reply."""
    _show_next(Door(folder, wait_s), key, text=text)


@door.command("wait")
@_FOLDER
@_KEY
@_WAIT
def wait(folder: Path, key: str, wait_s: float) -> None:
    """Go on waiting for what is asked next in a conversation."""
    _show_next(Door(folder, wait_s), key)


def _show_next(door: Door, key: str, text: str = "", calls: tuple[ToolCall, ...] = ()) -> None:
    ask = door.answer(key, text, calls) if text or calls else door.resume(key)
    if ask is not None:
        _show(ask)
    elif door.ended(key):
        click.echo("This conversation has ended.")
    else:
        click.echo(f"No reply yet. Wait with: contramem lab door wait {door.folder} {key}")


def _show(ask: Ask) -> None:
    click.echo(f"[{ask.key}]")
    for tool in ask.tools:
        click.echo(f"{tool.function}: {tool.description}\n    {json.dumps(tool.parameters, ensure_ascii=False)}")
    for message in ask.messages:
        click.echo(f"\n{message.role.upper()}: {message.text}")
