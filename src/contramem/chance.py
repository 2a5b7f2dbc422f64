"""Exact p-value: the probability that runs which broke a guard fail at least this often by chance.

Outcomes are permuted within each stratum (a task, or a kind of task if tasks have one run each), never across strata,
so that some tasks being harder than others doesn't count. The number of failing runs among those that broke the guard
is then hypergeometric in each stratum, and the numbers add up over strata: this is the exact conditional test of
stratified 2x2 tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import comb, prod
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
        """Whether the table carries information: permuting its outcomes could change the count."""
        return bool(self.broke < sum(self) and self.broke and self.passed and self.failed)


class Margins(NamedTuple):
    """What permuting the outcomes of a stratum leaves as it is."""

    passed: int
    failed: int
    broke: int


def chance(tables: Iterable[OutcomeTable]) -> float:
    """The probability of at least as many failing runs among those that broke the guard; 1.0 without information."""
    telling = [table for table in tables if table.tells]
    strata = Counter(Margins(table.passed, table.failed, table.broke) for table in telling)
    return chance_of_margins(strata, sum(table.broke_failed for table in telling))


def chance_of_margins(strata: Mapping[Margins, int], broke_failed: int) -> float:
    """`chance` from the number of telling strata with each margins, and all failing runs that broke the guard. Most
    strata are alike: thousands of tasks take no longer than a few."""
    likelihood: NDArray[np.float64] = np.ones(1)
    for margins, times in sorted(strata.items()):
        likelihood = np.convolve(likelihood, _add_up(margins, times))
    return float(min(1.0, likelihood[broke_failed:].sum()))


def least_chance(tables: Iterable[OutcomeTable]) -> float:
    """The lowest probability that so many runs could give, whichever of them had failed: it takes nothing but the
    numbers of runs that broke it and of runs that failed, so it does not tell how the comparison would end (Tarone
    1990)."""
    return prod(
        float(_distribution(Margins(table.passed, table.failed, table.broke))[-1]) for table in tables if table.tells
    )


@lru_cache(maxsize=4096)
def _add_up(margins: Margins, times: int) -> NDArray[np.float64]:
    """The distribution of the sum over so many strata with the same margins."""
    if times == 1:
        return _distribution(margins)
    half = times // 2
    return np.convolve(_add_up(margins, half), _add_up(margins, times - half))


@lru_cache(maxsize=4096)
def _distribution(margins: Margins) -> NDArray[np.float64]:
    """The hypergeometric distribution of the number of failing runs among those that broke the guard."""
    passed, failed, broke = margins
    ways = comb(failed + passed, broke)
    counts = range(min(broke, failed) + 1)
    return np.array([comb(failed, number) * comb(passed, broke - number) / ways for number in counts])
