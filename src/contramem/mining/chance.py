"""Chance: how strongly runs speak for a rule, and how strongly chance would have made them speak for one."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contramem.chance import OutcomeTable, chance

EXCEPTIONS = 0.04
"""How often a run that breaks a rule passes all the same."""
ALONE = 0.7
"""Nats that a task may give at most in which every run breaks a rule and fails."""
_LOG_FACTORIALS = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 20_000)))])


def evidence(kept: Any, kept_passed: Any, broken: Any, broken_passed: Any) -> NDArray[np.float64]:
    """The log Bayes factor of each stratum: runs that break the rule fail, but for a few exceptions, against: it makes
    no difference. Only contrasts within a stratum count in its favour."""
    runs, passed = kept + broken, kept_passed + broken_passed
    same = _LOG_FACTORIALS[passed] + _LOG_FACTORIALS[runs - passed] - _LOG_FACTORIALS[runs + 1]
    keeping = _LOG_FACTORIALS[kept_passed] + _LOG_FACTORIALS[kept - kept_passed] - _LOG_FACTORIALS[kept + 1]
    breaking = broken_passed * log(EXCEPTIONS) + (broken - broken_passed) * log(1 - EXCEPTIONS)
    found = keeping + breaking - same
    few = np.minimum(found, np.where(kept == 0, ALONE, 0))
    result: NDArray[np.float64] = np.where(broken == 0, 0, np.where(kept_passed == 0, few, found))
    return result


def exact_chance(kept: Any, broken: Any, passed: Any, strata: NDArray[np.intp]) -> float:
    """The probability of so few passing runs among those that broke a rule, if outcomes were random within strata."""
    size = int(strata.max(initial=0)) + 1
    counts = [
        np.bincount(strata[mask], minlength=size)
        for mask in (kept & passed, kept & ~passed, broken & passed, broken & ~passed)
    ]
    return chance(OutcomeTable(*map(int, row)) for row in zip(*counts, strict=True))


def permute_within(passed: NDArray[np.bool_], groups: Sequence[Any], rng: np.random.Generator) -> NDArray[np.bool_]:
    """The outcomes, dealt anew within each group of runs."""
    dealt = passed.copy()
    for group in groups:
        dealt[group] = rng.permutation(passed[group])
    return dealt
