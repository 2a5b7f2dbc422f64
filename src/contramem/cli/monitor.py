"""`contramem monitor`: replays recorded runs under the guards of a bank, and shows what was still owed at the end."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from contramem.bank.card import SkillCard
from contramem.bank.frozen import load_bank
from contramem.cli.kit import SectionedCommand
from contramem.cli.reading import complain, nothing_read_error, reading, reading_options
from contramem.errors import GuardError, UsageError
from contramem.guards.guard import Guard, parse_guard, suggest_full_names, suggest_name
from contramem.guards.templates import State
from contramem.guards.watch import MonitoredEvent, MonitoredRun, Obligation, WatchedGuard, guards_of_card, replay_run
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import profile_named
from contramem.retrieve.retriever import Retriever
from contramem.traces.reader import ReadOptions
from contramem.traces.task_key import TaskKey
from contramem.traces.trajectory import Trajectory


class RunFilter(NamedTuple):
    """Which runs to replay; None and False mean no restriction."""

    task: str | None
    source: str | None
    run: str | None
    failed: bool

    def takes(self, run: Trajectory) -> bool:
        return (
            (self.task is None or TaskKey.parse(run.task_key).is_named(self.task))
            and self.source in (None, run.source)
            and self.run in (None, run.run)
            and not (self.failed and run.outcome.passed is not False)
        )


@click.command(cls=SectionedCommand)
@reading_options
@click.option("--bank", metavar="BANK", help="Frozen bank or store whose guards to check.")
@click.option("--guard", "written", multiple=True, metavar="GUARD", help="Check this guard too. May be repeated.")
@click.option("--task", metavar="ID", help="Only runs of this task: its id, or the end of its key.")
@click.option("--source", metavar="S", help="Only runs of this model or agent.")
@click.option("--run", metavar="N", help="Only this trial.")
@click.option("--failed", is_flag=True, help="Only runs that failed.")
@click.option(
    "--all-cards", is_flag=True, help="Check the guards of every card of the ability, not only of the best matches."
)
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="How many runs to list.")
@click.option("--json", "as_json", is_flag=True, help="Print every run, with its open and broken guards, as JSON.")
def monitor(
    paths: tuple[Path, ...],
    options: ReadOptions,
    bank: str | None,
    written: tuple[str, ...],
    task: str | None,
    source: str | None,
    run: str | None,
    failed: bool,
    all_cards: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Replay the runs under PATH... and show the obligations that were still open when each run stopped.

    A single run is shown step by step; for several runs, you see which guards were violated and by which runs.
    """
    cards = _cards(bank, written)
    wanted = RunFilter(task, source, run, failed)
    with reading(paths, options) as runs:
        read = [(run, wanted.takes(run)) for run in runs]
    complain(runs.problems, runs.problem_count, strict=options.strict)
    if not read:
        raise nothing_read_error(runs.problems, runs.ignored)
    chosen = [run for run, is_wanted in read if is_wanted]
    if not chosen:
        raise UsageError("no run matches; `contramem traces` lists the ids and sources.")
    find = _Finder(cards, _guards(written, [run for run, _ in read]), all_cards)
    replayed = [replay_run(run, find(run)) for run in chosen]
    if as_json:
        click.echo(msgspec.json.encode([_as_json(run) for run in replayed]))
    elif len(replayed) == 1:
        show_run(replayed[0], Console())
    else:
        list_runs(replayed, limit, Console())


def _cards(bank: str | None, written: Sequence[str]) -> list[SkillCard]:
    if bank is None:
        if not written:
            raise UsageError("nothing to check. Give --bank BANK, or --guard 'precedence(App.search, App.delete)'.")
        return []
    cards = [card for card in load_bank(bank)[0].skills if card.guards]
    if not cards and not written:
        raise UsageError(f"{bank}: no card of this bank has a guard, so there is nothing to check.")
    return cards


def _guards(written: Sequence[str], runs: Sequence[Trajectory]) -> list[Guard]:
    """Parse the guards of --guard. A function or argument that no run has is refused as a likely mistake: such a guard
    would hold everywhere."""
    calls = [event for run in runs for event in run.events if event.function] if written else []
    called, guards = {event.function for event in calls}, []
    for text in written:
        try:
            guard = parse_guard(text)
        except GuardError as error:
            raise GuardError(f"--guard {error}{suggest_full_names(text, called)}") from None
        for function in guard.functions:
            if function not in called:
                raise GuardError(f"--guard {guard}: no run calls {function}.{suggest_name(function, called)}")
        for function, argument in guard.arguments:
            names = {name for event in calls if event.function == function for name in event.arguments}
            if argument not in names:
                near = suggest_name(argument, names)
                raise GuardError(f"--guard {guard}: no call of {function} has an argument {argument}.{near}")
        guards.append(guard)
    return guards


class _Finder:
    """Finds the guards for a run: those of the cards that its agent would be shown, or of all cards of its ability."""

    def __init__(self, cards: Sequence[SkillCard], guards: Sequence[Guard], all_cards: bool) -> None:
        self._cards, self._all = cards, all_cards
        self._written: list[WatchedGuard] = [(guard, "", "--guard") for guard in guards]
        self._retriever = Retriever(cards, ())

    def __call__(self, run: Trajectory) -> list[WatchedGuard]:
        return [*self._written, *(watched for card in self._fitting(run) for watched in guards_of_card(card))]

    def _fitting(self, run: Trajectory) -> list[SkillCard]:
        same = [card for card in self._cards if card.ability == run.ability]
        if self._all or not self._cards:
            return same or list(self._cards)
        query = Query(run.task, ability=run.ability if same else None)
        hits = self._retriever.retrieve(query, profile_named("default")).skills
        return [hit.card for hit in hits if isinstance(hit.card, SkillCard)]


def _as_json(monitored: MonitoredRun) -> dict[str, Any]:
    return {
        "task": monitored.run.task_key,
        "source": monitored.run.source,
        "run": monitored.run.run,
        "passed": monitored.run.outcome.passed,
        "guards": len(monitored.guards),
        "pending": [_obligation(owed, monitored) for owed in monitored.pending],
        "broken": [_obligation(broken, monitored) for broken in monitored.broken],
    }


def _obligation(obligation: Obligation, run: MonitoredRun) -> dict[str, Any]:
    since = run.since(obligation)
    return {
        "guard": str(obligation.guard),
        "text": obligation.text,
        "since": since.event.position if since else None,
        "card_id": obligation.card_id,
        "title": obligation.title,
    }


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
    console.print(_guard_table(monitored))
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


def _guard_table(monitored: MonitoredRun) -> Table:
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
