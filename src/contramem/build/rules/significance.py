"""Chance: how likely would runs break a guard like this if that had nothing to do with passing?

Outcomes are permuted within each task (never across tasks: a hard task does not speak against an easy one's habit). For
one task, the number of failing runs among those that broke the guard is then hypergeometric; over tasks the numbers add
up, and the distribution of the sum is computed exactly (the exact conditional test of stratified 2x2 tables). Because
many guards are tried on the same runs, acceptance follows Benjamini and Hochberg (1995) over all that were tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import comb
from typing import NamedTuple

FALSE_SHARE = 0.1
"""Of the guards that are accepted for what outcomes show, the share that may be expected to be chance."""


class OutcomeTable(NamedTuple):
    """The runs of one task: how many broke a guard, and how many failed."""

    passing: int
    failing: int
    broken: int
    """Of both."""
    broken_and_failing: int


def chance(tables: Iterable[OutcomeTable]) -> float:
    """The probability that at least as many of the runs that broke it had failed, were outcomes dealt at random."""
    likelihood, observed = [1.0], 0
    for table in tables:
        observed += table.broken_and_failing
        likelihood = _convolve(likelihood, _dealt(table))
    return min(1.0, sum(likelihood[observed:]))


def _dealt(table: OutcomeTable) -> list[float]:
    """For each number, the probability that so many of the runs that broke the guard are failing ones."""
    ways = comb(table.passing + table.failing, table.broken)
    return [
        comb(table.failing, number) * comb(table.passing, table.broken - number) / ways
        for number in range(min(table.broken, table.failing) + 1)
    ]


def _convolve(one: Sequence[float], other: Sequence[float]) -> list[float]:
    summed = [0.0] * (len(one) + len(other) - 1)
    for index, left in enumerate(one):
        for shift, right in enumerate(other):
            summed[index + shift] += left * right
    return summed


def bar(chances: Collection[float], tried: int, false_share: float = FALSE_SHARE) -> float:
    """The largest probability by chance that is still accepted when `tried` guards were; 0.0: none is.

    Guards that were tried and are not among `chances` count as hopeless, which errs on the safe side.
    """
    accepted = 0.0
    for rank, probability in enumerate(sorted(chances), 1):
        if probability <= false_share * rank / max(tried, len(chances)):
            accepted = probability
    return accepted
