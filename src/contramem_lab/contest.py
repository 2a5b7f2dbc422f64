"""TaskContest: a task with passing and failing runs, used to measure how well a score separates them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from contramem.evaluate.stats import Interval, TaskChange, bootstrap_interval
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Trajectory

MIN_PAIRS = 200
"""With fewer pairs, a figure is only descriptive."""


@dataclass(frozen=True)
class TaskContest:
    """One task, without runs that were interrupted or have no known outcome."""

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
        """The query for retrieving memory for this task."""
        return Query(self.task, self.ability, task_id=self.task_id, scenario_id=self.scenario_id)

    def is_of(self, run: Trajectory) -> bool:
        """Whether the run is of this task (by id or text) or of its scenario."""
        if self.scenario_id is not None and run.scenario_id == self.scenario_id:
            return True
        same_id = run.task_id == self.task_id and run.environment == self.passing[0].environment
        return same_id or (bool(self.task) and run.task == self.task)


def contests(tasks: Iterable[Sequence[Trajectory]]) -> list[TaskContest]:
    """A contest for each task with both passing and failing runs."""
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
    """How well a score ordered the pairs of one task."""

    right: float
    """The number of pairs in which the passing run scored higher; a tie counts half."""
    pairs: int


def order_pairs(contest: TaskContest, score: Callable[[Trajectory], float]) -> OrderedPairs:
    """Count the (passing, failing) pairs that the score orders correctly."""
    passing_scores = [round(score(run), 9) for run in contest.passing]
    failing_scores = [round(score(run), 9) for run in contest.failing]
    return OrderedPairs(
        sum(
            (score_of_pass > score_of_fail) + 0.5 * (score_of_pass == score_of_fail)
            for score_of_pass in passing_scores
            for score_of_fail in failing_scores
        ),
        contest.pairs,
    )


def share(orders: Sequence[OrderedPairs]) -> float | None:
    """The share of all pairs that are ordered correctly; None without pairs."""
    pairs = sum(order.pairs for order in orders)
    return sum(order.right for order in orders) / pairs if pairs else None


def share_interval(orders: Sequence[OrderedPairs], rng: Random) -> Interval | None:
    """The interval of the share, by resampling tasks. Counts are doubled, so that ties (halves) become integers."""
    return bootstrap_interval([[TaskChange(round(2 * order.right), 2 * order.pairs) for order in orders]], rng)


def difference(ours: Sequence[OrderedPairs], theirs: Sequence[OrderedPairs]) -> float | None:
    """Our share minus theirs, over the same tasks."""
    our_share, their_share = share(ours), share(theirs)
    return None if our_share is None or their_share is None else our_share - their_share


def difference_interval(ours: Sequence[OrderedPairs], theirs: Sequence[OrderedPairs], rng: Random) -> Interval | None:
    """The interval of the difference; tasks are resampled for both sides together."""
    changes = [
        TaskChange(round(2 * mine.right - 2 * other.right), 2 * mine.pairs)
        for mine, other in zip(ours, theirs, strict=True)
    ]
    return bootstrap_interval([changes], rng)
