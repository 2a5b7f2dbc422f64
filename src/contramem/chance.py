"""Could it be chance? The exact probability that runs which broke a guard fail so often, were outcomes dealt at random.

Outcomes are dealt again within each stratum (a task, or a kind of task where tasks have one run each), never across: a
hard task does not speak against an easy one's habits. The number of failing runs among those that broke the guard is
then hypergeometric in each stratum, and over strata the numbers add up: the exact conditional test of stratified 2x2
tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class OutcomeTable(NamedTuple):
    """Runs that kept and broke a guard, by outcome."""

    kept_passed: int = 0
    kept_failed: int = 0
    broke_passed: int = 0
    broke_failed: int = 0

    @property
    def passed(self) -> int:
        return self.kept_passed + self.broke_passed

    @property
    def failed(self) -> int:
        return self.kept_failed + self.broke_failed

    @property
    def broke(self) -> int:
        return self.broke_passed + self.broke_failed

    @property
    def tells(self) -> bool:
        """Could dealing the outcomes again change anything?"""
        return bool(self.broke < sum(self) and self.broke and self.passed and self.failed)


def chance(tables: Iterable[OutcomeTable]) -> float:
    """The probability of at least as many failing runs among those that broke the guard. 1.0: nothing could tell."""
    likelihood: NDArray[np.float64] = np.ones(1)
    observed = 0
    for table in tables:
        if table.tells:
            observed += table.broke_failed
            likelihood = np.convolve(likelihood, _deal(table))
    return float(min(1.0, likelihood[observed:].sum()))


@lru_cache(maxsize=4096)
def _deal(table: OutcomeTable) -> NDArray[np.float64]:
    """For each number, the probability that so many of the runs that broke the guard are failing ones."""
    passed, failed, broke = table.passed, table.failed, table.broke
    ways = comb(failed + passed, broke)
    counts = range(min(broke, failed) + 1)
    return np.array([comb(failed, number) * comb(passed, broke - number) / ways for number in counts])
