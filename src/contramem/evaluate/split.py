"""Splits by task, strictly: whatever could teach the other side's answers stays on one side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from contramem.errors import UsageError
from contramem.traces.trajectory import Trajectory


class Split(NamedTuple):
    """Tasks, each with all its runs."""

    reference: list[Sequence[Trajectory]]
    held_out: list[Sequence[Trajectory]]


def halves(tasks: Sequence[Sequence[Trajectory]], seed: int) -> Split:
    """A random half of the groups as reference, the other held out. The same tasks and seed give the same split."""
    group = groups(tasks)
    names = sorted(set(group.values()))
    if len(names) < 2:
        raise UsageError(
            f"{len(tasks)} task(s) of one template or wording cannot be split in two. Give runs of more tasks."
        )
    known = set(Random(seed).sample(names, len(names) // 2))
    reference = [task for task in tasks if group[task[0].task_key] in known]
    return Split(reference, [task for task in tasks if group[task[0].task_key] not in known])


def groups(tasks: Sequence[Sequence[Trajectory]]) -> dict[str, str]:
    """By task key, the group that must not be torn apart: tasks that share a template, an id or a wording."""
    group = {task[0].task_key: _name(task[0]) for task in tasks}
    changed = True
    while changed:
        changed = False
        for shared in _sharing(tasks):
            smallest = min(group[key] for key in shared)
            changed = changed or any(group[key] != smallest for key in shared)
            group.update(dict.fromkeys(shared, smallest))
    return group


def _name(run: Trajectory) -> str:
    return run.scenario_id or f"{run.environment}/{run.task_id}"


def _sharing(tasks: Sequence[Sequence[Trajectory]]) -> list[list[str]]:
    by: dict[object, list[str]] = defaultdict(list)
    for first in (task[0] for task in tasks):
        for shared in ((_name(first),), (first.ability, first.task_id), ("text", first.task)):
            by[shared].append(first.task_key)
    return list(by.values())
