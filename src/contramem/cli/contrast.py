"""`contramem contrast`: shows all runs of a task side by side, and what separates them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from contramem.cli.engine_options import workers_option
from contramem.cli.kit import SectionedCommand
from contramem.cli.reading import collect_runs, plural, reading_options
from contramem.collection.runs import Collection
from contramem.contrast.align import AlignedStep, align, reference_first
from contramem.contrast.packet import Packet, PacketRun, packet_of
from contramem.contrast.packets import contrast_tasks, learn_vocabulary
from contramem.contrast.signal import Signal, differing_arguments
from contramem.contrast.step import Step
from contramem.engine import LocalEngine, count_processors
from contramem.errors import UsageError
from contramem.traces.reader import ReadOptions
from contramem.traces.shell import command_shape
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
    with (
        LocalEngine(workers or count_processors()) as engine,
        collect_runs(paths, options, engine=engine) as collection,
    ):
        keys = _matching(collection, task_id) if task_id else collection.tasks()
        vocabulary = learn_vocabulary(collection, engine)
        if len(keys) == 1:
            packets = iter([packet_of(collection.runs(keys[0]), vocabulary)])
        else:
            packets = contrast_tasks(collection, vocabulary, engine)
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


def _matching(collection: Collection, task_id: str) -> list[str]:
    """The task with this key, or whose key ends in it (with or without the digest of the wording)."""
    keys = collection.tasks()
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


# On a terminal

MAX_COLUMNS = 26
"""With more runs than this on a side, its column shows a count."""
MAX_ROWS = 40
MAX_SIGNALS = 8
FOLDED_LINES = 8
FOLDED_CHARS = 1200

_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_]*_\d+>")
_STYLES = {True: "green", False: "red", None: "yellow"}
_AXIS_STYLES = {"correctness": "red", "recovery": "cyan", "efficiency": "blue", "recurring failure": "magenta"}


def list_packets(packets: Iterable[Packet], limit: int, console: Console) -> None:
    """One line per task, the sharpest contrast first."""
    ranked = sorted(packets, key=lambda packet: (-_sharpness(packet), packet.task_key))
    table = Table(box=None, pad_edge=False, header_style="dim", expand=True)
    table.add_column("task", overflow="fold", ratio=3)
    table.add_column("runs", no_wrap=True, min_width=8)
    table.add_column("what separates them", ratio=6)
    for packet in ranked[:limit]:
        difference = Text(packet.signals[0].statement) if packet.signals else Text("nothing", style="dim")
        table.add_row(escape(packet.task_key), _outcomes(packet), difference)
    console.print(table)
    if len(ranked) > limit:
        console.print(f"[dim]... and {len(ranked) - limit:,} more tasks; --limit shows more.[/]")
    console.print("[dim]Look at one with --task ID.[/]")


def _sharpness(packet: Packet) -> float:
    return (packet.signals[0].strength if packet.signals else 0.0) + packet.is_contrastive


def _outcomes(packet: Packet) -> Text:
    passed, failed = len(packet.passing), len(packet.failing)
    return Text.assemble((f"{passed:>3}✓", _STYLES[True]), " ", (f"{failed:>2}✗", _STYLES[False]))


def show_packet(packet: Packet, console: Console, values: bool = False) -> None:
    """Show one task. With `values`, placeholders are replaced by what they stand for, which is no secret on the user's
    own machine."""
    reveal = _revealing(packet) if values else str
    task = escape(_fold(reveal(packet.task))) or "[dim]no task text[/]"
    console.print(Panel(task, title=escape(packet.task_key), title_align="left"))
    console.print(_legend(packet))
    rows = align(reference_first(packet.runs))
    console.print(_picture(packet, rows, console.width, _ArgumentView(packet, reveal, values)))
    if len(rows) > MAX_ROWS:
        console.print(f"[dim]... and {len(rows) - MAX_ROWS} more rows.[/]", highlight=False)
    console.print(
        "[dim]● called   ◐ called with other arguments   ✗ called, failed   · not called   "
        "◀ diverges from the passing runs[/]\n"
    )
    clearest = _clearest_signals(packet.signals)
    console.print(_signal_table(clearest, reveal))
    if len(packet.signals) > len(clearest):
        more = plural(len(packet.signals) - len(clearest), "more signal")
        console.print(f"[dim]... and {more} in --json.[/]", highlight=False)
    if not packet.signals:
        console.print("Nothing separates these runs.")


def _revealing(packet: Packet) -> Callable[[str], str]:
    originals = packet.placeholders.originals()

    def reveal(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: originals.get(match[0], match[0]), text)

    return reveal


def _fold(text: str) -> str:
    """The beginning of a long task text. Prompts of coding agents have many lines around one request."""
    lines = text.strip().splitlines()
    if len(lines) <= FOLDED_LINES and len(text) <= FOLDED_CHARS:
        return text
    folded = "\n".join(lines[:FOLDED_LINES])[:FOLDED_CHARS].rstrip()
    left = len(lines) - folded.count("\n") - 1
    return f"{folded}\n… {left} more lines; --json has the whole text" if left > 0 else f"{folded} …"


class _ArgumentView(NamedTuple):
    """How arguments are written: with placeholders, or with the values behind them."""

    packet: Packet
    reveal: Callable[[str], str]
    values: bool

    def text(self, step: Step) -> str:
        """Shell commands are shown by program and shape, other calls by their arguments."""
        command = next((step.arguments[name] for name in ("command", "cmd") if name in step.arguments), None)
        if step.function.startswith("shell.") and isinstance(command, str):
            original = _revealing(self.packet)(command)
            return f" {_short(original, 60) if self.values else command_shape(original)}"
        return f"({', '.join(f'{name}={_short(self.reveal(str(value)))}' for name, value in step.arguments.items())})"


def _clearest_signals(signals: Sequence[Signal]) -> list[Signal]:
    """The clearest signals: one for each axis and set of functions, and at least one per axis."""
    by_subject: dict[tuple[str, ...], Signal] = {}
    for signal in signals:
        by_subject.setdefault((signal.axis, *signal.functions), signal)
    clearest = list(by_subject.values())
    first_of_axis = {signal.axis: signal for signal in reversed(clearest)}.values()
    rest = [signal for signal in clearest if signal not in first_of_axis]
    chosen = [*first_of_axis, *rest[: MAX_SIGNALS - len(first_of_axis)]]
    return sorted(chosen, key=clearest.index)


def _legend(packet: Packet) -> Text:
    """The source of each letter, passing runs first."""
    text = Text()
    for passed, group in groupby(packet.runs, key=lambda run: run.passed):
        text.append({True: "passed   ", False: "failed   ", None: "unknown  "}[passed], style=_STYLES[passed])
        named = []
        for run in group:
            source = packet.provenance[run.letter]
            trial = "" if source.run == "0" else f"/{source.run}"
            note = "" if run.ended == "complete" else f" ({run.ended})"
            # Non-breaking spaces keep a letter beside its source when the line wraps.
            named.append(f"{run.letter} {source.source}{trial}{note}".replace(" ", "\u00a0"))
        text.append("  ".join(named) + "\n")
    return text


def _picture(packet: Packet, rows: list[AlignedStep], width: int, view: _ArgumentView) -> Table:
    """The table of runs and actions. One character per run, so that twenty runs and the label fit on one line."""
    sides = [list(group) for _, group in groupby(packet.runs, key=lambda run: run.passed)]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("what was done", no_wrap=True, header_style="dim")
    for runs in sides:
        table.add_column(_header(runs), no_wrap=True)
    table.add_column("", no_wrap=True)
    divergences, app = _divergences(packet), _common_app(rows)
    notes = [_divergence_note(row, divergences) for row in rows]
    # The columns of the runs are never cut; the labels get the remaining width.
    used_width = (
        sum(min(len(runs), MAX_COLUMNS) + 2 for runs in sides) + max((len(note) for note in notes), default=0) + 2
    )
    for row, note in list(zip(rows, notes, strict=True))[:MAX_ROWS]:
        label = _row_label(row, app, view)
        label.truncate(max(24, width - used_width), overflow="ellipsis")
        table.add_row(label, *(_cells(row, runs, divergences) for runs in sides), note)
    return table


def _header(runs: list[PacketRun]) -> Text:
    style = f"bold {_STYLES[runs[0].passed]}"
    if len(runs) > MAX_COLUMNS:
        return Text({True: "passed", False: "failed", None: "unknown"}[runs[0].passed], style=style)
    return Text("".join(run.letter[-1] for run in runs), style=style)


def _cells(row: AlignedStep, runs: list[PacketRun], divergences: set[tuple[str, int]]) -> Text:
    if len(runs) > MAX_COLUMNS:
        return Text(f"{sum(run.letter in row.steps for run in runs)}/{len(runs)}", style=_STYLES[runs[0].passed])
    return Text.assemble(*(_cell(row, run, divergences) for run in runs))


def _divergences(packet: Packet) -> set[tuple[str, int]]:
    failing = {run.letter for run in packet.failing}
    divergences = (signal for signal in packet.signals if signal.kind == "first divergence")
    return {(cite.run, cite.position) for signal in divergences for cite in signal.cites if cite.run in failing}


def _row_label(row: AlignedStep, app: str, view: _ArgumentView) -> Text:
    step = next(iter(row.steps.values()))
    text = Text(row.label.removeprefix(app), style="bold" if step.effect in ("write", "finalize") else "")
    if step.arguments:
        text.append(view.text(step), style="dim")
    return text


def _short(text: str, limit: int = 28) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _common_app(rows: list[AlignedStep]) -> str:
    apps = {row.label.partition(".")[0] + "." for row in rows if "." in row.label}
    return apps.pop() if len(apps) == 1 else ""


def _cell(row: AlignedStep, run: PacketRun, divergences: set[tuple[str, int]]) -> Text:
    step = row.steps.get(run.letter)
    if step is None:
        return Text("·", style="dim")
    style = _STYLES[run.passed]
    if (run.letter, step.position) in divergences:
        style = f"white on {style}"
    return Text(_symbol(row, step), style=style)


def _symbol(row: AlignedStep, step: Step) -> str:
    if step.error:
        return "✗"
    reference = next(iter(row.steps.values()))
    return "◐" if differing_arguments(reference, step) else "●"


def _divergence_note(row: AlignedStep, divergences: set[tuple[str, int]]) -> Text:
    here = [letter for letter, step in row.steps.items() if (letter, step.position) in divergences]
    return Text(f"◀ {','.join(here)}" if here else "", style="red")


def _signal_table(signals: Sequence[Signal], reveal: Callable[[str], str]) -> Table:
    """One row a signal; a statement that is longer than a line stays in its column."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for signal in signals:
        text = Text(reveal(signal.statement))
        if signal.cites:
            places = " ".join(f"{cite.run}:{cite.position}" for cite in signal.cites[:6])
            more = f" +{len(signal.cites) - 6}" if len(signal.cites) > 6 else ""
            text.append(f"  [{places}{more}]", style="dim")
        table.add_row(Text(f"{signal.axis:<17}", style=_AXIS_STYLES[signal.axis]), text)
    return table
