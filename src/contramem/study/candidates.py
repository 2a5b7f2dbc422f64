"""Candidates: the guards that the runs of some tasks give reason to try, whatever their outcomes were.

Presence and order of calls, repetition, the way an argument is written, constants, caps, the field of an earlier result
that a value stands in, the record that was chosen, multiples of a number of the request. Which runs keep and break a
candidate is counted here from what the calls of each run have in common; what is chosen of them is replayed in earnest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from contramem.errors import GuardError
from contramem.monitor.comparison import read_number, shape_of, write_number
from contramem.monitor.guard import Guard, parse_guard
from contramem.study.atoms import MIN_TASKS, find_boundary, names_an_amount
from contramem.study.masks import GuardMasks, Mask
from contramem.study.recorded_actions import IndexedRuns, RecordedAction
from contramem.study.relations import SeenFields, find_relations
from contramem.study.run_set import StudyRun

MAX_SHAPES = 12
"""Ways to write one argument; one with more is free text."""
MAX_PAIRS = 2_500
"""Of functions whose order is tried."""
MAX_CAPS = 30
MIN_TASKS_AT_CAP = 3
"""Tasks with a call that gives the cap itself. It is then no value of one run, but what everybody stops at."""


class GuardCandidate(NamedTuple):
    """A guard in its text form, and what the runs did with it."""

    text: str
    masks: GuardMasks

    def parse(self) -> Guard | None:
        """None: a name in the runs that the language of guards cannot write."""
        try:
            return parse_guard(self.text)
        except GuardError:
            return None


def propose_candidates(runs: Sequence[StudyRun]) -> list[GuardCandidate]:
    """Every guard worth a trial on `runs`, each once, simplest first."""
    calls = _FunctionMasks(runs)
    proposed: dict[str, GuardMasks] = {}
    for text, masks in (*_presence(calls), *_order(runs, calls), *_repetition(runs, calls), *_arguments(runs, calls)):
        proposed.setdefault(text, masks)
    return [GuardCandidate(text, proposed[text]) for text in sorted(proposed, key=lambda text: (len(text), text))]


class _FunctionMasks:
    """By function: the runs that called it, and those in which it worked."""

    def __init__(self, runs: Sequence[StudyRun]) -> None:
        self.called = defaultdict[str, Mask](int)
        self.worked = defaultdict[str, Mask](int)
        self._tasks = defaultdict[str, Mask](int)
        for place, run in enumerate(runs):
            self._tasks[run.task] |= 1 << place
            for call in run.recorded.calls:
                self.called[call.function] |= 1 << place
                if call.worked:
                    self.worked[call.function] |= 1 << place

    def where_called(self, function: str) -> Mask:
        """All runs of the tasks in which some run calls the function."""
        called, mask = self.called[function], 0
        for task in self._tasks.values():
            mask |= task if task & called else 0
        return mask


def _presence(calls: _FunctionMasks) -> Iterator[tuple[str, GuardMasks]]:
    """Whether a function is called. That nobody calls it in tasks that it has nothing to do with says nothing."""
    for function, called in calls.called.items():
        worked, where = calls.worked[function], calls.where_called(function)
        if worked and worked != where:
            yield f"existence({function})", GuardMasks(worked, where & ~worked)
            yield f"absence({function})", GuardMasks(where & ~called, called)


class _Positions(NamedTuple):
    """Where a function stands among the calls of a run."""

    first_worked: int
    last_worked: int
    decisive: int
    """The first call that worked, or else the last one."""


def _order(runs: Sequence[StudyRun], calls: _FunctionMasks) -> Iterator[tuple[str, GuardMasks]]:
    together: Counter[tuple[str, str]] = Counter()
    prepared = defaultdict[tuple[str, str], Mask](int)
    answered = defaultdict[tuple[str, str], Mask](int)
    for place, run in enumerate(runs):
        positions = _find_positions(run.recorded.calls)
        together.update(combinations(sorted(run.recorded.functions & positions.keys()), 2))
        for before, earlier in positions.items():
            if earlier.first_worked < 0:
                continue
            for after, later in positions.items():
                if earlier.first_worked < later.decisive:
                    prepared[before, after] |= 1 << place
                if later.last_worked > earlier.last_worked:
                    answered[before, after] |= 1 << place
    # Those that most runs make together: the number of pairs grows with the square of the functions.
    common = sorted(together.items(), key=lambda counted: (-counted[1], counted[0]))[:MAX_PAIRS]
    for pair, count in common:
        for before, after in (pair, pair[::-1]) if count >= MIN_TASKS else ():
            kept = prepared[before, after]
            yield f"precedence({before}, {after})", GuardMasks(kept, calls.called[after] & ~kept)
            kept = answered[before, after]
            yield f"response({before}, {after})", GuardMasks(kept, calls.worked[before] & ~kept)


def _find_positions(calls: Sequence[RecordedAction]) -> dict[str, _Positions]:
    positions: dict[str, _Positions] = {}
    for number, call in enumerate(calls):
        before = positions.get(call.function, _Positions(-1, -1, -1))
        first = number if call.worked and before.first_worked < 0 else before.first_worked
        last = number if call.worked else before.last_worked
        positions[call.function] = _Positions(first, last, first if first >= 0 else number)
    return positions


def _repetition(runs: Sequence[StudyRun], calls: _FunctionMasks) -> Iterator[tuple[str, GuardMasks]]:
    again, alike = defaultdict[str, Mask](int), defaultdict[str, Mask](int)
    for place, run in enumerate(runs):
        made: dict[str, set[object]] = {}
        for call in run.recorded.calls:
            if not call.worked or call.effect == "read":
                continue
            if call.function in made:
                again[call.function] |= 1 << place
                if call.key() in made[call.function]:
                    alike[call.function] |= 1 << place
            made.setdefault(call.function, set()).add(call.key())
    for template, broken_by in (("not_succession({0}, {0})", again), ("at_most_once({0})", alike)):
        for function, broken in broken_by.items():
            yield template.format(function), GuardMasks(calls.worked[function] & ~broken, broken)


class _Uses:
    """The calls of one function that give one argument."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, StudyRun, RecordedAction]] = []
        self.shapes: set[str] = set()
        self.relations: list[frozenset[str]] = []

    def add(self, place: int, run: StudyRun, call: RecordedAction, argument: str, seen: SeenFields) -> None:
        self.calls.append((place, run, call))
        value = call.arguments[argument]
        if isinstance(value, str) and len(self.shapes) <= MAX_SHAPES:
            self.shapes.add(shape_of(value))
        self.relations.append(frozenset(find_relations(value, call, seen)))


