"""`contramem contrast`: shows all runs of a task side by side, and what separates them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from itertools import groupby
from pathlib import Path, PurePath
from random import Random
from typing import Any, NamedTuple

import click
import msgspec
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from contramem.cli.engine_options import workers_option
from contramem.cli.kit import SectionedCommand, print_json
from contramem.cli.reading import collect_runs, plural, reading_options
from contramem.collection.runs import Collection
from contramem.contrast.align import (
    AlignedStep,
    Parting,
    RankedSignal,
    align,
    common_app,
    describe_effort,
    first_partings,
    group_partings,
    partings,
    rank_signals,
    reference_first,
)
from contramem.contrast.packet import Packet, PacketRun, letters, packet_of, passing_first
from contramem.contrast.packets import contrast_tasks, learn_vocabulary
from contramem.contrast.step import Step
from contramem.contrast.vocabulary import Vocabulary
from contramem.engine import LocalEngine, count_processors
from contramem.errors import UsageError
from contramem.evaluate.behaviour import BehaviourChange, measure_change
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
@click.option(
    "--runs", metavar="A,B", help="Two runs beside each other, whatever their outcomes: letters, sources or files."
)
@click.option(
    "--versions", metavar="OLD,NEW", help="Did behaviour change from one source to the other, over all tasks?"
)
@workers_option
@click.option("--json", "as_json", is_flag=True, help="Print every packet (or the one of --task) as JSON.")
def contrast(
    paths: tuple[Path, ...],
    options: ReadOptions,
    task_id: str | None,
    runs: str | None,
    versions: str | None,
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
        if runs:
            packets = iter([_two_runs(collection, keys, _two_names("--runs", runs), vocabulary)])
        elif len(keys) == 1:
            packets = iter([packet_of(collection.runs(keys[0]), vocabulary)])
        else:
            packets = contrast_tasks(collection, vocabulary, engine)
        if versions:
            _show_change(measure_change(packets, *_two_names("--versions", versions), Random(0)), as_json)
        elif as_json:
            _print_json(packets, single=task_id is not None or runs is not None)
        else:
            with _console(html) as console:
                if runs:
                    show_two_runs(next(packets), console, values)
                elif len(keys) == 1:
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


def _two_names(option: str, text: str) -> tuple[str, str]:
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise UsageError(f"{option} takes two names with a comma between them; got {text!r}.")
    return names[0], names[1]


def _two_runs(collection: Collection, keys: Sequence[str], names: tuple[str, str], vocabulary: Vocabulary) -> Packet:
    """The packet of two runs: of one task, or of tasks that have no id, such as two files."""
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    for key in keys:
        for letter, run in zip(letters(), passing_first(collection.runs(key)), strict=False):
            own = {run.source, f"{run.source}/{run.run}", str(run.origin), PurePath(run.origin.file).name}
            for name in names:
                if name in own or (len(keys) == 1 and name == letter):
                    found[name].append((key, letter))
    tasks = [{key for key, _ in found[name]} for name in names]
    if len(keys) > 1 and len(shared := set.intersection(*tasks)) == 1:
        found = {name: [place for place in places if place[0] in shared] for name, places in found.items()}
    for name, places in found.items():
        if len(places) != 1:
            hint = (
                "Name one by its letter with --task, as source/trial or as FILE:LINE."
                if places
                else _sources_of(collection, keys)
            )
            raise UsageError(f"{name!r} matches {plural(len(places), 'run')}. {hint}")
    places = [found[name][0] for name in names]
    pair = [dict(zip(letters(), passing_first(collection.runs(key)), strict=False))[letter] for key, letter in places]
    packet = packet_of(collection.runs(places[0][0]) if places[0][0] == places[1][0] else pair, vocabulary)
    by_origin = {packet.provenance[run.letter].origin: run for run in packet.runs}
    return replace(packet, runs=tuple(by_origin[run.origin] for run in pair), signals=())


def _sources_of(collection: Collection, keys: Sequence[str]) -> str:
    sources = sorted({run.source for key in keys[:20] for run in collection.runs(key)})
    return f"Sources here: {', '.join(sources[:10])}."


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
        "separation": [each.row()._asdict() for each in rank_signals(packet)],
        "partings": [_parting_json(parting) for parting in first_partings(packet)],
        "provenance": msgspec.to_builtins(packet.provenance),
    }


def _parting_json(parting: Parting) -> dict[str, Any]:
    return {
        "run": parting.run,
        "other": parting.other,
        "at": parting.at.position if parting.at else None,
        "rejoins": parting.rejoins.position if parting.rejoins else None,
        "changed": [change._asdict() for change in parting.changed],
        "what": str(parting),
    }


# On a terminal

MAX_COLUMNS = 26
"""With more runs than this on a side, its column shows a count."""
MAX_ROWS = 40
MAX_SIGNALS = 8
MAX_PARTINGS = 12
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
        "◀ parts from the passing run most like it   ▶ rejoins it[/]\n"
    )
    _show_partings(list(first_partings(packet)), console, reveal)
    ranked = rank_signals(packet)
    clearest = _clearest_signals(ranked)
    if ranked:
        console.print(
            f"[bold]What separates them[/] [dim](how many of {len(packet.passing)} passing and "
            f"{len(packet.failing)} failing runs show it)[/]"
        )
        console.print(_signal_table(clearest, reveal))
    if len(ranked) > len(clearest):
        more = plural(len(ranked) - len(clearest), "more signal")
        console.print(f"[dim]... and {more} in --json.[/]", highlight=False)
    if not ranked:
        console.print("Nothing separates these runs.")


def show_two_runs(packet: Packet, console: Console, values: bool = False) -> None:
    """Two runs beside each other, and every stretch in which the second differs from the first."""
    reveal = _revealing(packet) if values else str
    console.print(_legend(packet))
    rows = align(packet.runs)
    console.print(_picture(packet, rows, console.width, _ArgumentView(packet, reveal, values)))
    first, second = packet.runs
    different = list(partings(second, first))
    _show_partings(different, console, reveal)
    if not different:
        console.print("Both did the same.")


def _show_partings(shown: Sequence[Parting], console: Console, reveal: Callable[[str], str]) -> None:
    groups = group_partings(shown)
    for group in groups[:MAX_PARTINGS]:
        places = ", ".join(f"{each.run} at {each.at.position if each.at else 'its end'}" for each in group)
        what = str(group[0]) if len(group) == 1 else group[0].what
        console.print(Text.assemble((f"◀ {places} ", "red"), f"parts from {group[0].other}: {reveal(what)}"))
    if len(groups) > MAX_PARTINGS:
        console.print(f"[dim]... and {len(groups) - MAX_PARTINGS} more in --json.[/]", highlight=False)
    if shown:
        console.print()


def _show_change(change: BehaviourChange, as_json: bool) -> None:
    if as_json:
        print_json(msgspec.to_builtins(change))
        return
    console = Console(highlight=False)
    console.print(change.verdict, markup=False)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title, justify in (
        ("function", "left"),
        (change.old, "right"),
        (change.new, "right"),
        ("only one", "right"),
        ("p", "right"),
    ):
        table.add_column(title, justify=justify)  # type: ignore[arg-type]
    for row in change.functions[:MAX_SIGNALS]:
        p = "n/a" if row.p is None else f"{row.p:.3g}"
        table.add_row(row.function, f"{row.old:.0%}", f"{row.new:.0%}", f"−{row.dropped} +{row.added}", p)
    if change.functions:
        console.print(
            "\nShare of the tasks in which a function is called; p over tasks, corrected for all functions (Holm)"
        )
        console.print(table)
    for task in change.tasks[:MAX_SIGNALS]:
        console.print(f"{task.task}: {task.what}", markup=False)


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


def _clearest_signals(ranked: Sequence[RankedSignal]) -> list[RankedSignal]:
    """The clearest signals: one for each axis and set of functions, and at least one per axis."""
    by_subject: dict[tuple[str, ...], RankedSignal] = {}
    for each in ranked:
        by_subject.setdefault((each.signal.axis, *each.signal.functions), each)
    clearest = list(by_subject.values())
    first_of_axis = {each.signal.axis: each for each in reversed(clearest)}.values()
    rest = [each for each in clearest if each not in first_of_axis]
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
            effort = describe_effort(packet.recorded[run.letter]).partition(", ")[2]
            notes = [effort] * bool(effort) + [run.ended] * (run.ended != "complete")
            note = f" ({', '.join(notes)})" if notes else ""
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
    parted, app = list(first_partings(packet)), common_app(rows)
    divergences = {(parting.run, parting.at.position) for parting in parted if parting.at}
    notes = [_parting_note(row, parted) for row in rows]
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


def _row_label(row: AlignedStep, app: str, view: _ArgumentView) -> Text:
    step = row.reference
    text = Text(row.label.removeprefix(app), style="bold" if step.effect in ("write", "finalize") else "")
    if step.arguments:
        text.append(view.text(step), style="dim")
    return text


def _short(text: str, limit: int = 28) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _cell(row: AlignedStep, run: PacketRun, divergences: set[tuple[str, int]]) -> Text:
    step = row.steps.get(run.letter)
    if step is None:
        return Text("·", style="dim")
    style = _STYLES[run.passed]
    if (run.letter, step.position) in divergences:
        style = f"white on {style}"
    return Text(row.symbol(run.letter), style=style)


def _parting_note(row: AlignedStep, parted: Sequence[Parting]) -> Text:
    parts, rejoins = list[str](), list[str]()
    for parting in parted:
        step = row.steps.get(parting.run)
        if step is not None and parting.at is step:
            parts.append(parting.run)
        elif step is not None and parting.rejoins is step:
            rejoins.append(parting.run)
    marks = (f"{mark} {','.join(runs)}" for mark, runs in (("◀", parts), ("▶", rejoins)) if runs)
    return Text(" ".join(marks), style="red")


def _signal_table(ranked: Sequence[RankedSignal], reveal: Callable[[str], str]) -> Table:
    """One row a signal; a statement that is longer than a line stays in its column."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for each in ranked:
        signal, text = each.signal, Text(reveal(each.signal.statement))
        if signal.cites:
            places = " ".join(f"{cite.run}:{cite.position}" for cite in signal.cites[:6])
            more = f" +{len(signal.cites) - 6}" if len(signal.cites) > 6 else ""
            text.append(f"  [{places}{more}]", style="dim")
        axis = Text(f"{signal.axis:<17}", style=_AXIS_STYLES[signal.axis])
        shown = Text.assemble((f"{len(each.passing)}✓", _STYLES[True]), " ", (f"{len(each.failing)}✗", _STYLES[False]))
        table.add_row(axis, shown, text)
    return table
