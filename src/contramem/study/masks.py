"""Masks: sets of runs as the bits of an integer, so that thousands of guards can be counted against thousands of
conditions. Bit n stands for the n-th run of the sequence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from contramem.chance import OutcomeTable, chance
from contramem.monitor.guard import Verdict
from contramem.study.run_set import RunSet, StudyRun

Mask: TypeAlias = int

FEW_ROWS = 8
"""The four sides of one or two guards."""


def mask_of(places: Iterable[int]) -> Mask:
    """The mask with these bits."""
    mask = 0
    for place in places:
        mask |= 1 << place
    return mask


def union_of(masks: Iterable[Mask]) -> Mask:
    """The runs in any of them."""
    union = 0
    for mask in masks:
        union |= mask
    return union


def places_of(mask: Mask) -> list[int]:
    """The positions of its bits, lowest first."""
    places = []
    while mask:
        lowest = mask & -mask
        places.append(lowest.bit_length() - 1)
        mask ^= lowest
    return places


def matrix_of(masks: Sequence[Mask], runs: int) -> NDArray[np.float32]:
    """One row per mask, one column per run. Products of such matrices count what two sets share."""
    width = (runs + 7) // 8
    packed = np.frombuffer(b"".join(mask.to_bytes(width, "little") for mask in masks), dtype=np.uint8)
    bits = np.unpackbits(packed.reshape(len(masks), width), axis=1, bitorder="little")
    return bits[:, :runs].astype(np.float32)


def count_shared(rows: Sequence[Mask], columns: Sequence[Mask], runs: int) -> NDArray[np.float32]:
    """How many runs each two of them share. A few are counted bit by bit: a product of matrices wakes threads, which
    take longer than that."""
    if len(rows) <= FEW_ROWS:
        return np.array([[(row & column).bit_count() for column in columns] for row in rows], dtype=np.float32)
    return matrix_of(rows, runs) @ matrix_of(columns, runs).T


class GuardMasks(NamedTuple):
    """The runs that followed a guard and those that broke it. It does not apply to the others."""

    kept: Mask
    broken: Mask

    @classmethod
    def of_verdicts(cls, verdicts: Sequence[Verdict]) -> GuardMasks:
        kept = mask_of(place for place, verdict in enumerate(verdicts) if verdict == "holds")
        return cls(kept, mask_of(place for place, verdict in enumerate(verdicts) if verdict == "broken"))

    @property
    def spoken(self) -> Mask:
        return self.kept | self.broken

    def within(self, mask: Mask) -> GuardMasks:
        return GuardMasks(self.kept & mask, self.broken & mask)


class RunMasks:
    """How runs ended, and the groups in which they are compared."""

    def __init__(self, runs: Sequence[StudyRun], run_set: RunSet) -> None:
        self.runs = runs
        self.every = (1 << len(runs)) - 1
        self.passed = mask_of(place for place, run in enumerate(runs) if run.passed)
        self.failed = self.every & ~self.passed
        self.tasks = _group(run.task for run in runs)
        self._by_changes = _group(map(_changes_of, runs))
        strata = _group(map(run_set.stratum_of, runs))
        self._strata = [
            mask for mask in strata.values() if mask & self.passed and mask & self.failed and mask.bit_count() > 1
        ]

    def table(self, masks: GuardMasks) -> OutcomeTable:
        kept_passed, broke_passed = (masks.kept & self.passed).bit_count(), (masks.broken & self.passed).bit_count()
        kept_failed = masks.kept.bit_count() - kept_passed
        return OutcomeTable(kept_passed, kept_failed, broke_passed, masks.broken.bit_count() - broke_passed)

    def chance(self, masks: GuardMasks) -> float:
        """The probability of so large a difference if outcomes were random within tasks."""
        return chance(
            self.table(masks.within(stratum))
            for stratum in self._strata
            if stratum & masks.broken and stratum & masks.kept
        )

    def count_tasks(self, mask: Mask) -> int:
        return sum(bool(task & mask) for task in self.tasks.values())

    def spread_to_tasks(self, mask: Mask) -> Mask:
        """All runs of the tasks that some of these runs belong to."""
        return union_of(task for task in self.tasks.values() if task & mask)

    def spread_to_alike(self, mask: Mask, *, with_idle: bool) -> Mask:
        """All runs that made the same changes as some of these runs. Runs without any change are alike if `with_idle`;
        otherwise they match none, because they may have given up."""
        spread = 0
        for changes, alike in self._by_changes.items():
            if alike & mask and (changes or with_idle):
                spread |= alike
        return spread


def _changes_of(run: StudyRun) -> str:
    changing = {call.function for call in run.recorded.calls if call.worked and call.effect != "read"}
    return " ".join(sorted(changing))


def _group(names: Iterable[str]) -> dict[str, Mask]:
    masks = defaultdict[str, Mask](int)
    for place, name in enumerate(names):
        masks[name] |= 1 << place
    return dict(masks)
