"""`contramem contrast`: shows all runs of a task side by side, and what separates them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from contramem.cli.contrast_view import list_packets, show_packet
from contramem.cli.engine_options import workers_option
from contramem.cli.reading import read_pool, reading_options
from contramem.cli.sections import SectionedCommand
from contramem.contrast.collection import contrast_tasks, learn_vocabulary
from contramem.contrast.packet import Packet, packet_of
from contramem.engine import LocalEngine, count_processors
from contramem.errors import UsageError
from contramem.traces.pool import Pool
from contramem.traces.reader import ReadOptions
from contramem.traces.task_key import TaskKey
from contramem.whole_file import make_private


@click.command(cls=SectionedCommand)
@reading_options
@click.option("--task", "task_id", metavar="ID", help="The task to look at: its id, or the end of its key.")
@click.option("--limit", type=click.IntRange(min=1), default=30, show_default=True, help="How many tasks to list.")
@click.option("--values", is_flag=True, help="Show values instead of placeholders (on your own machine).")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the picture as a page instead of printing it.",
)
@workers_option
@click.option("--json", "as_json", is_flag=True, help="Print every packet (or the one of --task) as JSON.")
def contrast(
    paths: tuple[Path, ...],
    options: ReadOptions,
    task_id: str | None,
    limit: int,
    values: bool,
    html: Path | None,
    workers: int | None,
    as_json: bool,
) -> None:
    """Put the runs under PATH... side by side, task by task, and show what separates them."""
    if html and as_json:
        raise UsageError("--html writes a page and --json prints JSON: give only one of them.")
    with LocalEngine(workers or count_processors()) as engine, read_pool(paths, options, engine=engine) as pool:
        keys = _matching(pool, task_id) if task_id else pool.tasks()
        vocabulary = learn_vocabulary(pool, engine)
        if len(keys) == 1:
            packets = iter([packet_of(pool.runs(keys[0]), vocabulary)])
        else:
            packets = contrast_tasks(pool, vocabulary, engine)
        if as_json:
            _print_json(packets, single=task_id is not None)
        else:
            with _console(html) as console:
                if len(keys) == 1:
                    show_packet(next(packets), console, values)
                else:
                    list_packets(packets, limit, console)


PAGE_COLUMNS = 118
"""What fits the width of most screens: the runs stand at the right end."""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>contramem contrast</title>
<style>
body {{ margin: 0; padding: 24px; color: #1d2325; background: #fbfaf7; }}
pre {{ overflow-x: auto; padding: 18px; border: 1px solid #e3e0d8; border-radius: 10px; background: #fff;
  font: 13px/1.45 ui-monospace, Menlo, "DejaVu Sans Mono", Consolas, monospace; }}
</style>
</head>
<body><pre>{code}</pre></body>
</html>
"""
"""The page around a recorded picture, which has its colours inline."""


@contextmanager
def _console(html: Path | None) -> Iterator[Console]:
    """The console to print to: the terminal or, with --html, a recording that becomes a page."""
    if html is None:
        yield Console()
        return
    # A page has room for long labels, whatever the width of the terminal.
    console = Console(record=True, width=PAGE_COLUMNS, file=StringIO())
    yield console
    page = console.export_html(inline_styles=True, code_format=_PAGE)
    try:
        make_private(html).write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{html}: cannot be written ({error.strerror}).") from None
    click.echo(f"{html} is written.")


def _matching(pool: Pool, task_id: str) -> list[str]:
    """The task with this key, or whose key ends in it (with or without the digest of the wording)."""
    keys = pool.tasks()
    matches = [key for key in keys if key == task_id]
    matches = matches or [key for key in keys if TaskKey.parse(key).is_named(task_id)]
    if not matches:
        like = [key for key in keys if task_id.lower() in key.lower()]
        some = f"Similar: {', '.join(like[:8])}" if like else f"Examples: {', '.join(keys[:5])}"
        raise UsageError(f"there is no task {task_id!r} here. {some}.")
    if len(matches) > 1:
        raise UsageError(f"{task_id!r} matches {', '.join(matches[:8])}. Give the full key.")
    return matches


def _print_json(packets: Iterator[Packet], single: bool) -> None:
    """Print one object for a single task, otherwise an array, packet by packet."""
    if single:
        click.echo(msgspec.json.encode(as_json(next(packets))))
        return
    separator = "["
    for packet in packets:
        click.echo(separator, nl=False)
        click.echo(msgspec.json.encode(as_json(packet)), nl=False)
        separator = ",\n"
    click.echo("]")


def as_json(packet: Packet) -> dict[str, Any]:
    """A packet as JSON. Values are placeholders; what they stand for is not part of it."""
    return {
        "task_key": packet.task_key,
        "task_id": packet.task_id,
        "scenario_id": packet.scenario_id,
        "ability": packet.ability,
        "task": packet.task,
        "contrastive": packet.is_contrastive,
        "runs": [{**msgspec.to_builtins(run), "actions": len(run.actions)} for run in packet.runs],
        "signals": msgspec.to_builtins(packet.signals),
        "provenance": msgspec.to_builtins(packet.provenance),
    }
