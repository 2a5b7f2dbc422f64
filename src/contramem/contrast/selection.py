"""Selection: the tasks that a build learns from, if an ability has very many.

Past a few hundred tasks that are alike, more teach nothing new and only take time. Tasks are drawn evenly from groups
whose runs call the same functions and end alike, and within a group by a digest of their keys. So rare groups are kept,
rates within a group are preserved, and the same runs give the same selection in any order. Only selected tasks are
contrasted. (These groups are not the kinds of tasks in study/kinds.py, which also compare the words of requests.)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from heapq import nsmallest
from itertools import chain

from contramem.collection.runs import TaskSketch
from contramem.traces.trajectory import digest

MAX_TASKS = 1_000
"""Per ability. More than any collection we know has (docs/scale.md says what a lower limit would cost in cards); beyond
it, memory and time stop growing."""


class Selection:
    """The tasks to learn from, out of all tasks."""

    def __init__(self, tasks: Iterable[TaskSketch], max_tasks: int | None = MAX_TASKS) -> None:
        self._max_tasks = max_tasks
        self.tasks: Counter[str] = Counter()
        """All tasks, by ability."""
        self.contrastive = self.several_runs = self.always_passed = self.never_passed = self.without_outcome = 0
        by_ability: dict[str, list[TaskSketch]] = defaultdict(list)
        for task in tasks:
            self.tasks[task.ability] += 1
            self.contrastive += task.passes and task.fails
            self.several_runs += task.runs > 1
            self.without_outcome += task.runs == 0
            self.always_passed += task.runs > 1 and task.passes and not task.fails
            self.never_passed += task.runs > 1 and task.fails and not task.passes
            by_ability[task.ability].append(task)
        self.keys = sorted(chain(*map(self._select, by_ability.values())))
        """The tasks that are learned from."""
        every = {task.task_key for tasks in by_ability.values() for task in tasks} if self.left_out() else set[str]()
        self.keys_left_out = frozenset(every.difference(self.keys))

    def left_out(self) -> dict[str, int]:
        """By ability: how many tasks are not learned from."""
        if self._max_tasks is None:
            return {}
        return {ability: seen - self._max_tasks for ability, seen in self.tasks.items() if seen > self._max_tasks}

    def _select(self, tasks: list[TaskSketch]) -> Iterator[str]:
        """Yield the first task of each group, then the second of each group, and so on."""
        if self._max_tasks is None or len(tasks) <= self._max_tasks:
            return (task.task_key for task in tasks)
        groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for task in tasks:
            groups[_name_group(task.passes, task.fails, task.called)].append((digest(task.task_key), task.task_key))
        ranked = (
            (rank, group, key)
            for group, members in groups.items()
            for rank, (_, key) in enumerate(nsmallest(self._max_tasks, members))
        )
        return (key for *_, key in nsmallest(self._max_tasks, ranked))


@lru_cache(maxsize=4096)
def _name_group(passes: bool, fails: bool, called: tuple[str, ...]) -> str:
    return digest("\n".join([str(passes), str(fails), *called]))
