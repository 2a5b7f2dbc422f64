"""Masks: sets of runs as the bits of an integer, so that thousands of guards can be counted against thousands of
conditions. Bit n stands for the n-th run of the sequence."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import or_
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from contramem.chance import Margins, OutcomeTable, chance_of_margins
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
    places: list[int] = np.flatnonzero(bits_of(mask, mask.bit_length())).tolist()
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


def bits_of(mask: Mask, runs: int) -> NDArray[np.bool_]:
    """One truth value per run."""
    packed = np.frombuffer(mask.to_bytes((runs + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(packed, bitorder="little", count=runs).view(np.bool_)


class RunsInOrder:
    """Runs ordered by a number: those on one side of a boundary are known without looking at each of them."""

    def __init__(self, numbers: dict[int, float], masks: dict[int, Mask]) -> None:
        places = sorted(numbers, key=numbers.__getitem__)
        self._numbers = [numbers[place] for place in places]
        self._masks = list(accumulate((masks[place] for place in places), or_, initial=0))

    def find_below(self, boundary: float) -> tuple[int, Mask]:
        """How many there are, and the runs in which that holds."""
        count = bisect_left(self._numbers, boundary)
        return count, self._masks[count]

    def find_up_to(self, boundary: float) -> tuple[int, Mask]:
        count = bisect_right(self._numbers, boundary)
        return count, self._masks[count]


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
        self._by_changes = _group(map(_changes_of, runs))
        self._is_failed = bits_of(self.failed, len(runs))
        self._task_numbers = _number(run.task for run in runs)
        self._stratum_numbers = _number(map(run_set.stratum_of, runs))
        self._chances = dict[GuardMasks, float]()

    def table(self, masks: GuardMasks) -> OutcomeTable:
        kept_passed, broke_passed = (masks.kept & self.passed).bit_count(), (masks.broken & self.passed).bit_count()
        kept_failed = masks.kept.bit_count() - kept_passed
        return OutcomeTable(kept_passed, kept_failed, broke_passed, masks.broken.bit_count() - broke_passed)

    def chance(self, masks: GuardMasks) -> float:
        """The probability of so large a difference if outcomes were random within tasks."""
        if masks not in self._chances:
            self._chances[masks] = self._find_chance(masks)
        return self._chances[masks]

    def _find_chance(self, masks: GuardMasks) -> float:
        kept, broken = (bits_of(mask, len(self.runs)) for mask in masks)
        runs, failed, broke, broke_failed = (
            np.bincount(self._stratum_numbers[chosen], minlength=len(self.runs))
            for chosen in (kept | broken, (kept | broken) & self._is_failed, broken, broken & self._is_failed)
        )
        telling = (broke > 0) & (broke < runs) & (failed > 0) & (failed < runs)
        margins = zip((runs - failed)[telling].tolist(), failed[telling].tolist(), broke[telling].tolist(), strict=True)
        return chance_of_margins(Counter(map(Margins._make, margins)), int(broke_failed[telling].sum()))

    def count_tasks(self, mask: Mask) -> int:
        return int(np.count_nonzero(self._find_tasks(mask)))

    def spread_to_tasks(self, mask: Mask) -> Mask:
        """All runs of the tasks that some of these runs belong to."""
        spread = self._find_tasks(mask)[self._task_numbers]
        return int.from_bytes(np.packbits(spread, bitorder="little").tobytes(), "little")

    def _find_tasks(self, mask: Mask) -> NDArray[np.bool_]:
        """For the number of each task, whether some of these runs belong to it."""
        found = np.zeros(len(self.runs), dtype=np.bool_)
        found[self._task_numbers[bits_of(mask, len(self.runs))]] = True
        return found

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


def _number(names: Iterable[str]) -> NDArray[np.intp]:
    """A number for each name, the same for equal ones."""
    numbers = dict[str, int]()
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)
