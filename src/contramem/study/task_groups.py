"""Groups of similar tasks, indexed by words and functions: a task is compared only with groups it could belong to.

Words are weighted by rarity, in integers: sums are exact in any order and can be stored instead of being recomputed for
each comparison.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

NEAR = 0.4
"""How similar, from 0 to 1, a task must be to a kind to belong to it: half wording, half functions used.
docs/authoring.md says how this was measured."""
_COMMON_SHARE = 0.99 * (2 * NEAR) ** 2
"""The share of a task's own weight below which shared words alone, without a shared function, cannot make a group
similar: the cosine is at most its root. Slightly less, because of rounding."""


@dataclass(frozen=True)
class TaskProfile:
    """What is used to tell kinds apart."""

    task: str
    environment: str
    scenario: str | None
    text: str
    functions: frozenset[str]
    """The functions that most of its runs used."""
    writes: frozenset[str]


@dataclass
class TaskGroup:
    """Similar tasks, and the sums of their words and functions."""

    words: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)
    members: list[TaskProfile] = field(default_factory=list)
    squared_norm: int = 0
    """Sum of the words, weighted."""
    uses: int = 0
    """The sum of `functions`."""

    def likeness_of_words(self, words: frozenset[str], norm: float, weights: Mapping[str, int]) -> float:
        """Cosine between the words, whose norm is given, and those of the group; rare words count more."""
        shared = sum(weights[word] * self.words[word] for word in words & self.words.keys())
        return min(1.0, shared / (norm * math.sqrt(self.squared_norm))) if shared else 0.0

    def likeness_of_functions(self, functions: frozenset[str]) -> float:
        """Weighted Jaccard similarity between the functions used and those of the group. Tasks that use none are
        similar."""
        shared = sum(self.functions[function] for function in functions & self.functions.keys())
        union = len(functions) * len(self.members) + self.uses - shared
        return shared / union if union else 1.0

    def add(self, profile: TaskProfile, words: frozenset[str], weights: Mapping[str, int]) -> None:
        """Add a task."""
        self.squared_norm += sum(weights[word] * (2 * self.words[word] + 1) for word in words)
        self.uses += len(profile.functions)
        self.words.update(words)
        self.functions.update(profile.functions)
        self.members.append(profile)


class TaskGroups:
    """The groups of one environment, in order of creation."""

    def __init__(self, weights: Mapping[str, int]) -> None:
        self.groups: list[TaskGroup] = []
        self._weights = weights
        self._by_word = defaultdict[str, list[int]](list)
        self._by_function = defaultdict[str, list[int]](list)
        self._without_functions: list[int] = []

    def find_nearest(self, profile: TaskProfile, words: frozenset[str]) -> int | None:
        """The number of the most similar group; on a tie, the first. None: none is similar enough."""
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
        """Add the task to the group of this number, or start a new one. Returns the number."""
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
        """Similarity of functions and number of the group, most similar first."""
        candidates = self._candidates(profile, words)
        likeness = [(self.groups[number].likeness_of_functions(profile.functions), number) for number in candidates]
        return sorted(likeness, key=lambda candidate: (-candidate[0], candidate[1]))

    def _candidates(self, profile: TaskProfile, words: frozenset[str]) -> set[int]:
        """Every group that could be similar enough: it shares a function, or one of the task's distinctive words."""
        candidates = set[int]() if profile.functions else set(self._without_functions)
        for function in profile.functions:
            candidates.update(self._by_function.get(function, ()))
        for word in self._marking(words):
            candidates.update(self._by_word.get(word, ()))
        return candidates

    def _marking(self, words: frozenset[str]) -> Iterator[str]:
        """The words without those that most groups have and that weigh too little to make a group similar."""
        left = _COMMON_SHARE * sum(self._weights[word] for word in words)
        for word in sorted(words, key=lambda word: -len(self._by_word.get(word, ()))):
            left -= self._weights[word]
            if left < 0:
                yield word
