"""Kinds: tasks that ask for the same sort of thing: the same functions, similar wording, other values."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from contramem.retrieve.tokens import tokenize
from contramem.study.task_groups import TaskGroup, TaskGroups, TaskProfile

MAX_WORDS = 60
"""Length of the part of a request that is compared. A long request says first what it wants."""
_ONE = 2**32
"""The unit of word weights."""

_VALUES = re.compile(r"\"[^\"]*\"|“[^”]*”|'[^']{2,}'|\S+@\S+|\S*\d\S*|https?://\S+")
_NAME = re.compile(r"(?<=[a-z,;] )(?:[A-Z][\w'’-]+ ?)+")


@dataclass(frozen=True)
class TaskKind:
    """Tasks of one kind."""

    name: str
    """Short and unique: what it changes, and its characteristic words."""
    tasks: tuple[str, ...]
    functions: tuple[str, ...]
    example: str
    """The request of one task."""


def group_tasks(profiles: Iterable[TaskProfile]) -> tuple[TaskKind, ...]:
    """Assign each task to the most similar kind, or let it start a new one. Largest kinds first; deterministic."""
    profiles = sorted(profiles, key=lambda profile: profile.task)
    words = {profile.task: wording_of(profile.text) for profile in profiles}
    weights = weigh_words(words.values())
    environments: dict[str, TaskGroups] = {}
    scenarios: dict[tuple[str, str], int] = {}
    for profile in profiles:
        groups = environments.setdefault(profile.environment, TaskGroups(weights))
        number = scenarios.get((profile.environment, profile.scenario)) if profile.scenario else None
        if number is None:
            number = groups.find_nearest(profile, words[profile.task])
        number = groups.add(profile, words[profile.task], number)
        if profile.scenario:
            scenarios[profile.environment, profile.scenario] = number
    every = [group for groups in environments.values() for group in groups.groups]
    every.sort(key=lambda group: (-len(group.members), group.members[0].task))
    names = _names(every, weights)
    return tuple(_kind(name, group) for name, group in zip(names, every, strict=True))


@lru_cache(maxsize=4096)  # asked again for each kind of task
def wording_of(text: str) -> frozenset[str]:
    """The words of a request and pairs of adjacent words, without its values and names."""
    words = tokenize(strip_values(text))[:MAX_WORDS]
    return frozenset(words) | {f"{first} {second}" for first, second in pairwise(words)}


def strip_values(text: str) -> str:
    """A request without anything whose form shows that it is a value or a name."""
    return _NAME.sub(" ", _VALUES.sub(" ", text))


def weigh_words(wordings: Collection[frozenset[str]]) -> dict[str, int]:
    """For each word the square of its rarity, as an integer."""
    counts = Counter(word for words in wordings for word in words)
    return {word: round(math.log(1 + len(wordings) / count) ** 2 * _ONE) for word, count in counts.items()}


def _names(groups: Sequence[TaskGroup], weights: Mapping[str, int]) -> list[str]:
    taken: Counter[str] = Counter()
    names = []
    for group in groups:
        name = _name(group, weights)
        taken[name] += 1
        names.append(name if taken[name] == 1 else f"{name}-{taken[name]}")
    return names


def _name(group: TaskGroup, weights: Mapping[str, int]) -> str:
    size = len(group.members)
    writes = Counter(function for profile in group.members for function in profile.writes)
    leading = (_rank(writes) or _usual_functions(group))[:1]
    single = [word for word in group.words if " " not in word and group.words[word] * 2 >= size]
    called = set(tokenize(" ".join(leading)))
    marking = sorted((word for word in single if word not in called), key=lambda word: (-weights[word], word))[:2]
    return "-".join([*(function.rpartition(".")[2] for function in leading), *marking]) or "other"


def _kind(name: str, group: TaskGroup) -> TaskKind:
    tasks = tuple(profile.task for profile in group.members)
    return TaskKind(name, tasks, tuple(_usual_functions(group)), group.members[0].text)


def _usual_functions(group: TaskGroup) -> list[str]:
    """The functions that half of the tasks use, most used first."""
    return [function for function in _rank(group.functions) if group.functions[function] * 2 >= len(group.members)]


def _rank(counts: Counter[str]) -> list[str]:
    # Not most_common(): it leaves ties in set order, which differs between processes.
    return sorted(counts, key=lambda name: (-counts[name], name))
