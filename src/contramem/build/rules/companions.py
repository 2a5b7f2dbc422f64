"""Companions: a change, and another call on the same thing that only some runs make before or after it.

No tool demands the other call and no value depends on it: only outcomes show whether it matters.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contramem.build.rules.phrases import names_action
from contramem.build.rules.steps import working_calls
from contramem.contrast.packet import PacketRun
from contramem.contrast.placeholder_types import any_of, names_where
from contramem.contrast.step import Step
from contramem.contrast.vocabulary import scalars

_THING = re.compile(rf"<(?!{any_of(names_where(lambda type_: type_.is_shared_by_chance))})[A-Z]+_\d+>")
"""Types of values that two calls do not share by chance."""


class CallPair(NamedTuple):
    """A call and a later one."""

    first: str
    then: str


def companions_before(runs: Sequence[PacketRun], task: str) -> list[CallPair]:
    """What some runs do before a change, paired with the change. A call that the request asks for explicitly is not a
    lesson."""
    pairs = [_before(run) for run in runs]
    return [
        pair
        for pair in _union(pairs)
        if _is_left_out(pair, pair.then, runs, pairs) and not names_action(task, pair.first)
    ]


def companions_after(runs: Sequence[PacketRun], task: str) -> list[CallPair]:
    """The changes that some runs follow up, each paired with the call that follows."""
    pairs = [_after(run) for run in runs]
    return [
        pair
        for pair in _union(pairs)
        if _is_left_out(pair, pair.first, runs, pairs) and not names_action(task, pair.then)
    ]


def _union(pairs: Sequence[set[CallPair]]) -> list[CallPair]:
    return sorted(set().union(*pairs))


def _is_left_out(pair: CallPair, change: str, runs: Sequence[PacketRun], pairs: Sequence[set[CallPair]]) -> bool:
    """Does some run make the change without its companion?"""
    without = [run for run, seen in zip(runs, pairs, strict=True) if pair not in seen]
    return any(step.function == change and _changes(step) for run in without for step in working_calls(run))


def _before(run: PacketRun) -> set[CallPair]:
    """(A, B): B changed something that A had been called for, and A did not supply it."""
    return {
        CallPair(earlier, step.function)
        for step, seen in _changes_with_earlier_calls(run)
        for earlier in seen.called_for(step) - set(step.origins.values()) - {step.function}
    }


def _after(run: PacketRun) -> set[CallPair]:
    """(A, B): after the change A, B was called for the same thing or for something A returned, and changed something
    too."""
    return {
        CallPair(earlier, step.function)
        for step, seen in _changes_with_earlier_calls(run)
        for earlier in (seen.changed_for(step) | (seen.changed & set(step.origins.values()))) - {step.function}
    }


class _EarlierCalls:
    """The functions that a run has called so far, by the things they were called for."""

    def __init__(self) -> None:
        self.changed = set[str]()
        """Those that changed something."""
        self._called = defaultdict[str, set[str]](set)
        self._changed = defaultdict[str, set[str]](set)

    def called_for(self, step: Step) -> set[str]:
        """The functions already called for a thing that `step` is about."""
        return set[str]().union(*(self._called[thing] for thing in _things(step)))

    def changed_for(self, step: Step) -> set[str]:
        """Those among them that changed something."""
        return set[str]().union(*(self._changed[thing] for thing in _things(step)))

    def add(self, step: Step) -> None:
        for thing in _things(step):
            self._called[thing].add(step.function)
            if _changes(step):
                self._changed[thing].add(step.function)
        if _changes(step):
            self.changed.add(step.function)


def _changes_with_earlier_calls(run: PacketRun) -> Iterator[tuple[Step, _EarlierCalls]]:
    """Each change with the calls before it. Comparing all pairs of calls would be quadratic."""
    seen = _EarlierCalls()
    for step in working_calls(run):
        if _changes(step):
            yield step, seen
        seen.add(step)


def _changes(step: Step) -> bool:
    return step.effect not in ("read", "wait", "finalize")


def _things(step: Step) -> set[str]:
    """What the call is about: its arguments that refer to something."""
    return {value for _, value in scalars(step.arguments) if isinstance(value, str) and _THING.fullmatch(value)}
