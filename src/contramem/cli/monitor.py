"""`contramem monitor`: a recorded run under the guards of a bank, and what was open when it stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from contramem.bank.card import SkillCard
from contramem.bank.locate import load_bank
from contramem.cli.monitor_view import list_runs, show_run
from contramem.cli.reading import complain, nothing_read, reading, reading_options
from contramem.errors import UsageError
from contramem.monitor.replay import Replayed, replay_run
from contramem.monitor.watch import Obligation
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import profile_named
from contramem.retrieve.retriever import Retriever
from contramem.traces.read import ReadOptions
from contramem.traces.trajectory import Trajectory


@click.command()
@reading_options
@click.option("--bank", required=True, metavar="BANK", help="Frozen bank, or a store.")
@click.option("--task", "task_id", metavar="ID", help="Only runs of this task.")
@click.option("--source", metavar="S", help="Only runs of this model or agent.")
@click.option("--failed", is_flag=True, help="Only runs that failed.")
@click.option("--all-cards", is_flag=True, help="Watch under every card of the ability, not only those that fit best.")
@click.option("--limit", default=30, show_default=True, help="How many runs to list.")
@click.option("--json", "as_json", is_flag=True, help="Every run with what it owed and broke, for machines.")
def monitor(
    paths: tuple[Path, ...],
    options: ReadOptions,
    bank: str,
    task_id: str | None,
    source: str | None,
    failed: bool,
    all_cards: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Replay the runs under PATH... and show which obligations were open when each stopped.

    One run is shown deed by deed; several are listed, those that left something undone first.
    """
    cards = [card for card in load_bank(bank)[0].skills if card.guards]
    if not cards:
        raise UsageError(f"{bank}: no card of this bank has a guard, so there is nothing to watch.")
    with reading(paths, options) as runs:
        chosen = [run for run in runs if _wanted(run, task_id, source, failed)]
    complain(runs.problems, runs.problem_count)
    if not chosen:
        if task_id or source or failed:
            raise UsageError("no run is left; look at the ids and sources with `contramem traces`.")
        raise nothing_read(runs.problems, runs.ignored)
    find = _Finder(cards, all_cards)
    replayed = [replay_run(run, find(run)) for run in chosen]
    if as_json:
        click.echo(msgspec.json.encode([_as_json(one) for one in replayed]))
    elif len(replayed) == 1:
        show_run(replayed[0], Console())
    else:
        list_runs(replayed, limit, Console())


def _wanted(run: Trajectory, task_id: str | None, source: str | None, failed: bool) -> bool:
    if task_id is not None and task_id not in (run.task_id, run.task_key):
        return False
    if source is not None and source != run.source:
        return False
    return not failed or run.outcome.passed is False


class _Finder:
    """The cards for a run: those that its agent would have been shown, or all of its ability."""

    def __init__(self, cards: Sequence[SkillCard], all_cards: bool) -> None:
        self._cards, self._all = cards, all_cards
        self._retriever = Retriever(cards, ())

    def __call__(self, run: Trajectory) -> list[SkillCard]:
        same = [card for card in self._cards if card.ability == run.ability]
        if self._all:
            return same or list(self._cards)
        query = Query(run.task, ability=run.ability if same else None)
        hits = self._retriever.retrieve(query, profile_named("default")).skills
        return [hit.card for hit in hits if isinstance(hit.card, SkillCard)]


def _as_json(one: Replayed) -> dict[str, Any]:
    return {
        "task": one.run.task_key,
        "source": one.run.source,
        "run": one.run.run,
        "passed": one.run.outcome.passed,
        "guards": len(one.guards),
        "pending": [_obligation(owed) for owed in one.pending],
        "broken": [_obligation(broken) for broken in one.broken],
    }


def _obligation(one: Obligation) -> dict[str, str]:
    return {"guard": str(one.guard), "text": one.text, "card_id": one.card_id, "title": one.title}
