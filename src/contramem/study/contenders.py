"""Contenders: candidates that may explain failures; if passing runs contradict one, with a condition.

Conditions are searched among the facts of runs (atoms.py), then a second one beside the first, and among the words of
requests. A guard about an argument may also depend on the kind of task, recognized by what else is changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from contramem.guards.arguments import ArgumentCondition, FirstSeen
from contramem.guards.guard import Guard
from contramem.guards.values import Quantity
from contramem.study.atoms import collect_atoms
from contramem.study.candidates import propose_candidates
from contramem.study.guard_candidate import GuardCandidate
from contramem.study.masks import GuardMasks
from contramem.study.run_masks import RunMasks
from contramem.study.run_set import StudyRun
from contramem.study.sharpen import Conditions, Sharpened, add_condition
from contramem.study.task_words import TaskWords

MAX_CHANCE = 0.2
"""Minimum size of a difference worth a trial. The held-out tasks decide what holds up, not this."""
MIN_BROKEN = 2
"""How many failing runs must have broken a guard. A single run may have failed for any reason."""
MAX_CONTRADICTING = 0.05
"""The share of the passing runs in which a guard without a condition applies."""
MIN_ALIKE = 0.5
"""The share of the failing runs that omitted a change. The others may have given up, whatever the condition."""
MAX_LOOSE = 2_000
"""Candidates for which conditions are looked for."""
LENGTHS_COUNT = 5
"""How many times a guard about the length of a text counts: whatever the text says makes it longer."""
CONDITIONS_EACH = 3
"""How many conditions of one candidate compete."""


@dataclass(frozen=True, eq=False)
class Contender:
    """A candidate that may explain failures, perhaps with a condition."""

    guard: Guard
    masks: GuardMasks
    family: int
    clearness: int
    """How little its template says about the cause: 0 is best."""
    by_luck: float = 0.0
    reach: int = 0
    """Runs of any task in which its condition holds."""

    @property
    def simplicity(self) -> tuple[int, int, int, int, int, str]:
        """Fewest conditions first, then the most informative template and relation, then the smallest family, then the
        condition that claims least."""
        relation, conditions = _relation_rank(self.guard), len(self.guard.conditions)
        return conditions, self.clearness, relation, self.family, self.reach, str(self.guard)


class Contenders(NamedTuple):
    """All contenders among some runs, and how many guards were tried."""

    masks: RunMasks
    by_data: list[Contender]
    by_words: list[Contender]
    """Those whose condition is a word of the request."""
    tried: int


def find_contenders(masks: RunMasks) -> Contenders:
    """The candidates that may explain a failure of these runs, with the conditions that make them true."""
    runs = masks.runs
    candidates = propose_candidates(runs)
    search = _ContenderSearch(candidates, runs)
    useful = [
        candidate
        for candidate in candidates
        if explains_some(candidate.masks, masks) and not search.only_spares_a_look(candidate)
    ]
    loose = [each for each in useful if each.is_presence or is_contradicted(each.masks, masks)]
    loose = _select_most_broken(loose, masks)
    firm = [each for each in useful if not each.is_presence and not is_contradicted(each.masks, masks)]
    atoms = collect_atoms(runs)
    facts = Conditions(masks, atoms)
    kinds = Conditions(masks, [atom for atom in atoms if atom.text in search.changing], tells_kinds=True)
    loose = [each for each in loose if not search.only_goes_on(each)]
    about_arguments = [candidate for candidate in loose if candidate.argument]
    by_data = [*search.take(firm), *search.sharpen(loose, facts), *search.sharpen_twice(loose, facts)]
    by_data += search.sharpen(about_arguments, kinds)
    by_words, tried = list[Contender](), len(candidates) + len(loose) * len(facts)
    words = TaskWords(runs)
    for candidate in (each for each in loose if each.is_presence):
        function = candidate.function
        atoms = words.not_naming(function) if candidate.is_ban else words.about(function)
        of_request = Conditions(masks, atoms, tells_kinds=True)
        by_words += search.sharpen([candidate], of_request)
        tried += len(of_request)
    return Contenders(masks, by_data, by_words, tried)


class _ContenderSearch:
    """Turns candidates into contenders."""

    def __init__(self, candidates: Iterable[GuardCandidate], runs: Sequence[StudyRun]) -> None:
        self._families = Counter(candidate.family for candidate in candidates)
        self.changing = frozenset[str]().union(*{run.outline.changing for run in runs})

    def take(self, candidates: Iterable[GuardCandidate]) -> Iterator[Contender]:
        """The candidates without conditions."""
        for candidate in candidates:
            guard = candidate.parse()
            if guard is not None and not self.only_goes_on(candidate):
                family = self._count_family(candidate)
                yield Contender(guard, candidate.masks, family, self._clearness(guard))

    def sharpen(self, loose: Sequence[GuardCandidate], conditions: Conditions) -> Iterator[Contender]:
        """The candidates, each with the conditions that leave the fewest exceptions."""
        sharpened = conditions.sharpen(
            [candidate.masks for candidate in loose], [candidate.is_ban for candidate in loose]
        )
        for candidate, splits in zip(loose, sharpened, strict=True):
            yield from self._join(candidate, self._select(candidate, splits, conditions.tells_kinds))

    def sharpen_twice(self, loose: Sequence[GuardCandidate], conditions: Conditions) -> Iterator[Contender]:
        """The same with two conditions, for candidates that one condition improves much but not enough."""
        some = [candidate for candidate in loose if not candidate.is_about_words]
        masks, bans = [candidate.masks for candidate in some], [candidate.is_ban for candidate in some]
        for place, splits in conditions.sharpen_twice(masks, bans):
            yield from self._join(some[place], self._select(some[place], splits, conditions.tells_kinds))

    def _select(self, candidate: GuardCandidate, splits: Sequence[Sharpened], tells_kinds: bool) -> list[Sharpened]:
        """The conditions that may be the reason for what the candidate demands."""
        function = candidate.function
        if candidate.is_presence:  # the result of a call is no reason to make it
            splits = [split for split in splits if all(atom.function != function for atom in split.atoms)]
        if candidate.relation:  # a condition on what the guard itself tests only bends it
            tested = function, candidate.argument
            splits = [
                split for split in splits if all((atom.function, atom.argument) != tested for atom in split.atoms)
            ]
        if function not in self.changing or (tells_kinds and candidate.relation):
            return list(splits)
        if tells_kinds and candidate.template == "existence":
            return []  # making a requested change is not a lesson
        # That one change goes with another is common to rules about the same amounts or states.
        splits = [split for split in splits if all(atom.text not in self.changing for atom in split.atoms)]
        if candidate.template in ("existence", "response") and not self._follows_a_change(candidate):
            splits = [split for split in splits if split.alike >= MIN_ALIKE]
        return list(splits)

    def _join(self, candidate: GuardCandidate, splits: Sequence[Sharpened]) -> Iterator[Contender]:
        for split in splits[:CONDITIONS_EACH]:
            plain = candidate.parse() if split.chance <= MAX_CHANCE else None
            if plain is not None and (guard := add_condition(plain, split.condition)) is not None:
                # A condition with hardly any alternatives was not found by trying many.
                family = self._count_family(candidate) * (1 + round(split.tried * min(1.0, split.by_luck)))
                yield Contender(guard, split.masks, family, self._clearness(guard), split.by_luck, split.reach)

    def _count_family(self, candidate: GuardCandidate) -> int:
        size = self._families[candidate.family]
        return size * LENGTHS_COUNT if candidate.is_length else size

    def _follows_a_change(self, candidate: GuardCandidate) -> bool:
        """Whether it asks for something after a change. Runs that made the change have not given up."""
        return candidate.template == "response" and not self.only_goes_on(candidate)

    def only_goes_on(self, candidate: GuardCandidate) -> bool:
        """Does it demand that something is done after a mere read? That only says that the task has to be done."""
        return candidate.template == "response" and candidate.first not in self.changing

    def only_spares_a_look(self, candidate: GuardCandidate) -> bool:
        """Does it forbid a mere look, or order one look before another? Looking changes nothing that could fail."""
        if candidate.function in self.changing:
            return False
        return (candidate.is_ban and candidate.is_presence) or (
            candidate.template == "precedence" and candidate.first not in self.changing
        )

    def _clearness(self, guard: Guard) -> int:
        """What must happen after or before a change says most; what must happen after a read, or at any time, least."""
        if guard.template == "existence" and not guard.patterns[0].conditions:
            return len(_CLEAREST)
        return _CLEAREST.index(guard.template)


_CLEAREST = (
    "precedence",
    "response",
    "covers",
    "existence",
    "at_most_once",
    "at_most",
    "at_least",
    "not_succession",
    "absence",
)
_RELATIONS = ("times", "sums", "equals", "picks", "from", "counts", "=", "like", "falls", "contains", "mentions", "has")
"""Among templates that the same calls satisfy, the one that says most about the cause."""


def _relation_rank(guard: Guard) -> int:
    tests = [test for pattern in guard.patterns for test in pattern.conditions]
    if not tests:
        return 0
    return _RELATIONS.index(tests[0].test) if tests[0].test in _RELATIONS and _says_more(tests[0]) else len(_RELATIONS)


def _says_more(test: ArgumentCondition) -> bool:
    """Whether it says more than that the value comes from the request, or is a number that was seen."""
    operand = test.operand
    if test.test == "times":
        return isinstance(operand, Quantity) and bool(operand.steps)
    return operand != FirstSeen("task")


def _select_most_broken(candidates: list[GuardCandidate], masks: RunMasks) -> list[GuardCandidate]:
    """At most MAX_LOOSE of the candidates, those that most failing runs break: each is tried under thousands of
    conditions, and runs of one task that have nothing in common make more candidates the more of them there are."""
    if len(candidates) <= MAX_LOOSE:
        return candidates
    by_failing = sorted(candidates, key=lambda each: -(each.masks.broken & masks.failed).bit_count())
    chosen = {id(candidate) for candidate in by_failing[:MAX_LOOSE]}
    return [candidate for candidate in candidates if id(candidate) in chosen]


def explains_some(guard: GuardMasks, masks: RunMasks) -> bool:
    """Did failing runs break it, and passing runs follow it?"""
    return (guard.broken & masks.failed).bit_count() >= MIN_BROKEN and bool(guard.kept & masks.passed)


def is_contradicted(guard: GuardMasks, masks: RunMasks) -> bool:
    """Do too many passing runs break it?"""
    table = masks.table(guard)
    return table.broke_passed > MAX_CONTRADICTING * table.passed
