"""Splits tasks into reference and held-out ones, without anything that would leak between them.

Splitting (`group_tasks`) and checking for leaks use the same `marks`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, NamedTuple, TypeAlias

from contramem.errors import UsageError
from contramem.traces.trajectory import Trajectory

Grouping: TypeAlias = Literal["scenario", "template", "task"]
"""What is kept on one side. Tasks with the same id or wording always are."""
What: TypeAlias = Literal["id", "wording", "scenario", "template"]
Mark: TypeAlias = tuple[What, str]
"""A property of a task that identifies it. Tasks that share one stay on one side."""


@dataclass(frozen=True, order=True)
class SplitTask:
    """A task as a split sees it."""

    key: str
    """Unique: environment, id and, for authored tasks, the wording."""
    environment: str
    id: str
    ability: str = "general"
    scenario: str | None = None
    wording: str = ""

    @classmethod
    def of(cls, run: Trajectory) -> SplitTask:
        """The task that a run is of."""
        ability = run.ability or "general"
        return cls(run.task_key, run.environment, run.task_id, ability, run.scenario_id, run.task)


Group = tuple[SplitTask, ...]
"""Tasks that must be on the same side."""


def fold_wording(wording: str) -> str:
    """Normalize a wording: case and white space don't make it a different task."""
    return " ".join(wording.casefold().split())


_VALUES = re.compile(r"\"[^\"]*\"|“[^”]*”|‘[^’]*’|(?<!\w)'[^']*'(?!\w)|\S+@\S+|\d[\d.,:/-]*")


def template_of(wording: str) -> str:
    """A wording with its values (numbers, dates, quoted words, addresses) replaced by `#`."""
    return fold_wording(_VALUES.sub("#", wording))


def are_related(name: str, other: str) -> bool:
    """Whether two environments are the same, or one contains the other: `bfcl` and `bfcl/drive`. Empty matches any."""
    return not name or not other or name == other or name.startswith(f"{other}/") or other.startswith(f"{name}/")


def list_separated(by: Grouping) -> tuple[What, ...]:
    """The properties that this grouping keeps on one side. A split by task does not keep scenarios together."""
    return ("id", "wording") if by == "task" else ("id", "wording", by)


def marks(task: SplitTask, by: Grouping) -> Iterator[Mark]:
    """The properties of this task that may be on one side only."""
    yield "id", task.id
    if task.wording.strip():
        yield "wording", fold_wording(task.wording)
        if by == "template":
            yield "template", template_of(task.wording)
    if by == "scenario" and task.scenario is not None:
        yield "scenario", task.scenario


def joins(mark: Mark, task: SplitTask, other: SplitTask) -> bool:
    """Whether a mark that both tasks have joins them. Ids such as `user_task_1` recur in every suite, so an id counts
    only within its environment."""
    return mark[0] != "id" or are_related(task.environment, other.environment)


def group_tasks(tasks: Iterable[SplitTask], by: Grouping) -> list[Group]:
    """Group tasks that share marks, directly or through other tasks."""
    leader: dict[str, str] = {}

    def find(key: str) -> str:
        while leader[key] != key:
            leader[key] = leader[leader[key]]
            key = leader[key]
        return key

    members = sorted(set(tasks))
    marked: dict[Mark, dict[str, SplitTask]] = defaultdict(dict)
    for task in members:
        leader[task.key] = task.key
        for mark in marks(task, by):
            # One task per environment represents all tasks there that have the mark.
            for other in marked[mark].values():
                if joins(mark, task, other):
                    first, second = find(task.key), find(other.key)
                    leader[max(first, second)] = min(first, second)
            marked[mark].setdefault(task.environment, task)
    groups: dict[str, list[SplitTask]] = defaultdict(list)
    for task in members:
        groups[find(task.key)].append(task)
    return [tuple(group) for group in groups.values()]


class Halves(NamedTuple):
    """Tasks, each with all its runs."""

    reference: list[Sequence[Trajectory]]
    held_out: list[Sequence[Trajectory]]


def halves(tasks: Sequence[Sequence[Trajectory]], seed: int) -> Halves:
    """Put a random half of the groups into the reference and hold out the rest. Deterministic for a seed."""
    group = group_names(tasks)
    names = sorted(set(group.values()))
    if len(names) < 2:
        raise UsageError(
            f"{len(tasks)} task(s) of one template or wording cannot be split in two. Give runs of more tasks."
        )
    sample = set(Random(seed).sample(names, len(names) // 2))
    reference = [task for task in tasks if group[task[0].task_key] in sample]
    return Halves(reference, [task for task in tasks if group[task[0].task_key] not in sample])


def group_names(tasks: Iterable[Sequence[Trajectory]]) -> dict[str, str]:
    """By task key, the name of the task's group: a scenario or, without one, a task."""
    return {
        task.key: min(member.scenario or f"{member.environment}/{member.id}" for member in group)
        for group in group_tasks((SplitTask.of(runs[0]) for runs in tasks), "scenario")
        for task in group
    }


class Finder:
    """Finds the task of a run by key, by id within related environments, or by wording."""

    def __init__(self, tasks: Iterable[SplitTask]) -> None:
        self._by_key: dict[str, SplitTask] = {}
        self._by_id: dict[str, list[SplitTask]] = {}
        self._by_wording: dict[str, SplitTask] = {}
        for task in tasks:
            self._by_key[task.key] = task
            self._by_id.setdefault(task.id, []).append(task)
            if task.wording.strip():
                self._by_wording[fold_wording(task.wording)] = task

    def __call__(self, run: Trajectory) -> SplitTask | None:
        task = SplitTask.of(run)
        if task.key in self._by_key:
            return self._by_key[task.key]
        same_id = (other for other in self._by_id.get(task.id, ()) if are_related(task.environment, other.environment))
        return next(same_id, None) or self._by_wording.get(fold_wording(task.wording))
