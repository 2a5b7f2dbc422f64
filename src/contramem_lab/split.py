"""Splits tasks into reference and held-out ones, and refuses to run where something that teaches knows a held-out task.

Splitting (`group_tasks`) and looking for leaks use the same `marks`. The same tasks and seed give the same folds, in
any order.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from random import Random
from typing import Literal, NamedTuple, TypeAlias

from contramem.bank.frozen import FrozenBank
from contramem.errors import LeakageError, UsageError
from contramem.traces.trajectory import Trajectory, digest
from contramem_lab.config import Grouping
from contramem_lab.config import SplitConfig as Rules

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


NAMED = 10


@dataclass(frozen=True)
class Leak:
    """A held-out task, what is known about it, and by what."""

    task: str
    what: What
    among: str

    def __str__(self) -> str:
        return f"{self.task} (its {self.what} is that of {self.among})"


def leaks_from_runs(held_out: Iterable[SplitTask], reference: Iterable[SplitTask], by: Grouping) -> Iterator[Leak]:
    """What the tasks that teach share with the held-out ones."""
    taught: dict[Mark, list[SplitTask]] = {}
    for task in reference:
        for mark in marks(task, by):
            taught.setdefault(mark, []).append(task)
    for task in held_out:
        for mark in marks(task, by):
            twin = next((other for other in taught.get(mark, ()) if joins(mark, task, other)), None)
            if twin is not None:
                yield Leak(task.key, mark[0], twin.key)


def leaks_from_bank(held_out: Iterable[SplitTask], bank: FrozenBank, by: Grouping, name: str) -> Iterator[Leak]:
    """Held-out tasks that taught cards of a bank."""
    for task in held_out:
        names: list[tuple[What, str | None]] = [("id", task.key), ("id", task.id), ("wording", task.wording)]
        if by == "scenario":
            names.append(("scenario", task.scenario))
        for card in bank.skills:
            # Ids recur in every suite, so a bare id counts only within its ability.
            matches = [w for w, text in names if text and digest(text) in card.taught_by
                     and (text != task.id or card.ability == task.ability)]  # fmt: skip
            if matches:
                yield Leak(task.key, matches[0], f"{card.card_id} in {name}")
                break


def refuse_leaks(leaks: Iterable[Leak]) -> None:
    """Raise an error that names the leaks, if there are any."""
    leaks_found: Sequence[Leak] = list(leaks)
    if leaks_found:
        named = "; ".join(map(str, leaks_found[:NAMED]))
        more = f"; and {len(leaks_found) - NAMED} more" if len(leaks_found) > NAMED else ""
        raise LeakageError(
            f"leakage, so nothing was run: the runs to learn from contain {len({leak.task for leak in leaks_found})} "
            f"held-out task(s): {named}{more}. Put them on one side in [split], or remove them from those runs."
        )
