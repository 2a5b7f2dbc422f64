"""A watched run as a picture: what the agent did as rows, guards as columns, and below what was open at the end."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from contramem.monitor.automaton import State
from contramem.monitor.replay import Moment, Replayed

MAX_ROWS = 60
_MARKS: dict[State, tuple[str, str]] = {
    "satisfied": ("✓", "green"),
    "holding": ("·", "dim"),
    "pending": ("○", "yellow"),
    "broken": ("✗", "red"),
}
_OUTCOMES = {True: ("passed", "green"), False: ("failed", "red"), None: ("outcome unknown", "yellow")}


def list_runs(runs: Sequence[Replayed], limit: int, console: Console) -> None:
    """One line a run, those that left the most undone first."""
    ranked = sorted(runs, key=lambda one: (-len(one.pending) - len(one.broken), one.run.task_key, one.run.source))
    table = Table(box=None, pad_edge=False, header_style="dim", expand=True)
    for heading, ratio in (("task", 3), ("source", 3), ("outcome", 1), ("open at the end, or broken", 6)):
        table.add_column(heading, overflow="fold", ratio=ratio)
    for one in ranked[:limit]:
        word, style = _OUTCOMES[one.run.outcome.passed]
        left = [f"○ {owed.text}" for owed in one.pending] + [f"✗ {broken.text}" for broken in one.broken]
        told = escape("\n".join(left[:3])) if left else f"[dim]nothing ({len(one.guards)} guards)[/]"
        table.add_row(escape(one.run.task_key), escape(one.run.source), Text(word, style), told)
    console.print(table)
    if len(ranked) > limit:
        console.print(f"[dim]... and {len(ranked) - limit:,} more runs; --limit shows more.[/]")
    console.print("[dim]See one run deed by deed with --task ID --source S.[/]")


def show_run(one: Replayed, console: Console) -> None:
    """The whole picture of one run."""
    word, style = _OUTCOMES[one.run.outcome.passed]
    title = f"{escape(one.run.task_key)} · {escape(one.run.source)} · [{style}]{word}[/]"
    console.print(Panel(escape(one.run.task) or "[dim]no task text[/]", title=title, title_align="left"))
    if not one.guards:
        console.print("[dim]No guard of the bank fits this task. --all-cards watches under every card.[/]")
        return
    console.print(_picture(one))
    for number, guard in enumerate(one.guards, 1):
        mark, style = _MARKS[guard.state]
        console.print(Text.assemble((f"{number:>3} {mark} ", style), guard.guard.sentence, (f"  {guard.title}", "dim")))
    console.print(_ending(one))


def _picture(one: Replayed) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right", style="dim")
    table.add_column("the agent did", overflow="ellipsis", no_wrap=True, max_width=60)
    for number, _ in enumerate(one.guards, 1):
        table.add_column(str(number), justify="center", no_wrap=True)
    shown = one.moments[:MAX_ROWS]
    before: Sequence[State] = ()
    for moment in shown:
        table.add_row(str(moment.event.position), _deed(moment), *_cells(moment.states, before))
        before = moment.states
    if len(one.moments) > len(shown):
        table.add_row("", f"… {len(one.moments) - len(shown)} more")
    return table


def _cells(states: Sequence[State], before: Sequence[State]) -> list[Text]:
    """A state that has just changed stands out."""
    cells = []
    for index, state in enumerate(states):
        mark, style = _MARKS[state]
        changed = bool(before) and before[index] != state
        cells.append(Text(mark, f"bold {style} reverse" if changed else style))
    return cells


def _deed(moment: Moment) -> Text:
    event = moment.event
    if not event.function:
        return Text("final answer", "bold")
    failed = event.result is not None and event.result.error is not None
    given = ", ".join(f"{name}={str(value)[:24]!r}" for name, value in event.arguments.items())
    return Text.assemble(event.function.rpartition(".")[2], (f"({given})", "dim"), (" failed", "red") if failed else "")


def _ending(one: Replayed) -> Panel:
    lines = [f"[yellow]○ still owed[/]  {escape(owed.text)}" for owed in one.pending]
    lines += [f"[red]✗ broken[/]  {escape(broken.text)}" for broken in one.broken]
    if not lines:
        return Panel(
            "[green]Nothing was owed, and nothing broken.[/]", title="when the run stopped", title_align="left"
        )
    return Panel("\n".join(lines), title="when the run stopped", title_align="left", border_style="yellow")
