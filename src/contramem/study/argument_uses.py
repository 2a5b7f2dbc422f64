"""Uses of arguments: what each call of a run passed, and what is true of it.

Kept among the notes about the run: a build that knows the run need not look at its calls again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from contramem.guards.actions import Action
from contramem.guards.values import shape_of
from contramem.study.masks import Mask, mask_of
from contramem.study.measures import Measure, find_measures
from contramem.study.relations import find_relations, is_text
from contramem.study.run_set import StudyRun
from contramem.study.seen_fields import SeenFields
from contramem.study.seen_relation import SeenRelation
from contramem.traces.trajectory import digest

MAX_WRITTEN = 100
"""Of a longer value only a digest is kept."""

_PADDED = re.compile(r"(?<!\d)0\d")
"""A number that is filled up with zeros."""


class ArgumentUse(NamedTuple):
    """One argument of one call, and what is true of it."""

    function: str
    argument: str
    call: int
    """The number of the call in its run."""
    worked: bool
    written: str
    """The same for equal values only."""
    is_text: bool
    """Whether it is written text, rather than a name or number."""
    is_padded: bool
    """Whether it contains a number that is filled up with zeros."""
    shape: str | None
    """How it is written; None if it is not written as text."""
    relations: frozenset[SeenRelation]
    measures: dict[Measure, float]


@dataclass(frozen=True, slots=True)
class RunUses:
    """The arguments of all calls of a run."""

    uses: tuple[ArgumentUse, ...]
    places: tuple[str, ...]
    """Fields that it saw."""
    lists: frozenset[str]
    """Those of them with several values at once."""


def find_uses(run: StudyRun) -> RunUses:
    return run.recorded.memo.get("uses", lambda: _read_uses(run.recorded.calls))


def _read_uses(calls: Sequence[Action]) -> RunUses:
    seen, uses = SeenFields(), list[ArgumentUse]()
    for number, call in enumerate(calls):
        seen.look_back(call)
        uses += (_read_use(name, number, call, seen) for name, value in call.arguments.items() if value is not None)
    return RunUses(tuple(uses), tuple(seen.places()), frozenset(seen.lists))


def _read_use(argument: str, number: int, call: Action, seen: SeenFields) -> ArgumentUse:
    value = call.arguments[argument]
    return ArgumentUse(
        call.function,
        argument,
        number,
        call.worked,
        _write(value),
        is_text(value),
        _PADDED.search(str(value)) is not None,
        shape_of(value) if isinstance(value, str) else None,
        frozenset(find_relations(value, call, seen)),
        dict(find_measures(value, argument, call, seen)),
    )


def _write(value: Any) -> str:
    written = repr(value)
    return written if len(written) <= MAX_WRITTEN else digest(written)


class CallOfRun(NamedTuple):
    """A call that passes an argument."""

    place: int
    """The place of its run."""
    run: StudyRun
    use: ArgumentUse

    @property
    def recorded(self) -> Action:
        return self.run.recorded.calls[self.use.call]

    @property
    def value(self) -> Any:
        return self.recorded.arguments[self.use.argument]


class ArgumentUses:
    """The calls of one function that pass one argument."""

    def __init__(self) -> None:
        self.calls: list[CallOfRun] = []

    @cached_property
    def shapes(self) -> set[str]:
        return {call.use.shape for call in self.calls if call.use.shape is not None}

    @cached_property
    def by_relations(self) -> dict[frozenset[SeenRelation], list[CallOfRun]]:
        """The calls of which the same is true."""
        groups = defaultdict[frozenset[SeenRelation], list[CallOfRun]](list)
        for call in self.calls:
            groups[call.use.relations].append(call)
        return groups

    def takes_several_values(self) -> bool:
        """Whether most passing runs make the call with several values, one after the other."""
        passing = {call.place for call in self.calls if call.run.passed}
        several = [place for place in passing if len(self._values_that_worked.get(place, ())) > 1]
        return 2 * len(several) > len(passing)

    def goes_through(self, relation: SeenRelation) -> bool:
        """Whether most passing runs that choose a record in this way also choose the one at the other end, or every
        record that it could be."""
        opposite = relation.reverse()
        chosen, others = set[int](), set[int]()
        for place, run, use in self.calls:
            if run.passed and relation in use.relations:
                chosen.add(place)
            if run.passed and opposite in use.relations:
                others.add(place)
        return opposite is None or 2 * len(chosen & others) > len(chosen)

    def find_runs_with_right_values(self) -> Mask:
        """The runs that passed the same values as a passing run of their task. If they failed, this was not why. Where
        no call of a run worked, what it tried counts: the tool may have refused another argument."""
        runs = {call.place: call.run for call in self.calls}
        worked = {place: frozenset(values) for place, values in self._values_that_worked.items()}
        given = {(runs[place].task, values) for place, values in worked.items() if runs[place].passed}
        tried = worked | {place: frozenset(values) for place, values in self._values.items() if place not in worked}
        return mask_of(place for place, values in tried.items() if (runs[place].task, values) in given)

    @cached_property
    def _values(self) -> dict[int, set[str]]:
        """By run, what its calls passed."""
        return _group_values(self.calls)

    @cached_property
    def _values_that_worked(self) -> dict[int, set[str]]:
        return _group_values(call for call in self.calls if call.use.worked)


def _group_values(calls: Iterable[CallOfRun]) -> dict[int, set[str]]:
    values = defaultdict[int, set[str]](set)
    for place, _, use in calls:
        values[place].add(use.written)
    return values