def _arguments(runs: Sequence[StudyRun], calls: _FunctionMasks) -> Iterator[tuple[str, GuardMasks]]:
    by_argument = defaultdict[tuple[str, str], _Uses](_Uses)
    lists = set[str]()
    for place, run in enumerate(runs):
        seen = SeenFields()
        for call in run.recorded.calls:
            seen.look_back(call)
            for argument, value in call.arguments.items():
                if value is not None:
                    by_argument[call.function, argument].add(place, run, call, argument, seen)
        lists |= seen.lists
    index = IndexedRuns(run.recorded for run in runs)
    for (function, argument), uses in by_argument.items():
        yield from _conditions(function, argument, uses, calls)
        yield from _caps(function, argument, uses, calls)
        yield from _coverage(function, argument, uses, index, lists)


def _conditions(function: str, argument: str, uses: _Uses, calls: _FunctionMasks) -> Iterator[tuple[str, GuardMasks]]:
    """What could be asked of the argument: all that is true of some of the calls and not of all."""
    tasks = defaultdict[str, set[str]](set)
    worked, made = defaultdict[str, Mask](int), defaultdict[str, Mask](int)
    true_of: Counter[str] = Counter()
    copied: Counter[str] = Counter()
    for (place, run, call), relations in zip(uses.calls, uses.relations, strict=True):
        if any(relation.startswith("from ") for relation in relations):
            copied.update(relations)
        for relation in relations:
            made[relation] |= 1 << place
            true_of[relation] += 1
            if call.worked:
                worked[relation] |= 1 << place
                tasks[relation].add(run.task)
    called = calls.called[function]
    count = len(uses.calls)
    for relation, times in true_of.items():
        if relation.startswith("like ") and (len(uses.shapes) > MAX_SHAPES or 2 * copied[relation] > times):
            continue  # free text; or the form is that of what was copied, and not a way to write it
        is_always = times == count and (relation != "given" or made[relation] == called)
        if not is_always and len(tasks[relation]) >= MIN_TASKS:
            pattern = f"{function}[{argument} {relation}]"
            yield f"existence({pattern}) when {function}", GuardMasks(worked[relation], called & ~worked[relation])
            yield f"absence({pattern}) when {function}", GuardMasks(called & ~made[relation], made[relation])


def _caps(function: str, argument: str, uses: _Uses, calls: _FunctionMasks) -> Iterator[tuple[str, GuardMasks]]:
    """At most so much a call, at boundaries between numbers that were given."""
    if not names_an_amount(argument):
        return
    given = [(place, read_number(call.arguments[argument])) for place, _, call in uses.calls]
    numbers = [(place, number) for place, number in given if number is not None]
    if len(numbers) < len(given):
        return
    called = calls.called[function]
    tasks = defaultdict[float, set[str]](set)
    for (_, number), (_, run, _) in zip(numbers, uses.calls, strict=True):
        tasks[number].add(run.task)
    steps = list(pairwise(sorted(tasks)))
    for low, high in steps[:: max(1, len(steps) // MAX_CAPS)]:
        boundary = low if len(tasks[low]) >= MIN_TASKS_AT_CAP else find_boundary(low, high)
        above, below = 0, 0
        for place, number in numbers:
            if number > boundary:
                above |= 1 << place
            else:
                below |= 1 << place
        for sign, broken in ((">", above), ("<=", below)):
            text = f"absence({function}[{argument} {sign} {write_number(boundary)}]) when {function}"
            yield text, GuardMasks(called & ~broken, broken)


def _coverage(
    function: str, argument: str, uses: _Uses, index: IndexedRuns, lists: Collection[str]
) -> Iterator[tuple[str, GuardMasks]]:
    """Every item that an earlier call listed is given to this one."""
    listed: Counter[str] = Counter(
        relation for relations in uses.relations for relation in relations if relation.startswith("from ")
    )
    for relation, count in listed.items():
        giver = relation.removeprefix("from ")
        if count * 2 < len(uses.calls) or giver not in lists or giver.startswith(f"{function}."):
            continue
        guard = GuardCandidate(f"covers({giver}, {function}.{argument})", GuardMasks(0, 0)).parse()
        if guard is not None:
            yield str(guard), GuardMasks.of_verdicts(index.replay(guard))
