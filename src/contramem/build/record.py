"""Counting: how the runs of an ability fared under the guards of a card, task by task and all together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from contramem.bank.support import CardSupport, GuardSupport
from contramem.build.mining import guarded, is_met
from contramem.contrast.packet import Packet, PacketRun
from contramem.monitor.guard import Guard, Verdict
from contramem.monitor.packet_replay import GuardReplay, replay

MIN_RUNS = 5
"""Of those that kept a rule, and of those that did not, before they can speak against it."""
CLEAR_LIFT = 0.3

Replays: TypeAlias = Sequence[tuple[Packet, GuardReplay]]


class FollowRecord(NamedTuple):
    """How runs fared that kept a rule, and how those that did not, over all tasks it speaks about."""

    tasks: int
    kept: int
    kept_and_passed: int
    broke: int
    broke_and_passed: int

    @property
    def speaks_against_it(self) -> bool:
        """Enough runs of both sorts, and keeping the rule did not go with passing."""
        if min(self.kept, self.broke) < MIN_RUNS:
            return False
        return self.kept_and_passed / self.kept <= self.broke_and_passed / self.broke

    @property
    def makes_a_difference(self) -> bool:
        """Runs that kept it passed clearly more often than runs that did not."""
        if min(self.kept, self.broke) < 2:
            return False
        return self.kept_and_passed / self.kept - self.broke_and_passed / self.broke >= CLEAR_LIFT

    def __str__(self) -> str:
        return (
            f"{self.kept_and_passed} of {self.kept} runs that kept this passed, and {self.broke_and_passed} of "
            f"{self.broke} that did not"
        )


def record(guards: Sequence[Guard], packets: Sequence[Packet]) -> FollowRecord:
    """All guards of a card taken together: whoever breaks one has not kept the rule."""
    verdicts = [
        (packet.task_key, _verdict(about, run, packet), run.passed)
        for packet in packets
        # Whoever reads `after A, B` reads it after every A, so every A counts, whatever the task was about.
        if (about := [g for g in guards if is_met(g, packet) and (g.template == "response" or speaks_about(g, packet))])
        for run in (*packet.passing, *packet.failing)
    ]
    kept = [passed for _, verdict, passed in verdicts if verdict == "holds"]
    broke = [passed for _, verdict, passed in verdicts if verdict == "broken"]
    tasks = {task for task, verdict, _ in verdicts if verdict != "vacuous"}
    return FollowRecord(len(tasks), len(kept), sum(map(bool, kept)), len(broke), sum(map(bool, broke)))


def _verdict(guards: Sequence[Guard], run: PacketRun, packet: Packet) -> Verdict:
    verdicts = {guard.check(run.actions, packet.recorded.get(run.letter)) for guard in guards}
    return next(verdict for verdict in ("broken", "holds", "vacuous") if verdict in verdicts)


def replays(guards: Sequence[Guard], packets: Sequence[Packet]) -> Replays:
    """Each guard on every packet that is a task for it."""
    return [
        (packet, replay(guard, packet))
        for packet in packets
        for guard in guards
        if is_met(guard, packet) and speaks_about(guard, packet)
    ]


def speaks_about(guard: Guard, packet: Packet) -> bool:
    """Is this a task for the guard? One that asks for a call says nothing about tasks that passing runs do without it,
    and one that forbids a call says nothing where the task asks for it."""
    if guard.template in ("precedence", "at_most_once", "known_value", "covers"):
        return True
    made = any(not step.error for run in packet.passing for step in guarded(run, guard))
    return made if guard.template in ("response", "existence", "last") else not made


def footing_of(found: Replays) -> CardSupport:
    """What the replays add to a card's footing: tasks for it and against it, and each guard's counts."""
    footing = CardSupport()
    for packet, one in found:
        sources = [packet.provenance[letter].source for letter in (*one.held, *one.broken)]
        counts = GuardSupport(held=len(one.held), broken=len(one.broken), contradicted=len(one.contradicted))
        footing += CardSupport(
            tasks=(packet.task_key,) if one.supports else (),
            sources=tuple(sources) if one.supports else (),
            contradicted_by=(packet.task_key,) if one.speaks_against else (),
            taught_by=packet.identity if one.supports else (),
            support={str(one.guard): counts},
        )
    return footing
