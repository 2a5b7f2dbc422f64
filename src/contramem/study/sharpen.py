"""Sharpen: the condition on data under which a guard decides, where without it it is noise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from contramem.chance import OutcomeTable, chance
from contramem.errors import GuardError
from contramem.monitor.guard import Guard, Verdict, parse_guard
from contramem.study.atoms import Runs, collect_atoms
from contramem.study.run_set import RunSet, StudyRun

MAX_CONTRADICTING = 0.1
"""Of the passing runs that a sharpened guard speaks about: a condition is there to leave no exceptions."""
MIN_RUNS = 2
"""That keep it, and that break it, inside of the condition."""


@dataclass(frozen=True)
class Split:
    """A guard with a condition, and what runs did with it inside and outside."""

    guard: Guard
    inside: OutcomeTable
    outside: OutcomeTable
    chance: float
    """Inside."""


class Weights:
    """Verdicts of one guard on some runs, to be counted over any part of them."""

    def __init__(self, runs: Sequence[StudyRun], verdicts: Sequence[Verdict], run_set: RunSet) -> None:
        self.spoken = [place for place, verdict in enumerate(verdicts) if verdict != "vacuous"]
        self._cells = {p: 2 * (verdicts[p] == "broken") + (not runs[p].passed) for p in self.spoken}
        self._strata = {
            p: runs[p].task if len(run_set.by_task[runs[p].task]) > 1 else run_set.kind_of_task[runs[p].task]
            for p in self.spoken
        }

    def table(self, places: Iterable[int]) -> OutcomeTable:
        counts = [0, 0, 0, 0]
        for place in places:
            if place in self._cells:
                counts[self._cells[place]] += 1
        return OutcomeTable(*counts)

    def chance(self, places: Iterable[int]) -> float:
        strata = defaultdict[str, list[int]](lambda: [0, 0, 0, 0])
        for place in places:
            if place in self._cells:
                strata[self._strata[place]][self._cells[place]] += 1
        return chance(OutcomeTable(*counts) for counts in strata.values())

    def broken_and_failed(self) -> frozenset[int]:
        return frozenset(place for place, cell in self._cells.items() if cell == 3)


def sharpen(
    guard: Guard,
    runs: Sequence[StudyRun],
    verdicts: Sequence[Verdict],
    run_set: RunSet,
    atoms: Mapping[str, Runs] | None = None,
) -> list[Split]:
    """The conditions that leave the fewest exceptions, best first. Empty: none makes the guard better than it is."""
    weights = Weights(runs, verdicts, run_set)
    spoken = frozenset(weights.spoken)
    before = weights.table(spoken)
    splits = []
    for text, places in (atoms if atoms is not None else collect_atoms(runs)).items():
        inside = spoken & places
        table = weights.table(inside)
        if len(inside) == len(spoken) or not _is_sharper(table, before):
            continue
        if (sharper := _with_condition(guard, text)) is not None:
            splits.append(Split(sharper, table, weights.table(spoken - places), weights.chance(inside)))
    splits.sort(key=lambda split: (split.chance, split.inside.broke_passed, len(str(split.guard)), str(split.guard)))
    return splits


def _is_sharper(inside: OutcomeTable, before: OutcomeTable) -> bool:
    """Nearly no passing run breaks it inside, and less often than before."""
    passing = inside.kept_passed + inside.broke_passed
    if inside.broke_passed > MAX_CONTRADICTING * passing or inside.broke_failed < MIN_RUNS:
        return False
    if inside.kept_passed < MIN_RUNS:
        return False
    return inside.broke_passed * max(1, before.kept_passed + before.broke_passed) < before.broke_passed * passing


def _with_condition(guard: Guard, text: str) -> Guard | None:
    when = f"{guard.when} and {text}" if guard.when else text
    try:
        return parse_guard(f"{guard._replace(when='')} when {when}")
    except GuardError:
        return None  # a name in the runs that the language of guards cannot write
