"""Contest: one task with recorded runs that passed and others that failed. Who can tell which is which?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from contramem.evaluate.stats import Interval, TaskChange, bootstrap_interval
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Trajectory

MIN_PAIRS = 200
"""With fewer pairs a figure is descriptive only."""


@dataclass(frozen=True)
class TaskContest:
    """One task. Runs that were cut off, or whose outcome nobody knows, are not part of it."""

    key: str
    task_id: str
    task: str
    ability: str
    scenario_id: str | None
    passing: tuple[Trajectory, ...]
    failing: tuple[Trajectory, ...]

    @property
    def pairs(self) -> int:
        return len(self.passing) * len(self.failing)

    @property
    def query(self) -> Query:
        """As a memory is asked about it."""
        return Query(self.task, self.ability, task_id=self.task_id, scenario_id=self.scenario_id)

    def is_of(self, run: Trajectory) -> bool:
        """Is the run of this task, in these or other words, or of its scenario?"""
        if self.scenario_id is not None and run.scenario_id == self.scenario_id:
            return True
        same_id = run.task_id == self.task_id and run.environment == self.passing[0].environment
        return same_id or (bool(self.task) and run.task == self.task)


def contests(tasks: Iterable[Sequence[Trajectory]]) -> list[TaskContest]:
    """The tasks in which some runs passed and others failed."""
    contests_ = []
    for runs in tasks:
        counted = [run for run in runs if run.outcome.passed is not None and run.outcome.ended != "interrupted"]
        passing = tuple(run for run in counted if run.outcome.passed)
        failing = tuple(run for run in counted if not run.outcome.passed)
        if passing and failing:
            first = passing[0]
            contests_.append(
                TaskContest(
                    key=first.task_key,
                    task_id=first.task_id,
                    task=first.task,
                    ability=first.ability or "general",
                    scenario_id=first.scenario_id,
                    passing=passing,
                    failing=failing,
                )
            )
    return contests_


class OrderedPairs(NamedTuple):
    """How one task's pairs were ordered."""

    right: float
    """Pairs in which the passing run scored higher; a tie is half right."""
    pairs: int


def order_pairs(contest: TaskContest, score: Callable[[Trajectory], float]) -> OrderedPairs:
    """Order every (passing, failing) pair by score."""
    good = [round(score(run), 9) for run in contest.passing]
    bad = [round(score(run), 9) for run in contest.failing]
    return OrderedPairs(
        sum(
            (score_of_pass > score_of_fail) + 0.5 * (score_of_pass == score_of_fail)
            for score_of_pass in good
            for score_of_fail in bad
        ),
        contest.pairs,
    )


def share(orders: Sequence[OrderedPairs]) -> float | None:
    """Of all pairs. None without any."""
    pairs = sum(order.pairs for order in orders)
    return sum(order.right for order in orders) / pairs if pairs else None


def share_interval(orders: Sequence[OrderedPairs], rng: Random) -> Interval | None:
    """Resampling tasks. Halves are counted as wholes of twice as many, so that the counts stay whole."""
    return bootstrap_interval([[TaskChange(round(2 * order.right), 2 * order.pairs) for order in orders]], rng)


def difference(ours: Sequence[OrderedPairs], theirs: Sequence[OrderedPairs]) -> float | None:
    """Ours minus theirs, over the same tasks."""
    mine, other = share(ours), share(theirs)
    return None if mine is None or other is None else mine - other


def difference_interval(ours: Sequence[OrderedPairs], theirs: Sequence[OrderedPairs], rng: Random) -> Interval | None:
    """Paired: both sides of the same resampled tasks."""
    changes = [
        TaskChange(round(2 * mine.right - 2 * other.right), 2 * mine.pairs)
        for mine, other in zip(ours, theirs, strict=True)
    ]
    return bootstrap_interval([changes], rng)
