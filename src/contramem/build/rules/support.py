"""Support: how the runs of an ability ended with and without a guard, per task and overall."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from functools import lru_cache, partial
from typing import NamedTuple, TypeAlias

from contramem.bank.bank import CardSupport, GuardSupport
from contramem.build.rules.steps import find_guarded_calls
from contramem.chance import OutcomeTable
from contramem.contrast.packet import Packet
from contramem.guards.conditions import TaskSays, parse_pattern
from contramem.guards.guard import Guard
from contramem.guards.packets import GuardReplay, replay
from contramem.guards.values import functions_of

MIN_RUNS = 5
"""How many runs must have followed a rule, and how many must not have, before they can count against it."""
CLEAR_LIFT = 0.3
MAX_DONE_WITHOUT = 0.25
"""Share of the passing runs in which a rule applies."""
MAX_PASSING_WITHOUT = 0.1
"""Share of the runs that do not follow a rule. If hardly any of them passes, the few that do were lucky."""

Replays: TypeAlias = Sequence[tuple[Packet, GuardReplay]]


class FollowRecord(NamedTuple):
    """How runs that followed a rule ended, and those that did not, over all tasks in which it applies."""

    tasks: int
    kept: int
    kept_and_passed: int
    broke: int
    broke_and_passed: int

    @property
    def outcomes(self) -> OutcomeTable:
        """All runs in one table, whatever their task."""
        passed, broke_passed = self.kept_and_passed, self.broke_and_passed
        return OutcomeTable(passed, self.kept - passed, broke_passed, self.broke - broke_passed)

    @property
    def speaks_against_it(self) -> bool:
        """Were there enough runs of both sorts, and did following the rule not go with passing?"""
        if min(self.kept, self.broke) < MIN_RUNS:
            return False
        return self.kept_and_passed / self.kept <= self.broke_and_passed / self.broke

    @property
    def passes_more_without(self) -> bool:
        """Do runs that did not follow it pass more often?"""
        if not self.kept:
            return bool(self.broke_and_passed)
        return bool(self.broke) and self.broke_and_passed / self.broke > self.kept_and_passed / self.kept

    @property
    def makes_a_difference(self) -> bool:
        """Did runs that followed it pass clearly more often than runs that did not?"""
        if min(self.kept, self.broke) < 2:
            return False
        return self.kept_and_passed / self.kept - self.broke_and_passed / self.broke >= CLEAR_LIFT

    @property
    def is_done_without(self) -> bool:
        """Do many passing runs not follow it? They may have done what their tasks asked for."""
        if self.makes_a_difference and self.broke_and_passed <= MAX_PASSING_WITHOUT * self.broke:
            return False
        return self.broke_and_passed > MAX_DONE_WITHOUT * (self.kept_and_passed + self.broke_and_passed)

    def __str__(self) -> str:
        followed = (
            f"{self.kept_and_passed} of {self.kept} {'run' if self.kept == 1 else 'runs'} that followed it passed"
        )
        if self.broke == 1:
            return f"{followed}; the one that didn't {'passed too' if self.broke_and_passed else 'failed'}"
        return f"{followed}; of the {self.broke} that didn't, {self.broke_and_passed or 'none'} did"


def follow_record(guards: Sequence[Guard], packets: Sequence[Packet]) -> FollowRecord:
    """Over all guards of a card: a run that breaks one of them has not followed the rule."""
    tasks, total = set[str](), Counter[str]()
    for packet in packets:
        if relevant := [replay(guard, packet) for guard in guards if _counts_in(guard, packet)]:
            held, broken, contradicted, kept_in_vain = _combine(relevant)
            tasks.update(packet.tasks_behind(*held, *broken, *contradicted, *kept_in_vain))
            total["kept"] += len(held) + len(kept_in_vain)
            total["kept and passed"] += len(held)
            total["broke"] += len(broken) + len(contradicted)
            total["broke and passed"] += len(contradicted)
    counts = (total[name] for name in ("kept", "kept and passed", "broke", "broke and passed"))
    return FollowRecord(len(tasks), *counts)


def _counts_in(guard: Guard, packet: Packet) -> bool:
    # A reader of `after A, B` applies it after every A, so every A counts, whatever the task was about.
    return can_be_broken(guard, packet) and (guard.form.follows_first or speaks_about(guard, packet))


def _combine(replays: Sequence[GuardReplay]) -> tuple[Collection[str], ...]:
    """The runs that follow all guards that apply to them, and those that break one: the sides of a replay."""
    sides = [each[1:] for each in replays]
    if len(sides) == 1:
        return sides[0]
    held, broken, contradicted, kept_in_vain = (set[str]().union(*letters) for letters in zip(*sides, strict=True))
    return held - contradicted, broken, contradicted, kept_in_vain - broken


def replays(guards: Sequence[Guard], packets: Sequence[Packet]) -> Replays:
    """Replay each guard on every packet in which it applies."""
    return [
        (packet, replay(guard, packet))
        for packet in packets
        for guard in guards
        if can_be_broken(guard, packet) and speaks_about(guard, packet)
    ]


def can_be_broken(guard: Guard, packet: Packet) -> bool:
    """Can any run of the packet have broken it? Most guards are about functions that a given task never calls."""
    return packet.called.issuperset(_find_needed(guard))


@lru_cache(maxsize=1 << 12)  # asked for each packet
def _find_needed(guard: Guard) -> frozenset[str]:
    """The functions without whose calls nobody breaks it."""
    if _depends_on_request(guard):
        return frozenset()
    if guard.template == "existence" and guard.conditions:  # whoever does not call it at all breaks it as well
        return frozenset(name for condition in guard.conditions for name in functions_of(condition))
    return frozenset({parse_pattern(guard.trigger).function} - {""})


def speaks_about(guard: Guard, packet: Packet) -> bool:
    """Does the guard apply to this task? A guard that demands a call says nothing about tasks that passing runs solve
    without it, and one that forbids a call says nothing where the task asks for it."""
    if guard.demand is None or parse_pattern(guard.then or guard.function).conditions:
        return True  # it says how to make a call, not whether to
    if guard.conditions:
        return True  # the guard itself says when it applies
    made = packet.memo.get(f"made: {guard.then or guard.function}", partial(_is_made, guard, packet))
    return bool(made) == (guard.demand == "a call")


def _is_made(guard: Guard, packet: Packet) -> bool:
    """Does a passing run make a call that the guard demands, forbids or restricts?"""
    return any(not step.error for run in packet.passing for step in find_guarded_calls(run, guard))


def _depends_on_request(guard: Guard) -> bool:
    """Do words of the request decide when it applies? Then every agent with such a request reads it, whatever runs
    called."""
    return any(isinstance(condition, TaskSays) for condition in guard.conditions)


def support_from(replays: Replays) -> CardSupport:
    """What the replays add to a card's support: tasks for and against it, and the counts of each guard. They contribute
    no words to the card, so it may still be shown for these tasks."""
    tasks, sources, against = set[str](), set[str](), set[str]()
    counts = defaultdict[Guard, Counter[str]](Counter)
    for packet, replayed in replays:
        for side in ("held", "broken", "contradicted"):
            counts[replayed.guard][side] += len(getattr(replayed, side))
        if replayed.supports:
            shown_by = (*replayed.held, *replayed.broken)
            tasks.update(packet.tasks_behind(*shown_by))
            sources.update(packet.provenance[letter].source for letter in shown_by)
        if replayed.contradicts:
            against.add(packet.task_key)
    return CardSupport(
        tasks=tuple(tasks),
        sources=tuple(sources),
        contradicted_by=tuple(against),
        guard_counts={str(guard): GuardSupport(**counts[guard]) for guard in counts},
    )
