"""Folds: the sides that an experiment file asks for. The same tasks and seed give the same folds, in any order."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from contramem.errors import UsageError
from contramem_lab.experiment.config import SplitConfig as Rules
from contramem_lab.split import Group, SplitTask, group_tasks

SHOWN = 5


@dataclass(frozen=True)
class Fold:
    """One division: what teaches, and what is held out from it. Sorted task keys."""

    reference: tuple[str, ...]
    held_out: tuple[str, ...]


def divide(tasks: Iterable[SplitTask], rules: Rules, seed: int) -> tuple[Fold, ...]:
    """The folds of a split; one, unless the rules ask for more."""
    all_tasks = sorted(set(tasks))
    chosen = [task for task in all_tasks if not rules.abilities or task.ability in rules.abilities]
    _check_abilities(rules.abilities, all_tasks)
    if rules.reference_tasks or rules.held_out_tasks:
        return (_split_as_listed(chosen, rules),)
    groups = sorted(group_tasks(chosen, rules.by), key=lambda group: _lot(group, seed))
    if rules.folds is not None:
        return _cross_folds(groups, rules.folds)
    sides = (
        _split_by_count(groups, rules) if rules.reference or rules.held_out else _split_by_share(groups, rules.share)
    )
    return (_fold(*sides),)


def _check_abilities(wanted: Sequence[str], tasks: Sequence[SplitTask]) -> None:
    there = {task.ability for task in tasks}
    if not tasks:
        raise UsageError("split: there are no tasks to divide.")
    if absent := [ability for ability in wanted if ability not in there]:
        raise UsageError(f"split.abilities: no task is of {', '.join(absent)}. There are: {', '.join(sorted(there))}.")


def _lot(group: Group, seed: int) -> bytes:
    return hashlib.sha256("\n".join([str(seed), *(task.key for task in group)]).encode()).digest()


def _cross_folds(groups: Sequence[Group], folds: int) -> tuple[Fold, ...]:
    if len(groups) < folds:
        raise UsageError(f"split.folds: {folds} folds need as many groups of tasks; there are {len(groups)}.")
    parts: list[list[SplitTask]] = [[] for _ in range(folds)]
    counts: list[Counter[str]] = [Counter() for _ in range(folds)]
    for group in groups:
        # Spread abilities evenly; among equals choose the fold with the fewest tasks, then the first.
        number = min(range(folds), key=lambda n: (sum(counts[n][t.ability] for t in group), len(parts[n]), n))
        parts[number].extend(group)
        counts[number].update(task.ability for task in group)
    everything = [task for part in parts for task in part]
    return tuple(_fold([task for task in everything if task not in part], part) for part in parts)


def _split_by_share(groups: Sequence[Group], share: float) -> tuple[list[SplitTask], list[SplitTask]]:
    """Each task on one side; a group goes where more of its tasks are still needed."""
    of_ability = Counter(task.ability for group in groups for task in group)
    wanted = {ability: round(share * count) for ability, count in of_ability.items()}
    sides = _Sides(wanted, {ability: of_ability[ability] - wanted[ability] for ability in of_ability})
    for group in groups:
        sides.put(group, whole=True)
    return sides.reference, sides.held_out


def _split_by_count(groups: Sequence[Group], rules: Rules) -> tuple[list[SplitTask], list[SplitTask]]:
    of_ability = Counter(task.ability for group in groups for task in group)
    reference = {ability: _count_for(rules.reference, rules.held_out, count) for ability, count in of_ability.items()}
    held_out = {ability: _count_for(rules.held_out, rules.reference, count) for ability, count in of_ability.items()}
    sides = _Sides(reference, held_out)
    for group in groups:
        sides.put(group, whole=False)
    if short := sides.short():
        there = ", ".join(f"{ability} {count}" for ability, count in sorted(of_ability.items()))
        raise UsageError(
            f"split: {'; '.join(short)}. There are, by ability: {there}; all of one {rules.by} stay on one side. "
            "Ask for fewer, or divide by something smaller."
        )
    return sides.reference, sides.held_out


def _count_for(asked: int | None, other: int | None, count: int) -> int:
    """As many as requested; if only the other side is given, the rest."""
    return asked if asked is not None else count - (other or 0)


class _Sides:
    """Two sides being filled, with the number of tasks of each ability still needed."""

    def __init__(self, reference: Mapping[str, int], held_out: Mapping[str, int]) -> None:
        self._asked = (dict(reference), dict(held_out))
        self._wanted = (dict(reference), dict(held_out))
        self.reference: list[SplitTask] = []
        self.held_out: list[SplitTask] = []

    def put(self, group: Group, *, whole: bool) -> None:
        side = max((0, 1), key=lambda number: (*self._use(group, number), -number))
        wanted, tasks = self._wanted[side], (self.reference, self.held_out)[side]
        for task in group:
            if whole or wanted[task.ability] > 0:
                wanted[task.ability] -= 1
                tasks.append(task)

    def _use(self, group: Group, side: int) -> tuple[int, int]:
        """How many tasks of the group the side still needs, and how many it needs of their abilities in all."""
        wanted = {ability: max(self._wanted[side][ability], 0) for ability in _abilities(group)}
        return sum(min(wanted[a], n) for a, n in _abilities(group).items()), sum(wanted.values())

    def short(self) -> list[str]:
        """What could not be provided, per ability."""
        complaints = []
        for name, asked, wanted in zip(("reference", "held-out"), self._asked, self._wanted, strict=True):
            for ability, missing in sorted(wanted.items()):
                if missing > 0:
                    complaints.append(
                        f"ability {ability} gives {asked[ability] - missing} of {asked[ability]} {name} tasks"
                    )
        return complaints


def _abilities(group: Group) -> Counter[str]:
    return Counter(task.ability for task in group)


def _split_as_listed(tasks: Sequence[SplitTask], rules: Rules) -> Fold:
    """Sides listed by the user; an omitted side gets all the rest."""
    held_out = _matching(tasks, rules.held_out_tasks, "split.held_out_tasks") if rules.held_out_tasks else None
    reference = _matching(tasks, rules.reference_tasks, "split.reference_tasks") if rules.reference_tasks else None
    if reference is None:
        reference = [task for task in tasks if task not in (held_out or ())]
    if held_out is None:
        held_out = [task for task in tasks if task not in reference]
    if both := sorted({task.id for task in reference} & {task.id for task in held_out}):
        raise UsageError(f"split: on both sides: {join_names(both)}. A task either teaches or is held out.")
    return _fold(reference, held_out)


def _matching(tasks: Sequence[SplitTask], patterns: Sequence[str], key: str) -> list[SplitTask]:
    matching = [task for task in tasks if any(matches(pattern, task.environment, task.id) for pattern in patterns)]
    idle = [pattern for pattern in patterns if not any(matches(pattern, task.environment, task.id) for task in tasks)]
    if idle:
        examples = join_names(_ids(tasks))
        raise UsageError(f"{key}: no task is called {join_names(idle)}. There are, for example: {examples}.")
    return matching


def matches(pattern: str, environment: str, task_id: str) -> bool:
    """Is it this id or does it match this pattern (`desk_*`), with or without its environment
    (`agentdojo/slack/*_1`)?"""
    return any(name == pattern or fnmatchcase(name, pattern) for name in (task_id, f"{environment}/{task_id}"))


def _ids(tasks: Iterable[SplitTask]) -> list[str]:
    return sorted({task.id for task in tasks})


def join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _fold(reference: Iterable[SplitTask], held_out: Iterable[SplitTask]) -> Fold:
    fold = Fold(tuple(sorted(task.key for task in reference)), tuple(sorted(task.key for task in held_out)))
    for side, keys in (("reference", fold.reference), ("held-out", fold.held_out)):
        if not keys:
            raise UsageError(f"split: no {side} task is left. Look at the counts, abilities and lists of [split].")
    return fold
