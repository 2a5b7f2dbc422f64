"""Condition pairs: two conditions that only together leave a guard without exceptions. `listed`, but no `repair`.

All pairs are tried, and not only those whose first condition looks good alone: half of an exception looks like chance.
A guard speaks about few tasks, so that most conditions are true of the same of them, and only one of those is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from contramem.study.atoms import Atom
from contramem.study.masks import GuardMasks, Mask, bits_of, matrix_of
from contramem.study.run_masks import RunMasks

MAX_ATOMS = 120
"""Conditions of one guard that pairs are made of: those that leave most of the failures in."""
MAX_PAIRS = 48
"""Of one guard, those that separate best."""
MIN_RUNS = 2
"""That keep the guard, and that break it, where both conditions are true."""


class ConditionPair(NamedTuple):
    """Two conditions, and how many pairs there were to choose from."""

    first: Atom
    second: Atom
    tried: int
    """Pairs of slots, times the choices in these two. The more, the less it means."""

    @property
    def atoms(self) -> tuple[Atom, Atom]:
        return self.first, self.second


def find_pairs(guard: GuardMasks, atoms: Sequence[Atom], masks: RunMasks, max_wrong: float) -> list[ConditionPair]:
    """The pairs under which at most the share `max_wrong` of the passing runs break the guard, where neither condition
    alone does that; the pair that separates best first."""
    chosen = _select_atoms(guard, atoms, masks, max_wrong)
    if len(chosen) < 2:
        return []
    runs = len(masks.runs)
    matrix = matrix_of([atom.mask for atom in chosen], runs)
    sides = [matrix[:, bits_of(side & outcome, runs)] for outcome in (masks.passed, masks.failed) for side in guard]
    kept_passed, broke_passed, kept_failed, broke_failed = (side @ side.T for side in sides)
    passing = kept_passed + broke_passed
    numbers = {slot: number for number, slot in enumerate(dict.fromkeys(atom.slot for atom in chosen))}
    slots = np.array([numbers[atom.slot] for atom in chosen])
    is_right = (
        (broke_passed <= max_wrong * passing)
        & (kept_passed >= MIN_RUNS)
        & (broke_failed >= MIN_RUNS)
        & (slots[:, None] < slots[None, :])
    )
    size = np.maximum(1, passing + kept_failed + broke_failed)
    worth = np.where(is_right, (kept_passed * broke_failed - kept_failed * broke_passed) / size, 0.0)
    useful = np.flatnonzero(worth > 0)
    best = useful[np.argsort(-worth.flat[useful], kind="stable")][:MAX_PAIRS]
    count = len(set(slots.tolist()))
    pairs = [divmod(int(place), len(chosen)) for place in best]
    return [
        ConditionPair(
            chosen[first], chosen[second], count * (count - 1) // 2 * chosen[first].choices * chosen[second].choices
        )
        for first, second in pairs
    ]


def _select_atoms(guard: GuardMasks, atoms: Sequence[Atom], masks: RunMasks, max_wrong: float) -> list[Atom]:
    """Those that leave some of the exceptions and not all, the simplest of those that are true of the same runs."""
    wrong, failing, right = guard.broken & masks.passed, guard.broken & masks.failed, guard.kept & masks.passed
    by_mask: dict[Mask, Atom] = {}
    for atom in atoms:
        if atom.mask & wrong and wrong & ~atom.mask:
            by_mask.setdefault(atom.mask & guard.spoken, atom)
    loose = [
        (-(mask & failing).bit_count(), number, atom)
        for number, (mask, atom) in enumerate(by_mask.items())
        if (mask & failing).bit_count() >= MIN_RUNS
        and (mask & right).bit_count() >= MIN_RUNS
        and (mask & wrong).bit_count() > max_wrong * (mask & (wrong | right)).bit_count()
    ]
    return [atom for _, _, atom in sorted(loose)[:MAX_ATOMS]]
