"""Kinds: tasks that ask for the same sort of thing. The same functions, near wording, values apart."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from contramem.retrieve.tokens import tokenize

NEAR = 0.4
"""How alike, from 0 to 1, a task must be to a kind to belong to it. Half of it is wording, half the functions used.
docs/authoring.md says on what this was measured."""
MAX_WORDS = 60
"""Of a request. A long one says first what it wants."""

_VALUES = re.compile(r"\"[^\"]*\"|“[^”]*”|'[^']{2,}'|\S+@\S+|\S*\d\S*|https?://\S+")
_NAME = re.compile(r"(?<=[a-z,;] )(?:[A-Z][\w'’-]+ ?)+")


@dataclass(frozen=True)
class TaskProfile:
    """What is looked at to tell kinds apart."""

    task: str
    environment: str
    scenario: str | None
    text: str
    functions: frozenset[str]
    """Those that most of its runs used."""
    writes: frozenset[str]


@dataclass(frozen=True)
class TaskKind:
    """Tasks of one kind."""

    name: str
    """Short and unique: what it changes, and the words that mark it."""
    tasks: tuple[str, ...]
    functions: tuple[str, ...]
    example: str
    """The request of one task."""


@dataclass
class _Group:
    environment: str
    words: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)
    members: list[TaskProfile] = field(default_factory=list)

    def add(self, profile: TaskProfile, words: frozenset[str]) -> None:
        self.members.append(profile)
        self.words.update(words)
        self.functions.update(profile.functions)


def group_tasks(profiles: Iterable[TaskProfile]) -> tuple[TaskKind, ...]:
    """Put each task to the kind that it is most like, or let it found one. Largest kinds first; the same every time."""
    profiles = sorted(profiles, key=lambda profile: profile.task)
    words = {profile.task: wording_of(profile.text) for profile in profiles}
    rarity = _rarity(words.values())
    groups: dict[str, list[_Group]] = defaultdict(list)
    scenarios: dict[tuple[str, str], _Group] = {}
    for profile in profiles:
        group = scenarios.get((profile.environment, profile.scenario)) if profile.scenario else None
        group = group or _nearest(profile, words[profile.task], groups[profile.environment], rarity)
        if group is None:
            group = _Group(profile.environment)
            groups[profile.environment].append(group)
        if profile.scenario:
            scenarios[profile.environment, profile.scenario] = group
        group.add(profile, words[profile.task])
    every = [group for found in groups.values() for group in found]
    every.sort(key=lambda group: (-len(group.members), group.members[0].task))
    names = _names(every, rarity)
    return tuple(_kind(name, group) for name, group in zip(names, every, strict=True))


def wording_of(text: str) -> frozenset[str]:
    """The words of a request, and neighbouring pairs of them, without its values and names."""
    plain = _NAME.sub(" ", _VALUES.sub(" ", text))
    words = tokenize(plain)[:MAX_WORDS]
    return frozenset(words) | {f"{first} {second}" for first, second in pairwise(words)}


def _rarity(wordings: Iterable[frozenset[str]]) -> dict[str, float]:
    wordings = list(wordings)
    counts = Counter(word for words in wordings for word in words)
    return {word: math.log(1 + len(wordings) / count) for word, count in counts.items()}


def _nearest(
    profile: TaskProfile, words: frozenset[str], groups: Sequence[_Group], rarity: dict[str, float]
) -> _Group | None:
    best, nearest = NEAR, None
    for group in groups:
        likeness = (_likeness_of_words(words, group, rarity) + _likeness_of_functions(profile, group)) / 2
        if likeness > best:
            best, nearest = likeness, group
    return nearest


def _likeness_of_words(words: frozenset[str], group: _Group, rarity: dict[str, float]) -> float:
    """Cosine of the words with those of the group, rare words counting more."""
    size = len(group.members)
    shared = math.fsum(rarity[word] ** 2 * group.words[word] / size for word in words if word in group.words)
    own = math.sqrt(math.fsum(rarity[word] ** 2 for word in words))
    theirs = math.sqrt(math.fsum((rarity[word] * count / size) ** 2 for word, count in group.words.items()))
    return shared / (own * theirs) if own and theirs else 0.0


def _likeness_of_functions(profile: TaskProfile, group: _Group) -> float:
    """Weighted Jaccard of the functions used with those of the group."""
    size = len(group.members)
    shared = math.fsum(group.functions[function] / size for function in profile.functions)
    union = math.fsum(count / size for function, count in group.functions.items() if function not in profile.functions)
    union += len(profile.functions)
    return shared / union if union else 1.0


def _names(groups: Sequence[_Group], rarity: dict[str, float]) -> list[str]:
    taken: Counter[str] = Counter()
    names = []
    for group in groups:
        name = _name(group, rarity)
        taken[name] += 1
        names.append(name if taken[name] == 1 else f"{name}-{taken[name]}")
    return names


def _name(group: _Group, rarity: dict[str, float]) -> str:
    size = len(group.members)
    writes = Counter(function for profile in group.members for function in profile.writes)
    shown = (_rank(writes) or _usual_functions(group))[:1]
    single = [word for word in group.words if " " not in word and group.words[word] * 2 >= size]
    called = set(tokenize(" ".join(shown)))
    marking = sorted((word for word in single if word not in called), key=lambda word: (-rarity[word], word))[:2]
    return "-".join([*(function.rpartition(".")[2] for function in shown), *marking]) or "other"


def _kind(name: str, group: _Group) -> TaskKind:
    tasks = tuple(profile.task for profile in group.members)
    return TaskKind(name, tasks, tuple(_usual_functions(group)), group.members[0].text)


def _usual_functions(group: _Group) -> list[str]:
    """Those that half of the tasks use, the most used first."""
    return [function for function in _rank(group.functions) if group.functions[function] * 2 >= len(group.members)]


def _rank(counts: Counter[str]) -> list[str]:
    # Not most_common(): it leaves ties in the order of a set, which differs from one process to the next.
    return sorted(counts, key=lambda name: (-counts[name], name))
