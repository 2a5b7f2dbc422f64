"""RunMasks: how runs ended, and the groups in which they are compared, as masks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from contramem.chance import Margins, OutcomeTable, chance_of_margins
from contramem.study.masks import GuardMasks, Mask, bits_of, mask_from_bits, mask_of, number_names
from contramem.study.run_set import RunSet, StudyRun


class RunMasks:
    """How runs ended, and the groups in which they are compared."""

    def __init__(self, runs: Sequence[StudyRun], run_set: RunSet) -> None:
        self.runs = runs
        self.every = (1 << len(runs)) - 1
        self.passed = mask_of(place for place, run in enumerate(runs) if run.passed)
        self.failed = self.every & ~self.passed
        self._by_changes = _group(run.outline.changes for run in runs)
        self._is_failed = bits_of(self.failed, len(runs))
        self._task_numbers = number_names(run.task for run in runs)
        self._stratum_numbers = number_names(map(run_set.stratum_of, runs))
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
        strata = {Margins(*each): times for each, times in Counter(margins).items()}
        return chance_of_margins(strata, int(broke_failed[telling].sum()))

    def count_tasks(self, mask: Mask) -> int:
        return int(np.count_nonzero(self._find_tasks(mask)))

    def spread_to_tasks(self, mask: Mask) -> Mask:
        """All runs of the tasks that some of these runs belong to."""
        return mask_from_bits(self._find_tasks(mask)[self._task_numbers])

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


def _group(changes: Iterable[frozenset[str]]) -> dict[frozenset[str], Mask]:
    masks = defaultdict[frozenset[str], Mask](int)
    for place, made in enumerate(changes):
        masks[made] |= 1 << place
    return dict(masks)
