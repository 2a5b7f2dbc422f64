"""Foresight: how well a bank's guards separate failing from passing recorded runs of unseen tasks.

It needs no model and no environment. Within each task, every pair of a passing and a failing run is ordered by score;
the result is the share ordered correctly, where 0.5 is chance. Baselines order the same pairs, and what counts is the
paired difference to the best of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard
from contramem.errors import UsageError
from contramem.evaluate.stats import Interval
from contramem.traces.trajectory import Trajectory, digest
from contramem_lab.baselines import CONTROL, Judge, baselines
from contramem_lab.contest import (
    MIN_PAIRS,
    OrderedPairs,
    TaskContest,
    contests,
    difference,
    difference_interval,
    order_pairs,
    share,
    share_interval,
)
from contramem_lab.foresight_guards import CardGuards, Habits, card_judge, guard_judge, habit_judge

OURS = "guards"
CARDS_ALONE = "guards of the cards alone"
HABITS_ALONE = "habits alone"
EXPECTATION = "expectation alone"
PARTS = (OURS, CARDS_ALONE, HABITS_ALONE, EXPECTATION)
"""Our score and its parts, which are not baselines."""


@dataclass(frozen=True)
class ForesightDifference:
    """Our score minus another, over the same pairs."""

    to: str
    value: float
    interval: Interval | None


@dataclass(frozen=True)
class Foresight:
    """How well passing and failing runs were separated."""

    orders: Mapping[str, tuple[OrderedPairs, ...]]
    """By judge: the pairs of each task. All judges have the same tasks in the same order."""
    keys: tuple[str, ...]
    """The keys of those tasks."""
    left_out: int
    """Tasks left out because they taught the bank or are among the reference runs."""
    score: float
    interval: Interval | None
    best: ForesightDifference
    """The difference to the best baseline. The control is not a baseline: it only knows which source ran."""
    control: ForesightDifference
    memory: ForesightDifference
    """The difference to the guards with their prior weights: what was learned from runs."""

    @property
    def tasks(self) -> int:
        return len(self.orders[OURS])

    @property
    def pairs(self) -> int:
        return sum(order.pairs for order in self.orders[OURS])

    @property
    def is_descriptive(self) -> bool:
        """Whether there are too few pairs to draw conclusions."""
        return self.pairs < MIN_PAIRS

    def shares(self) -> dict[str, float]:
        """The share of correctly ordered pairs by judge, including ours."""
        return {name: value for name, orders in self.orders.items() if (value := share(orders)) is not None}

    def as_json(self) -> dict[str, Any]:
        shares = self.shares()
        return {
            "tasks": self.tasks,
            "pairs": self.pairs,
            "left_out": self.left_out,
            "descriptive_only": self.is_descriptive,
            "score": shares.pop(OURS),
            "interval": _as_json(self.interval),
            "parts": {part: shares.pop(part) for part in PARTS[1:]},
            "baselines": shares,
            "difference": _difference(self.best),
            "difference_to_control": _difference(self.control),
            "difference_to_expectation": _difference(self.memory),
        }


def _difference(difference: ForesightDifference) -> dict[str, Any]:
    return {"to": difference.to, "value": difference.value, "interval": _as_json(difference.interval)}


def _as_json(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def foresight(
    tasks: Iterable[Sequence[Trajectory]],
    bank: Bank,
    reference: Iterable[Sequence[Trajectory]] | None,
    rng: Random,
) -> Foresight:
    """Order the runs of every unseen task. `reference` are the runs that the bank was built from, by task."""
    reference_tasks = None if reference is None else [list(runs) for runs in reference]
    all_tasks = [list(runs) for runs in tasks]
    contested = contests(all_tasks)
    taught = _TaughtTasks(bank, reference_tasks or ())
    unseen = [contest for contest in contested if not taught.by(contest)]
    if not unseen:
        raise UsageError(_nothing_left(len(all_tasks), len(contested)))
    judges = _judges(all_tasks, bank, reference_tasks)
    orders = {name: tuple(order_pairs(contest, judge(contest)) for contest in unseen) for name, judge in judges.items()}
    ours = orders[OURS]
    rivals = [name for name in orders if name not in (*PARTS, CONTROL)]
    best = max(rivals, key=lambda name: (share(orders[name]) or 0.0, name))
    our_share = share(ours)
    assert our_share is not None, "a contest has pairs"
    return Foresight(
        orders=orders,
        keys=tuple(contest.key for contest in unseen),
        left_out=len(contested) - len(unseen),
        score=our_share,
        interval=share_interval(ours, rng),
        best=compare_orders(orders, best, rng),
        control=compare_orders(orders, CONTROL, rng),
        memory=compare_orders(orders, EXPECTATION, rng),
    )


def compare_orders(orders: Mapping[str, Sequence[OrderedPairs]], to: str, rng: Random) -> ForesightDifference:
    value = difference(orders[OURS], orders[to])
    assert value is not None, "a contest has pairs"
    return ForesightDifference(to, value, difference_interval(orders[OURS], orders[to], rng))


def _judges(tasks: list[list[Trajectory]], bank: Bank, reference: list[list[Trajectory]] | None) -> dict[str, Judge]:
    cards = CardGuards(bank)
    habits = Habits() if reference is None else Habits.learn(contests(reference))
    runs = [run for task in tasks for run in task]
    reference_runs = None if reference is None else [run for task in reference for run in task]
    return {
        OURS: guard_judge(cards, habits),
        CARDS_ALONE: card_judge(cards),
        HABITS_ALONE: habit_judge(habits),
        EXPECTATION: habit_judge(Habits()),
        **baselines(runs, reference_runs),
    }


class _TaughtTasks:
    """Recognizes the tasks that taught a bank, by id, text or scenario."""

    def __init__(self, bank: Bank, reference: Iterable[Sequence[Trajectory]]) -> None:
        self._digests: set[str] = set()
        self._of_ability: set[tuple[str, str]] = set()
        for entry in bank.entries.values():
            self._digests.update(entry.support.taught_by)
            if isinstance(entry.card, SkillCard):
                self._of_ability.update((entry.card.ability, key) for key in entry.support.taught_by)
        self._runs = [runs[0] for runs in reference if runs]

    def by(self, contest: TaskContest) -> bool:
        texts = (contest.key, contest.task, contest.scenario_id)
        if any(digest(text) in self._digests for text in texts if text):
            return True
        # Ids such as `user_task_1` recur in every suite, so an id counts only within its ability.
        if (contest.ability, digest(contest.task_id)) in self._of_ability:
            return True
        return any(contest.is_of(run) for run in self._runs)


def _nothing_left(tasks: int, contested: int) -> str:
    if not contested:
        return (
            f"none of the {tasks} tasks has runs that passed and others that failed, so there is nothing to tell apart."
        )
    return (
        f"all {contested} tasks with both outcomes taught the bank or are among the reference runs. "
        "Give runs of other tasks."
    )
