"""`contramem monitor`: replays recorded runs under the guards of a bank, and shows what was still owed at the end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
from rich.console import Console

from contramem.bank.card import SkillCard
from contramem.bank.locate import load_bank
from contramem.cli.monitor_view import list_runs, show_run
from contramem.cli.reading import complain, nothing_read_error, reading, reading_options
from contramem.cli.sections import SectionedCommand
from contramem.errors import GuardError, UsageError
from contramem.guards.guard import Guard, parse_guard, suggest_full_names, suggest_name
from contramem.guards.watch import MonitoredRun, Obligation, WatchedGuard, guards_of_card, replay_run
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
