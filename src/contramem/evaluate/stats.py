"""Paired statistics. With too little data, every function returns None and never 0.0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from contramem.inject.log import wilson

MIN_TASKS = 10
"""With fewer tasks, a percentile interval is far too narrow, so none is given."""
RESAMPLES = 5_000
LEVEL = 0.95
_AT_ONCE = 1_000_000
"""How many random numbers are held in memory at a time."""


@dataclass(frozen=True)
class McNemar:
    """McNemar's test: whether gains and losses differ more than a fair coin would explain. None if nothing changed."""

    chi2: float | None
    exact_p: float | None


@dataclass(frozen=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float
    level: float = LEVEL


def ends(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)


class TaskChange(NamedTuple):
    """One task, run on both sides one or more times."""

    change: int
    """Passes with memory minus passes without."""
    pairs: int


class TaskPasses(NamedTuple):
    """One task on one side, run one or more times."""

    passed: int
    runs: int


def mcnemar(gained: int, lost: int) -> McNemar:
    """Both forms of McNemar's test for `gained` changes to pass and `lost` changes to fail."""
    return McNemar(mcnemar_chi2(gained, lost), mcnemar_exact(gained, lost))


def mcnemar_chi2(gained: int, lost: int) -> float | None:
    """Chi-square with one degree of freedom, without continuity correction (McNemar 1947)."""
    changed = gained + lost
    return (gained - lost) ** 2 / changed if changed else None


def mcnemar_exact(gained: int, lost: int) -> float | None:
    """Two-sided exact p-value: under the null each change is a fair coin, so twice the smaller binomial tail.

    The tail is summed in integers, so that very small p-values are exact.
    """
    changed = gained + lost
    if not changed:
        return None
    ways, tail = 1, 0
    for flips in range(min(gained, lost) + 1):
        tail += ways
        ways = ways * (changed - flips) // (flips + 1)
    return min(1.0, 2 * tail / (1 << changed))


def bootstrap_interval(strata: Sequence[Sequence[TaskChange]], rng: Random) -> Interval | None:
    """Percentile interval of the difference in success, resampling tasks (Efron and Tibshirani 1993, ch. 13).

    Whole tasks are drawn, so that several trials of one task don't count as independent. Several strata are resampled
    separately and averaged, which gives the interval of a macro average. None with fewer than `MIN_TASKS` tasks in a
    stratum, or if all tasks agree: resampling then shows no spread, which must not look like certainty.
    """
    if not strata or any(len(tasks) < MIN_TASKS for tasks in strata):
        return None
    if all(len({task.change / task.pairs for task in tasks}) == 1 for tasks in strata):
        return None
    drawn = sorted(_resample(strata, rng))
    outside = int((1 - LEVEL) / 2 * RESAMPLES)
    return Interval(drawn[outside], drawn[-1 - outside])


def success_interval(tasks: Sequence[TaskPasses]) -> Interval | None:
    """Wilson's interval of a success rate, computed with the effective number of runs.

    Runs of one task are correlated, so a hundred runs of ten tasks may say no more than ten runs. The variance between
    tasks gives the effective number (Kish 1965, the design effect; Dean and Pagano 2015 for the interval). None with
    fewer than `MIN_TASKS` tasks.
    """
    if len(tasks) < MIN_TASKS:
        return None
    runs = sum(task.runs for task in tasks)
    share = sum(task.passed for task in tasks) / runs
    effective_runs = _effective_runs(tasks, share, runs)
    return Interval(*wilson(share * effective_runs, effective_runs))


def _effective_runs(tasks: Sequence[TaskPasses], share: float, runs: int) -> float:
    """At least the number of tasks, at most the number of runs."""
    count = len(tasks)
    if runs == count or share in (0, 1):
        return count
    spread = sum((task.passed - share * task.runs) ** 2 for task in tasks) * count / (count - 1) / runs**2
    return min(max(share * (1 - share) / spread, count), runs) if spread else runs


def _resample(strata: Sequence[Sequence[TaskChange]], rng: Random) -> list[float]:
    """The macro difference of every resample. The same as a plain loop over `rng.choices`, and several times faster."""
    import numpy as np

    tables = [np.array(tasks, dtype=np.int64) for tasks in strata]
    width = sum(map(len, strata))
    at_once = max(1, _AT_ONCE // width)
    draws: list[float] = []
    while len(draws) < RESAMPLES:
        rows = min(at_once, RESAMPLES - len(draws))
        drawn = np.fromiter(iter(rng.random, None), float, rows * width).reshape(rows, width)
        total, begin = np.zeros(rows), 0
        for table in tables:
            chosen = table[(drawn[:, begin : begin + len(table)] * len(table)).astype(np.int64)].sum(axis=1)
            total += chosen[:, 0] / chosen[:, 1]
            begin += len(table)
        draws += (total / len(tables)).tolist()
    return draws
