"""Candidates about the arguments of calls: how an argument is written, constants, caps, lengths, deadlines, words of a
text, the field of an earlier result that a value comes from, the record that was chosen, items left out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from contramem.errors import GuardError
from contramem.guards.guard import parse_guard
from contramem.study.argument_uses import ArgumentUses, CallOfRun, RunUses, find_uses
from contramem.study.atoms import MIN_TASKS, find_boundary
from contramem.study.guard_candidate import GuardCandidate, about_argument
from contramem.study.masks import GuardMasks, Mask, mask_of, union_of
from contramem.study.replays import Replays
from contramem.study.run_set import StudyRun
from contramem.study.seen_relation import GIVEN, SeenRelation
from contramem.study.wordings import find_wordings

MAX_SHAPES = 12
"""Ways to write one argument; an argument with more is free text."""
MAX_CAPS = 30
MIN_TASKS_AT_CAP = 3
"""How many tasks must have a call that uses the cap itself. Then it is not a value of one run but a common limit."""
MAX_RIGHT = 0.5
"""Of the failing runs that break a guard about an argument, the share that may have passed the same value as a passing
run of their task."""
MIN_VALUES = 3
"""How many different values must be calculated in one way, or different dates fall on a day of the week or the month,
before that can be the reason."""
MIN_MEASURED = 0.8
"""The share of calls that must have what a cap is about."""


class _ListCounts:
    """In how many runs a field of a result was seen, and in how many it had several values at once."""

    def __init__(self) -> None:
        self._seen, self._several = Counter[str](), Counter[str]()

    def add(self, uses: RunUses) -> None:
        self._seen.update(uses.places)
        self._several.update(uses.lists)

    def has_several(self, place: str) -> bool:
        """Whether it lists several things in most runs. "Every item" says nothing if there is only one."""
        return 2 * self._several[place] >= self._seen[place] > 0


def propose_about_arguments(runs: Sequence[StudyRun]) -> Iterator[GuardCandidate]:
    """Every guard about arguments that is worth a trial."""
    by_argument = defaultdict[tuple[str, str], ArgumentUses](ArgumentUses)
    called, lists = defaultdict[str, Mask](int), _ListCounts()
    for place, run in enumerate(runs):
        found = find_uses(run)
        for function in {call.function for call in run.outline.calls}:
            called[function] |= 1 << place
        for use in found.uses:
            by_argument[use.function, use.argument].calls.append(CallOfRun(place, run, use))
        lists.add(found)
    replays = Replays(runs)
    failed = mask_of(place for place, run in enumerate(runs) if not run.passed)
    for (function, argument), uses in by_argument.items():
        right = uses.find_runs_with_right_values() & failed
        for candidate in (
            *_conditions(function, argument, uses, called[function]),
            *_caps(function, argument, uses, called[function]),
            *_words(function, argument, uses, called[function]),
            *_coverage(function, argument, uses, replays, lists),
        ):
            broken = candidate.masks.broken & failed
            if (broken & right).bit_count() <= MAX_RIGHT * broken.bit_count():
                yield candidate


def _conditions(function: str, argument: str, uses: ArgumentUses, called: Mask) -> Iterator[GuardCandidate]:
    """Possible conditions on the argument: everything that is true of some of the calls but not of all."""
    tasks = defaultdict[SeenRelation, set[str]](set)
    worked, made = defaultdict[SeenRelation, Mask](int), defaultdict[SeenRelation, Mask](int)
    true_of: Counter[SeenRelation] = Counter()
    values = defaultdict[SeenRelation, set[str]](set)
    copied: Counter[SeenRelation] = Counter()
    padded = set[SeenRelation]()
    for relations, calls in uses.by_relations.items():
        made_here = mask_of(place for place, _, _ in calls)
        worked_here = mask_of(place for place, _, use in calls if use.worked)
        tasks_here = {run.task for _, run, use in calls if use.worked}
        if any(use.is_padded for _, _, use in calls):
            padded |= relations
        is_copied = any(relation.test == "from" for relation in relations)
        for relation in relations:
            if is_copied:
                copied[relation] += len(calls)
            if relation.names_a_day or relation.is_calculated:
                values[relation].update(str(call.value)[:10] for call in calls)
            made[relation] |= made_here
            true_of[relation] += len(calls)
            if worked_here:
                worked[relation] |= worked_here
                tasks[relation] |= tasks_here
    dated = union_of(mask for relation, mask in made.items() if relation.names_a_day)
    count, takes_several = len(uses.calls), uses.takes_several_values()
    for relation, times in true_of.items():
        if takes_several and relation.test == "picks" and uses.goes_through(relation):
            continue  # the call is made for one record after the other, so none is chosen
        if relation.test == "like" and (len(uses.shapes) > MAX_SHAPES or 2 * copied[relation] > times):
            continue  # free text; or the form of a copied value, not a way to write it
        if relation.test == "like" and "99" in relation.operand and relation not in padded:
            continue  # that identifiers happen to be equally long is no form
        if relation.where and made[relation] == made[relation._replace(where="")]:
            continue  # says no more than the same about all records
        if (relation.names_a_day or relation.is_calculated) and len(values[relation]) < MIN_VALUES:
            continue  # each date falls on some day, and each number is some other one plus something
        if relation.names_a_day and _is_mostly_outside(called & ~worked[relation], dated):
            continue  # what is no date at all has another fault than its day
        is_always = times == count and (relation != GIVEN or made[relation] == called)
        if not is_always and len(tasks[relation]) >= MIN_TASKS:
            yield from _ask_for(function, argument, relation, called, made[relation], worked[relation])


def _is_mostly_outside(mask: Mask, of: Mask) -> bool:
    return 2 * (mask & ~of).bit_count() > mask.bit_count()


def _ask_for(
    function: str, argument: str, relation: SeenRelation, called: Mask, made: Mask, worked: Mask
) -> Iterator[GuardCandidate]:
    """One guard that the call is made like this, and one that it is not."""
    yield about_argument("existence", function, argument, relation, GuardMasks(worked, called & ~worked))
    yield about_argument("absence", function, argument, relation, GuardMasks(called & ~made, made))


def _words(function: str, argument: str, uses: ArgumentUses, called: Mask) -> Iterator[GuardCandidate]:
    """What a text says in some of the calls but not in all."""
    for wording in find_wordings(uses.calls):
        yield from _ask_for(function, argument, wording.relation, called, wording.made, wording.worked)


def _caps(function: str, argument: str, uses: ArgumentUses, called: Mask) -> Iterator[GuardCandidate]:
    """Maximum amounts per call, at boundaries between the values that were passed."""
    for measure in dict.fromkeys(measure for call in uses.calls for measure in call.use.measures):
        measured = [
            _Measured(place, run.task, bool(run.passed), use.measures[measure])
            for place, run, use in uses.calls
            if measure in use.measures
        ]
        if len(measured) < (MIN_MEASURED if measure.place else 1) * len(uses.calls):
            continue
        tasks = defaultdict[float, set[str]](set)
        for each in measured:
            tasks[each.amount].add(each.task)
        steps = list(pairwise(sorted(tasks)))
        for low, high in steps[:: max(1, len(steps) // MAX_CAPS)]:
            boundary = low if len(tasks[low]) >= MIN_TASKS_AT_CAP else find_boundary(low, high)
            above = [each for each in measured if each.amount > boundary]
            below = [each for each in measured if each.amount <= boundary]
            ways = [(measure.above(boundary), above), (measure.up_to(boundary), below)]
            for relation, breaking in ways[:1] if measure.unit == "items" else ways:
                broken = mask_of(each.place for each in breaking)
                if measure.is_length or _is_limit(boundary, breaking, measured):
                    followed = GuardMasks(called & ~broken, broken)
                    yield about_argument("absence", function, argument, relation, followed, measure.is_length)


class _Measured(NamedTuple):
    """What one call gave."""

    place: int
    task: str
    passed: bool
    amount: float


def _is_limit(boundary: float, breaking: Sequence[_Measured], measured: Sequence[_Measured]) -> bool:
    """Where runs fail beyond the boundary, do passing runs of the task pass exactly the boundary, or not make the call
    at all? If they pass another amount, that amount was right, and the boundary only happens to lie in between."""
    tasks = {each.task for each in breaking if not each.passed}
    given = defaultdict[str, set[float]](set)
    for each in measured:
        if each.passed and each.task in tasks:
            given[each.task].add(each.amount)
    return 2 * sum(boundary not in amounts for amounts in given.values()) <= len(tasks)


def _coverage(
    function: str, argument: str, uses: ArgumentUses, replays: Replays, lists: _ListCounts
) -> Iterator[GuardCandidate]:
    """Every item that an earlier call listed is passed to this one."""
    listed = Counter[str]()
    for relations, calls in uses.by_relations.items():
        for relation in relations:
            if relation.test == "from":
                listed[relation.operand] += len(calls)
    for giver, count in listed.items():
        if count * 2 < len(uses.calls) or not lists.has_several(giver) or giver.startswith(f"{function}."):
            continue
        try:
            guard = parse_guard(f"covers({giver}, {function}.{argument})")
        except GuardError:
            continue
        masks = replays.replay(guard)
        yield GuardCandidate(str(guard), masks, "covers", function, guard.function, argument)
