"""Sharpen: find the condition on data under which a guard decides, if it is noise without one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from contramem.chance import OutcomeTable
from contramem.errors import GuardError
from contramem.guards.guard import Guard, parse_guard
from contramem.guards.templates import Verdict
from contramem.study.atoms import MIN_TASKS, Atom, collect_atoms
from contramem.study.condition_pairs import find_pairs
from contramem.study.masks import GuardMasks, Mask, count_shared
from contramem.study.run_masks import RunMasks
from contramem.study.run_set import RunSet, StudyRun

MAX_CONTRADICTING = 0.05
"""The share of exceptions among the passing runs under the condition: a condition should leave none."""
MAX_LOOKED_AT = 4_000
"""How many runs are searched for conditions: reading more takes long and adds little."""
MIN_RUNS = 2
"""How many runs must follow it, and how many must break it, under the condition."""
MAX_TWICE = 100
"""How many guards are tried with a second condition."""
MAX_WEIGHED = 24
"""How many conditions of one guard are tested for chance: those that separate best at first sight."""


@dataclass(frozen=True)
class Split:
    """A guard with a condition, and what runs inside and outside it did."""

    guard: Guard
    inside: OutcomeTable
    outside: OutcomeTable
    chance: float
    """Counts inside the condition."""


class Sharpened(NamedTuple):
    """The runs under a condition that leaves a guard fewer exceptions."""

    atoms: tuple[Atom, ...]
    """All must hold."""
    masks: GuardMasks
    chance: float
    tried: int
    """How many conditions could have been chosen instead: slots times the choices in this one. The more, the less it
    means."""
    alike: float
    """The share of the failing runs that made the changes which are right where the condition does not hold. The others
    may have given up."""
    by_luck: float
    """How many of the possible conditions would leave the guard as few exceptions if they were unrelated, that is, if
    each picked as many tasks blindly. If few tasks contradict a guard, or few remain, nearly any condition does."""
    reach: int
    """Runs of any task in which the condition holds."""

    @property
    def condition(self) -> str:
        """In guard syntax."""
        return " and ".join(atom.text for atom in self.atoms)


class _SplitCounts(NamedTuple):
    """By guard and condition."""

    splits: NDArray[np.bool_]
    """Does the condition hold in some of the runs in which the guard applies, but not in all?"""
    is_sharper: NDArray[np.bool_]
    """Are hardly any exceptions left?"""
    worth: NDArray[np.float32]


class Conditions:
    """All conditions that could divide `runs`, to be tried on many guards."""

    def __init__(self, masks: RunMasks, atoms: Sequence[Atom], *, tells_kinds: bool = False) -> None:
        self._masks = masks
        self.tells_kinds = tells_kinds
        """Are the conditions meant to tell kinds of tasks apart?"""
        by_mask: dict[Mask, Atom] = {}
        for atom in atoms:
            by_mask.setdefault(atom.mask, atom)
        self._atoms = list(by_mask.values())

    def __len__(self) -> int:
        return len(self._atoms)

    def sharpen(self, guards: Sequence[GuardMasks], forbids: Sequence[bool] = ()) -> Iterator[list[Sharpened]]:
        """For each guard the conditions that leave fewer exceptions, the one least explained by chance first.

        `forbids`: for each guard, whether it forbids a call. Runs that made the call have not given up.
        """
        counts = self._count_splits(guards)
        if counts is None:
            yield from ([] for _ in guards)
            return
        for row, guard in enumerate(guards):
            places = np.flatnonzero(counts.is_sharper[row])
            best = places[np.argsort(-counts.worth[row, places], kind="stable")][: 4 * MAX_WEIGHED]
            slots = self._count_slots(guard, np.flatnonzero(counts.splits[row])) if len(best) else 1
            is_ban = bool(forbids) and forbids[row]
            yield self._weigh(guard, [self._atoms[place] for place in best], slots, is_ban)

    def _count_slots(self, guard: GuardMasks, places: NDArray[np.intp]) -> int:
        """How many slots could have provided a condition. Conditions that are true of the same runs count as one."""
        atoms = {self._atoms[place].mask & guard.spoken: self._atoms[place] for place in reversed(places)}
        return max(1, round(fsum(1 / atom.choices for atom in atoms.values())))

    def sharpen_twice(
        self, guards: Sequence[GuardMasks], forbids: Sequence[bool] = ()
    ) -> Iterator[tuple[int, list[Sharpened]]]:
        """The same with two conditions, for the guards (told by their place) that most failing runs break."""
        failing = [(guard.broken & self._masks.failed).bit_count() for guard in guards]
        for row in sorted(range(len(guards)), key=lambda row: (-failing[row], row))[:MAX_TWICE]:
            pairs = find_pairs(guards[row], self._atoms, self._masks, MAX_CONTRADICTING)
            is_ban = bool(forbids) and forbids[row]
            sharpened = [self._weigh_one(guards[row], pair.atoms, pair.tried, is_ban) for pair in pairs]
            yield row, sorted((each for each in sharpened if each is not None), key=_order)[:MAX_WEIGHED]

    def _count_splits(self, guards: Sequence[GuardMasks]) -> _SplitCounts | None:
        """None if there is nothing to count."""
        if not self._atoms or not guards:
            return None
        passed, failed = self._masks.passed, self._masks.failed
        sides = [
            *(guard.kept & passed for guard in guards),
            *(guard.kept & failed for guard in guards),
            *(guard.broken & passed for guard in guards),
            *(guard.broken & failed for guard in guards),
        ]
        shared = count_shared(sides, [atom.mask for atom in self._atoms], len(self._masks.runs))
        kept_passed, kept_failed, broke_passed, broke_failed = np.split(shared, 4)
        inside = kept_passed + kept_failed + broke_passed + broke_failed
        passing = kept_passed + broke_passed
        all_broke = np.array([[(guard.broken & passed).bit_count()] for guard in guards])
        all_passing = np.array([[(guard.spoken & passed).bit_count()] for guard in guards])
        size = np.array([[guard.spoken.bit_count()] for guard in guards])
        splits = (inside > 0) & (inside < size)
        has_enough = (
            (broke_failed >= MIN_RUNS)
            & (kept_passed >= MIN_RUNS)
            & (broke_passed * np.maximum(1, all_passing) <= all_broke * passing)
        )
        is_sharper = splits & has_enough & (broke_passed <= MAX_CONTRADICTING * passing)
        worth = (kept_passed * broke_failed - kept_failed * broke_passed) / np.maximum(1, inside)
        return _SplitCounts(splits, is_sharper, worth)

    def _weigh(self, guard: GuardMasks, atoms: Sequence[Atom], slots: int, is_ban: bool) -> list[Sharpened]:
        sharpened: list[Sharpened] = []
        for atom in atoms:
            if len(sharpened) == MAX_WEIGHED:
                break
            weighed = self._weigh_one(guard, (atom,), slots * atom.sides, is_ban)
            if weighed is not None:
                sharpened.append(weighed._replace(tried=slots * atom.choices))
        return sorted(sharpened, key=_order)

    def _weigh_one(self, guard: GuardMasks, atoms: tuple[Atom, ...], sides: int, is_ban: bool) -> Sharpened | None:
        """None: the condition only tells one kind of task from another."""
        mask = self._masks.every
        for atom in atoms:
            mask &= atom.mask
        alike = self._share_alike(guard, mask, is_ban)
        if not alike:
            return None
        inside = guard.within(mask)
        by_luck = sides * self._share_by_luck(guard, inside, any(atom.is_threshold for atom in atoms))
        return Sharpened(atoms, inside, self._masks.chance(inside), sides, alike, by_luck, mask.bit_count())

    def _share_by_luck(self, guard: GuardMasks, inside: GuardMasks, has_threshold: bool) -> float:
        """Among conditions that pick as many tasks blindly, the share that leaves the guard as few exceptions and
        explains the failures of as many tasks. All of them if one task alone shows what holds on either side."""
        count = self._masks.count_tasks
        against = guard.broken & self._masks.passed
        failing = guard.broken & self._masks.failed & ~self._masks.spread_to_tasks(against)
        wrong, least_right = count(against), count(failing & inside.spoken)
        if min(wrong, least_right) < MIN_TASKS:
            return 1.0
        share = share_at_least(
            tasks=count(guard.spoken),
            chosen=count(inside.spoken),
            wrong=wrong,
            most_wrong=count(inside.broken & self._masks.passed),
            right=count(failing),
            least_right=least_right,
        )
        return max(share, share_in_front(wrong, count(failing), least_right)) if has_threshold else share

    def _share_alike(self, guard: GuardMasks, atom: Mask, is_ban: bool) -> float:
        """The share of the failing runs that, under the condition, made the changes that passing runs make where it
        does not hold. If none did, the condition only tells kinds of tasks apart."""
        outside = guard.broken & self._masks.passed & ~atom
        if self.tells_kinds:
            return float(bool(outside))
        failing = guard.broken & self._masks.failed & atom
        return (failing & self._masks.spread_to_alike(outside, with_idle=is_ban)).bit_count() / failing.bit_count()


def share_at_least(*, tasks: int, chosen: int, wrong: int, most_wrong: int, right: int, least_right: int) -> float:
    """If `chosen` of the tasks are drawn blindly: how likely at most `most_wrong` of the `wrong` ones are among
    them, and at least `least_right` of the `right` ones (multivariate hypergeometric)."""
    neither = tasks - wrong - right
    of_wrong, of_right, of_neither = choices_of(wrong), choices_of(right), choices_of(neither)
    ways = sum(
        of_wrong[bad]
        * sum(
            of_right[good] * of_neither[chosen - bad - good]
            for good in range(max(least_right, chosen - bad - neither), min(right, chosen - bad) + 1)
        )
        for bad in range(min(most_wrong, chosen, wrong) + 1)
    )
    return ways / comb(tasks, chosen)


@lru_cache(maxsize=256)
def choices_of(count: int) -> tuple[int, ...]:
    """In how many ways none, one, two and so on of so many can be chosen."""
    return tuple(comb(count, chosen) for chosen in range(count + 1))


def share_in_front(wrong: int, right: int, least_right: int) -> float:
    """If tasks stand in a row blindly: how likely at least so many right ones come before the first wrong one. A
    threshold can be drawn wherever that is so."""
    return comb(wrong + right - least_right, wrong) / comb(wrong + right, wrong)


def _order(sharpened: Sharpened) -> tuple[float, int, int, str]:
    """Least explained by chance first; among thresholds that the same runs pass, the one that claims least."""
    return sharpened.chance * sharpened.tried, sharpened.reach, len(sharpened.condition), sharpened.condition


def find_splits(guard: Guard, runs: Sequence[StudyRun], verdicts: Sequence[Verdict], run_set: RunSet) -> list[Split]:
    """The conditions that would make a guard true that passing runs contradict, best first. Empty: none does.

    If it applies to very many runs, an evenly spread sample is used.
    """
    spoken = [place for place, verdict in enumerate(verdicts) if verdict != "vacuous"]
    places = spoken[:: max(1, -(-len(spoken) // MAX_LOOKED_AT))]
    looked_at, own = [runs[place] for place in places], GuardMasks.of_verdicts([verdicts[place] for place in places])
    masks = RunMasks(looked_at, run_set)
    # Of conditions that are true of the same runs the first is told: rather `days > 5` of the pass that is issued than
    # an amount of something else.
    atoms = sorted(_collect_once(tuple(looked_at)), key=lambda atom: atom.function not in guard.functions)
    # A guard that was tried on all kinds of tasks may only lack the kind it is about.
    sharpened = next(Conditions(masks, atoms).sharpen([own])) or next(
        Conditions(masks, atoms, tells_kinds=True).sharpen([own])
    )
    # Of those that leave as much to chance, the one under which most passing runs keep the guard.
    sharpened.sort(key=lambda each: (each.chance * each.tried, -(each.masks.kept & masks.passed).bit_count()))
    splits = []
    for each in sharpened:
        if (sharper := add_condition(guard, each.condition)) is not None:
            outside = GuardMasks(own.kept & ~each.masks.kept, own.broken & ~each.masks.broken)
            splits.append(Split(sharper, masks.table(each.masks), masks.table(outside), each.chance))
    return splits


@lru_cache(maxsize=1)
def _collect_once(runs: tuple[StudyRun, ...]) -> list[Atom]:
    """Cached: an author tries one guard after another, and those about every run share their runs."""
    return collect_atoms(runs)


def add_condition(guard: Guard, text: str) -> Guard | None:
    """The guard with this additional condition; None: it contains a name from the runs that guard syntax cannot
    express."""
    when = f"{guard.when} and {text}" if guard.when else text
    try:
        return parse_guard(str(guard._replace(when=when)))
    except GuardError:
        return None
