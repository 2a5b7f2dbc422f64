"""Hints across tasks: what separates passing from failing runs of many tasks, shown with the packets it applies to.

One task shows that a credit note of <AMOUNT_1> needed a hold; only many tasks show that the threshold is 500. If
two tasks of a kind needed opposite things, opposites.py shows them side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from contramem.build.model.opposites import find_opposites
from contramem.build.rules.across import find_shared_lessons
from contramem.contrast.packet import Packet
from contramem.monitor.guard import Guard, guards_of
from contramem.monitor.packet_replay import replay

MAX_CONTRADICTED = 0.25
"""The share of passing runs below which a hint may be broken, as in mining."""


class SharedHint(NamedTuple):
    """A guard that explains outcomes across tasks."""

    guard: Guard
    held: int
    """Passing runs that keep it."""
    broken: int
    """Failing runs that break it."""
    contradicted: int
    """Passing runs that break it."""

    def __str__(self) -> str:
        against = f", broken by {self.contradicted} passing" if self.contradicted else ""
        return f"{self.guard} (kept by {self.held} passing runs, broken by {self.broken} failing{against})"

    @property
    def decides(self) -> bool:
        """Whether few of the passing runs that it applies to break it."""
        return self.contradicted < MAX_CONTRADICTED * (self.held + self.contradicted)

    def concerns(self, packet: Packet) -> bool:
        """Whether runs of this task call all functions of the guard."""
        called = {step.function for run in packet.runs for step in run.actions if step.function}
        return called.issuperset(self.guard.functions)


class AcrossHints(NamedTuple):
    """What the other tasks of an ability say about one."""

    shared: Sequence[SharedHint] = ()
    opposites: Mapping[str, str] = MappingProxyType({})
    """By task key: a line about a task of the same kind in which the opposite was right."""

    @classmethod
    def of(cls, packets: Sequence[Packet]) -> AcrossHints:
        """Of the tasks of one ability, taken together."""
        return cls(find_shared_hints(packets), find_opposites(packets))


NO_HINTS = AcrossHints()


def find_shared_hints(packets: Sequence[Packet]) -> list[SharedHint]:
    """Of the tasks of one ability, taken together."""
    guards = [guard for shared in find_shared_lessons(packets) for guard in guards_of(shared.lesson.text.guards)]
    counted = (_count_runs(guard, packets) for guard in dict.fromkeys(guards))
    return [hint for hint in counted if hint.decides]


def _count_runs(guard: Guard, packets: Sequence[Packet]) -> SharedHint:
    replayed = [replay(guard, packet) for packet in packets]
    sides = zip(*((len(each.held), len(each.broken), len(each.contradicted)) for each in replayed), strict=True)
    held, broken, contradicted = map(sum, sides)
    return SharedHint(guard, held, broken, contradicted)
