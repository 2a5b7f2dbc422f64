"""A replayed run in the terminal: actions as rows, guards as columns, and below what was owed at the end."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from contramem.guards.guard import Guard
from contramem.guards.templates import State
from contramem.guards.watch import MonitoredEvent, MonitoredRun, Obligation

MAX_ROWS = 60
MAX_RULES = 12
_MARKS: dict[State, tuple[str, str]] = {
    "satisfied": ("✓", "green"),
    "holding": ("·", "dim"),
    "pending": ("○", "yellow"),
    "broken": ("✗", "red"),
}
_LEGEND = "✓ satisfied   · holds so far   ○ pending   ✗ broken"
_OUTCOMES = {True: ("passed", "green"), False: ("failed", "red"), None: ("outcome unknown", "yellow")}
_COLUMNS = {True: "by passed", False: "by failed", None: "by unknown"}


# Several runs


@dataclass
class _Rule:
    """By outcome: how many runs a guard applied to, and how many violated it."""

    title: str
    unkept: dict[bool | None, int] = field(default_factory=lambda: defaultdict(int))
    watched: dict[bool | None, int] = field(default_factory=lambda: defaultdict(int))


def list_runs(runs: Sequence[MonitoredRun], limit: int, console: Console) -> None:
    """The violated rules, then the runs that violated them, those with most violations first."""
    undone = [monitored for monitored in runs if monitored.unkept]
    undone.sort(
        key=lambda monitored: (-len(monitored.unkept), monitored.run.task_key, monitored.run.source, monitored.run.run)
    )
    unwatched = sum(not monitored.guards for monitored in runs)
    console.print(f"[bold]{len(runs):,} runs[/]: {len(undone):,} left an obligation open or broke a guard.", end="")
    console.print(f" [dim]No guard applies to {unwatched:,} of them.[/]" if unwatched else "")
    if not undone:
        return
    console.print()
    console.print(_rules(runs))
    for monitored in undone[:limit]:
        console.print()
        console.print(_heading(monitored))
        for owed in monitored.unkept:
            console.print(_indent(_line(owed, monitored)))
    console.print()
    if len(undone) > limit:
        console.print(f"[dim]... and {len(undone) - limit:,} more of these; --limit shows more.[/]")
    first = undone[0].run
    chosen = shlex.join(["--task", first.task_key, "--source", first.source, "--run", first.run])
    console.print("[dim]To see one run step by step, for example the first:[/]")
    console.print(f"  {chosen}", style="dim", highlight=False, soft_wrap=True, markup=False)


def _rules(runs: Sequence[MonitoredRun]) -> Table:
    rules: dict[Guard, _Rule] = {}
    for monitored in runs:
        for watched in monitored.guards:
            rule = rules.setdefault(watched.guard, _Rule(watched.title))
            rule.watched[monitored.run.outcome.passed] += 1
            rule.unkept[monitored.run.outcome.passed] += watched.state in ("pending", "broken")
    unkept = [(guard, rule) for guard, rule in rules.items() if any(rule.unkept.values())]
    unkept.sort(key=lambda item: (-item[1].unkept[False], -sum(item[1].unkept.values()), str(item[0])))
    outcomes = [outcome for outcome in (False, True, None) if any(rule.watched[outcome] for _, rule in unkept)]
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("violated rules")
    for outcome in outcomes:
        table.add_column(_COLUMNS[outcome], justify="right", no_wrap=True)
    for guard, rule in unkept[:MAX_RULES]:
        counts = [f"{rule.unkept[outcome]:,} of {rule.watched[outcome]:,}" for outcome in outcomes]
        table.add_row(Text(guard.sentence), *counts)
    if len(unkept) > MAX_RULES:
        table.add_row(Text(f"... and {len(unkept) - MAX_RULES} more", "dim"))
    return table


def _heading(monitored: MonitoredRun) -> Text:
    word, style = _OUTCOMES[monitored.run.outcome.passed]
    run = monitored.run
    return Text.assemble((word, style), f"  {run.task_key} · {run.source} · run {run.run}", no_wrap=False)


# One run


def show_run(monitored: MonitoredRun, console: Console) -> None:
    """Show one run step by step."""
    word, style = _OUTCOMES[monitored.run.outcome.passed]
    title = f"{escape(monitored.run.task_key)} · {escape(monitored.run.source)} · [{style}]{word}[/]"
    console.print(Panel(escape(monitored.run.task) or "[dim]no task text[/]", title=title, title_align="left"))
    if not monitored.guards:
        console.print("[dim]No guard of the bank applies to this task. --all-cards checks every card.[/]")
        return
    console.print(_picture(monitored, console.width))
    console.print(_LEGEND, style="dim", highlight=False)
    console.print()
    console.print(_guards(monitored))
    console.print()
    console.print(_ending(monitored))


def _picture(monitored: MonitoredRun, width: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right", style="dim")
    room = max(30, width - 8 - 3 * len(monitored.guards))
    table.add_column("the agent did", overflow="ellipsis", no_wrap=True, max_width=room)
    for number, _ in enumerate(monitored.guards, 1):
        table.add_column(str(number), justify="center", no_wrap=True)
    visible = monitored.moments[:MAX_ROWS]
    before: Sequence[State] = ()
    for moment in visible:
        table.add_row(str(moment.event.position), _describe_action(moment), *_cells(moment.states, before))
        before = moment.states
    if len(monitored.moments) > len(visible):
        table.add_row("", f"… {len(monitored.moments) - len(visible)} more")
    return table


def _cells(states: Sequence[State], before: Sequence[State]) -> list[Text]:
    """The states of the guards; a state that has just changed is highlighted."""
    cells = []
    for index, state in enumerate(states):
        mark, style = _MARKS[state]
        changed = bool(before) and before[index] != state
        cells.append(Text(mark, f"bold {style} reverse" if changed else style))
    return cells


def _describe_action(moment: MonitoredEvent) -> Text:
    event = moment.event
    if not event.function:
        return Text("final answer", "bold")
    failed = event.result is not None and event.result.error is not None
    arguments = ", ".join(f"{name}={str(value)[:24]!r}" for name, value in event.arguments.items())
    # The mark comes first, because a long call is cut at its end.
    return Text.assemble(("✗ " if failed else "", "red"), event.function.rpartition(".")[2], (f"({arguments})", "dim"))


def _guards(monitored: MonitoredRun) -> Table:
    """The guards of the columns in words, each with its card."""
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", style="dim")
    table.add_column()
    table.add_column()
    for number, guard in enumerate(monitored.guards, 1):
        mark, style = _MARKS[guard.state]
        card = f"  ({guard.title})" if guard.card_id else ""
        table.add_row(str(number), Text(mark, style), Text.assemble(guard.guard.sentence, (card, "dim")))
    return table


def _ending(monitored: MonitoredRun) -> Panel:
    if not monitored.unkept:
        kept = Text("No obligation was open and no guard was broken.", "green")
        return Panel(kept, title="when the run stopped", title_align="left")
    lines = Group(*(_line(owed, monitored) for owed in monitored.unkept))
    return Panel(lines, title="when the run stopped", title_align="left", border_style="yellow")


def _line(owed: Obligation, monitored: MonitoredRun) -> Table:
    """A line such as `✗ broken at 2: ...`; a long text continues below itself."""
    mark, style = _MARKS[owed.state]
    since = monitored.since(owed)
    word = "still owed" if owed.state == "pending" else "broken"
    place = f" {'since' if owed.state == 'pending' else 'at'} {since.event.position}" if since else ""
    table = Table.grid(padding=(0, 1))
    table.add_row(Text(mark, style), Text(f"{word}{place}:", style), Text(f"{owed.text}{_broken_value(owed, since)}"))
    return table


def _broken_value(owed: Obligation, since: MonitoredEvent | None) -> str:
    """The value that broke a guard about values, because the call is often cut in the table."""
    argument = owed.guard.argument
    if since is None or owed.guard.form.parameters != "F.argument" or argument not in since.event.arguments:
        return ""
    return f" It was {str(since.event.arguments[argument])[:60]!r}."


def _indent(line: Table) -> Table:
    table = Table.grid()
    table.add_row("   ", line)
    return table
