"""Across tasks: what passing runs of an ability share and failing ones lack, whichever task they are of.

Rules of an office hold under conditions and are shown by a few runs of each of many tasks, so one task alone teaches
little. `study.explain` finds the few differences that explain most failures; here they become lessons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contramem.build.rules.kinds.convention import Convention
from contramem.build.rules.phrases import names_deed
from contramem.build.rules.rule import Contrast, Lesson, illustrate
from contramem.build.rules.steps import calls_of
from contramem.contrast.packet import Packet
from contramem.contrast.signal import Cite
from contramem.monitor.guard import Guard
from contramem.monitor.packet_replay import GuardReplay, replay
from contramem.monitor.pattern import parse_pattern
from contramem.study.explain import explain
from contramem.study.run_set import RunSet

MAX_LESSONS = 12
"""For each ability."""
MIN_TASKS = 3
"""With runs that a rule speaks about."""
MIN_SHOWING = 2
"""Tasks in which passing runs keep it and failing ones break it."""


class SharedLesson(NamedTuple):
    """A lesson of many tasks, and the packet that shows it best."""

    lesson: Lesson
    packet: Packet


def find_shared_lessons(packets: Sequence[Packet]) -> Iterator[SharedLesson]:
    """What the runs of all these tasks, taken together, teach."""
    runs = RunSet.of(run for packet in packets for run in packet.recorded.values())
    evidence = runs.select()
    if not any(run.passed for run in evidence) or all(run.passed for run in evidence):
        return
    for difference in explain(evidence, runs, MAX_LESSONS).differences:
        table = difference.counts
        if difference.tasks < MIN_TASKS or 20 * table.broke_passed > table.kept_passed + table.broke_passed:
            continue
        if _says_too_little(difference.guard) or _only_goes_on(difference.guard, packets):
            continue
        showing = _find_showing(difference.guard, packets)
        if len(showing) >= MIN_SHOWING and not _is_asked_for(difference.guard, [packet for packet, _ in showing]):
            yield _learn(difference.guard, *showing[0])


def _says_too_little(guard: Guard) -> bool:
    """A call that is due, but nobody can tell when; or the shape of a free text, which is that of the tasks."""
    tests = [condition for pattern in guard.patterns for condition in pattern.conditions]
    if any(condition.test == "like" and " " in condition.value for condition in tests):
        return True
    return guard.demand is not None and not guard.then and not tests and not guard.conditions


def _only_goes_on(guard: Guard, packets: Sequence[Packet]) -> bool:
    """Does it ask for a call after one that only looked? That runs which went on to do the task passed is no lesson."""
    if not guard.follows_a_call:
        return False
    first = parse_pattern(guard.function).function
    steps = (step for packet in packets for run in packet.runs for step in calls_of(run, first))
    return all(step.effect != "write" for step in steps)


def _find_showing(guard: Guard, packets: Sequence[Packet]) -> list[tuple[Packet, GuardReplay]]:
    """The tasks that show it within themselves, the clearest first."""
    replays = [(packet, replay(guard, packet)) for packet in packets if packet.is_contrastive]
    showing = [(packet, replayed) for packet, replayed in replays if replayed.supports]
    return sorted(showing, key=lambda pair: (-len(pair[1].held) * len(pair[1].broken), pair[0].task_key))


def _is_asked_for(guard: Guard, packets: Sequence[Packet]) -> bool:
    """Do the requests say it themselves, in most tasks that show it? Then it is no lesson."""
    if guard.demand != "a call" or "[" in guard.target:
        return False
    asking = [packet for packet in packets if names_deed(packet.task, guard.target)]
    return 2 * len(asking) > len(packets)


def _learn(guard: Guard, packet: Packet, replayed: GuardReplay) -> SharedLesson:
    contrast = Contrast(len(replayed.held), len(packet.passing), len(replayed.broken), len(packet.failing))
    rule = Convention(guard=str(guard), functions=guard.functions, contrast=contrast)
    good = next(run for run in packet.passing if run.letter in replayed.held)
    bad = next(run for run in packet.failing if run.letter in replayed.broken)
    cites = [
        Cite(run.letter, step.position)
        for run in (good, bad)
        for function in guard.functions
        for step in calls_of(run, function)[:1]
    ] or [Cite(bad.letter, bad.actions[-1].position)]
    return SharedLesson(Lesson(rule, illustrate(rule, packet, good, bad), tuple(cites)), packet)
