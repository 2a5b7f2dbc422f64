"""Groups of like tasks, indexed by their words and functions: a task is compared only with groups it could belong to.

Words weigh by how rare they are, in whole numbers: sums are then exact in any order and can be kept instead of being
computed for each comparison.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

NEAR = 0.4
"""How alike, from 0 to 1, a task must be to a kind to belong to it. Half of it is wording, half the functions used.
docs/authoring.md says on what this was measured."""
_COMMON_SHARE = 0.99 * (2 * NEAR) ** 2
"""The share of its own weight below which a task's words alone, without a shared function, bring no group near: cosine
is at most the root of it. A little less, because of rounding."""


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


@dataclass
class TaskGroup:
    """Tasks that are alike, and what they say and use in sum."""

    words: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)
    members: list[TaskProfile] = field(default_factory=list)
    squared_norm: int = 0
    """Of the words, weighted."""
    uses: int = 0
    """The sum of `functions`."""

    def likeness_of_words(self, words: frozenset[str], norm: float, weights: Mapping[str, int]) -> float:
        """Cosine of the words, whose norm is given, with those of the group; rare words count more."""
        shared = sum(weights[word] * self.words[word] for word in words & self.words.keys())
        return min(1.0, shared / (norm * math.sqrt(self.squared_norm))) if shared else 0.0

    def likeness_of_functions(self, functions: frozenset[str]) -> float:
        """Weighted Jaccard of the functions used with those of the group. Tasks that use none are alike in that."""
        shared = sum(self.functions[function] for function in functions & self.functions.keys())
        union = len(functions) * len(self.members) + self.uses - shared
        return shared / union if union else 1.0

    def add(self, profile: TaskProfile, words: frozenset[str], weights: Mapping[str, int]) -> None:
        """Take a task in."""
        self.squared_norm += sum(weights[word] * (2 * self.words[word] + 1) for word in words)
        self.uses += len(profile.functions)
        self.words.update(words)
        self.functions.update(profile.functions)
        self.members.append(profile)


class TaskGroups:
    """The groups of one environment, in the order in which they were founded."""

    def __init__(self, weights: Mapping[str, int]) -> None:
        self.groups: list[TaskGroup] = []
        self._weights = weights
        self._by_word = defaultdict[str, list[int]](list)
        self._by_function = defaultdict[str, list[int]](list)
        self._without_functions: list[int] = []

    def find_nearest(self, profile: TaskProfile, words: frozenset[str]) -> int | None:
        """The number of the group that the task is most like, the first of equals. None: none is near."""
        best, nearest = NEAR, None
        norm = math.sqrt(sum(self._weights[word] for word in words))
        for by_functions, number in self._rank_candidates(profile, words):
            if (1 + by_functions) / 2 < best:
                break
            likeness = (self.groups[number].likeness_of_words(words, norm, self._weights) + by_functions) / 2
            if likeness > best or (likeness == best and nearest is not None and number < nearest):
                best, nearest = likeness, number
        return nearest

    def add(self, profile: TaskProfile, words: frozenset[str], number: int | None) -> int:
        """Put the task into the group of this number, or let it found one. Returns the number."""
        if number is None:
            number = len(self.groups)
            self.groups.append(TaskGroup())
            if not profile.functions:
                self._without_functions.append(number)
        group = self.groups[number]
        for word in words - group.words.keys():
            self._by_word[word].append(number)
        for function in profile.functions - group.functions.keys():
            self._by_function[function].append(number)
        group.add(profile, words, self._weights)
        return number

    def _rank_candidates(self, profile: TaskProfile, words: frozenset[str]) -> list[tuple[float, int]]:
        """How alike the functions are, and the number of the group; the most alike first."""
        candidates = self._candidates(profile, words)
        likeness = [(self.groups[number].likeness_of_functions(profile.functions), number) for number in candidates]
        return sorted(likeness, key=lambda candidate: (-candidate[0], candidate[1]))

    def _candidates(self, profile: TaskProfile, words: frozenset[str]) -> set[int]:
        """Every group that could be near: it shares a function, or one of the words that mark the task."""
        candidates = set[int]() if profile.functions else set(self._without_functions)
        for function in profile.functions:
            candidates.update(self._by_function.get(function, ()))
        for word in self._marking(words):
            candidates.update(self._by_word.get(word, ()))
        return candidates

    def _marking(self, words: frozenset[str]) -> Iterator[str]:
        """The words without those that most groups have and that weigh too little to bring a group near."""
        left = _COMMON_SHARE * sum(self._weights[word] for word in words)
        for word in sorted(words, key=lambda word: -len(self._by_word.get(word, ()))):
            left -= self._weights[word]
            if left < 0:
                yield word
