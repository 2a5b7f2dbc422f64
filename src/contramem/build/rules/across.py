"""Across tasks: what passing runs of an ability share and failing ones lack, whichever task they are of.

Rules of an office hold under conditions and are shown by a few runs of each of many tasks, so one task alone teaches
little. `study.explain` finds the few differences that explain most failures; here they become lessons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contramem.build.rules.kinds.convention import Convention
from contramem.build.rules.phrases import names_deed, stem
from contramem.build.rules.rule import Contrast, Lesson, illustrate
from contramem.build.rules.steps import calls_of
from contramem.contrast.packet import Packet
from contramem.contrast.signal import Cite
from contramem.monitor.guard import Guard
from contramem.monitor.packet_replay import GuardReplay, replay
from contramem.monitor.pattern import parse_pattern
from contramem.monitor.scope import TaskSays
from contramem.study.explain import Difference, explain
from contramem.study.run_set import RunSet
from contramem.traces.effects import words
from contramem.traces.trajectory import digest

MAX_LESSONS = 30
"""For each ability."""
MAX_BY_CHANCE = 10
"""How often chance may be expected to show something like it among the rules of its family. Rules of one family have
most of their runs in common, so that this is far too many: docs/quality.md says what it was chosen by."""
MAX_STUDIED = 500
"""Tasks that differences are looked for in. What is found is counted over all of them."""
MIN_SHOWING = 2
"""Tasks in which passing runs keep it and failing ones break it; unless one task alone is as good as proof."""
MAX_CHANCE_IN_ONE_TASK = 0.002
"""Six runs against six that all agree are enough."""


class SharedLesson(NamedTuple):
    """A lesson of many tasks, and the packet that shows it best."""

    lesson: Lesson
    packet: Packet


def find_shared_lessons(packets: Sequence[Packet]) -> Iterator[SharedLesson]:
    """What the runs of all these tasks, taken together, teach."""
    studied = sorted(packets, key=lambda packet: (digest(packet.task_key), packet.task_key))[:MAX_STUDIED]
    runs = RunSet.of(run for packet in studied for run in packet.recorded.values())
    evidence = runs.select()
    if not any(run.passed for run in evidence) or all(run.passed for run in evidence):
        return
    for difference in explain(evidence, runs, MAX_LESSONS).differences:
        if difference.chance * difference.family > MAX_BY_CHANCE:
            continue
        if _says_too_little(difference.guard) or _only_goes_on(difference.guard, packets):
            continue
        showing = _find_showing(difference.guard, packets)
        enough = 1 if difference.chance <= MAX_CHANCE_IN_ONE_TASK else MIN_SHOWING
        if len(showing) < enough or _is_asked_for(difference.guard, [packet for packet, _ in showing]):
            continue
        if len(showing) >= MIN_SHOWING or not _is_told_by_chance_word(difference.guard):
            yield _learn(difference, *showing[0])


def _says_too_little(guard: Guard) -> bool:
    """A call that is due, but nobody can tell when; or the shape of a free text, which is that of the tasks."""
    tests = [condition for pattern in guard.patterns for condition in pattern.conditions]
    if any(condition.test == "like" and " " in condition.value for condition in tests):
        return True
    return guard.demand is not None and not guard.then and not tests and not guard.conditions


def _only_goes_on(guard: Guard, packets: Sequence[Packet]) -> bool:
    """Does it ask for a change after a call that only looked? That runs which went on to do the task passed is no
    lesson. What else to look at is one, and what is due under a condition."""
    if not guard.follows_a_call or guard.conditions:
        return False
    first, then = (parse_pattern(text).function for text in (guard.function, guard.then))
    effects = {step.function: step.effect for packet in packets for run in packet.runs for step in run.actions}
    return effects.get(first) != "write" and effects.get(then) != "read"


def _is_told_by_chance_word(guard: Guard) -> bool:
    """Is it confined to requests with a word that has nothing to do with the call? One task alone has many words."""
    said = [stem(condition.value) for condition in guard.conditions if isinstance(condition, TaskSays)]
    named = {stem(word) for word in words(guard.target.rpartition(".")[2])}
    return bool(said) and named.isdisjoint(said)


def _find_showing(guard: Guard, packets: Sequence[Packet]) -> list[tuple[Packet, GuardReplay]]:
    """The tasks that show it within themselves, the clearest first."""
    replays = [(packet, replay(guard, packet)) for packet in packets if packet.is_contrastive]
    showing = [(packet, replayed) for packet, replayed in replays if replayed.supports]
    return sorted(showing, key=lambda pair: (-len(pair[1].held) * len(pair[1].broken), pair[0].task_key))


def _is_asked_for(guard: Guard, packets: Sequence[Packet]) -> bool:
    """Do the requests say it themselves, in most tasks that show it? Then it is no lesson."""
    if guard.demand != "a call" or parse_pattern(guard.then or guard.function).conditions:
        return False
    asking = [packet for packet in packets if names_deed(packet.task, guard.target)]
    return 2 * len(asking) > len(packets)


def _learn(difference: Difference, packet: Packet, replayed: GuardReplay) -> SharedLesson:
    guard = difference.guard
    contrast = Contrast(len(replayed.held), len(packet.passing), len(replayed.broken), len(packet.failing))
    rule = Convention(guard=str(guard), functions=guard.functions, contrast=contrast, family=difference.family)
    good = next(run for run in packet.passing if run.letter in replayed.held)
    bad = next(run for run in packet.failing if run.letter in replayed.broken)
    cites = [
        Cite(run.letter, step.position)
        for run in (good, bad)
        for function in guard.functions
        for step in calls_of(run, function)[:1]
    ] or [Cite(bad.letter, bad.actions[-1].position)]
    return SharedLesson(Lesson(rule, illustrate(rule, packet, good, bad), tuple(cites)), packet)
