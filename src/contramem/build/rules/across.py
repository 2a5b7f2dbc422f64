"""Across tasks: what passing runs of an ability share and failing runs lack, whatever their task.

The rules of an organization apply under conditions, and each of many tasks shows them in a few runs, so a single task
teaches little. `study.explain` finds the few differences that explain most failures; here they become lessons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from contramem.build.rules.convention_words import find_right_shape
from contramem.build.rules.endings import ending_of
from contramem.build.rules.form_names import has_shape, name_form
from contramem.build.rules.kinds.allowed_value import AllowedValue
from contramem.build.rules.kinds.argument_form import ArgumentForm
from contramem.build.rules.kinds.convention import Convention
from contramem.build.rules.kinds.every_item import EveryItem
from contramem.build.rules.kinds.last_words import LastWords
from contramem.build.rules.kinds.look_first import LookFirst
from contramem.build.rules.kinds.required_argument import RequiredArgument
from contramem.build.rules.kinds.try_again import TryAgain
from contramem.build.rules.lesson_checks import LessonChecks, find_showing
from contramem.build.rules.rule import MAX_CALLS, Contrast, Lesson, Rule, illustrate
from contramem.build.rules.shared_lesson import SharedLesson
from contramem.build.rules.steps import calls_of, is_successful_write
from contramem.build.rules.unfinished import find_unfinished
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.signal import Cite
from contramem.guards.actions import actions_of_steps
from contramem.guards.conditions import parse_pattern
from contramem.guards.guard import Guard
from contramem.guards.packets import GuardReplay
from contramem.guards.values import functions_of
from contramem.study.by_kind import explain_by_kind
from contramem.study.contenders import find_contenders
from contramem.study.demanded_words import name_words
from contramem.study.explain import Difference, explain
from contramem.study.instead import find_instead
from contramem.study.run_masks import RunMasks
from contramem.study.run_set import RunSet, StudyRun
from contramem.traces.trajectory import digest

MAX_LESSONS = 30
"""Per ability."""
MAX_STUDIED = 500
"""Number of tasks that are searched for differences. Those that are found are counted over all tasks."""


def find_shared_lessons(packets: Sequence[Packet]) -> Iterator[SharedLesson]:
    """Yield what the runs of all these tasks teach together."""
    for kind in (ArgumentForm, AllowedValue, RequiredArgument, EveryItem):
        yield from kind.find(packets)
    studied = sorted(packets, key=lambda packet: (digest(packet.task_key), packet.task_key))[:MAX_STUDIED]
    runs = RunSet.of_packets(studied)
    evidence = runs.select()
    if not any(run.passed for run in evidence) or all(run.passed for run in evidence):
        return
    checks = LessonChecks(packets, evidence, runs)
    contenders = find_contenders(RunMasks(evidence, runs))
    of_all = explain(evidence, runs, MAX_LESSONS, checks.accept, contenders=contenders).differences
    known = [difference.guard for difference in of_all]
    for difference in (*of_all, *explain_by_kind(evidence, runs, checks.accept, known, contenders)):
        named = name_words(difference.guard, evidence)
        if showing := checks.find_showing(named):
            difference = replace(difference, guard=named)
        yield _learn(difference, evidence, *(showing or checks.find_showing(difference.guard))[0])
    yield from _learn_unfinished(packets, evidence, runs)


class _ShowingTask(NamedTuple):
    """A task whose runs show what others omitted."""

    packet: Packet
    kept: Sequence[PacketRun]
    """Passing runs."""
    broke: Sequence[PacketRun]
    """Failing runs."""


def _learn_unfinished(packets: Sequence[Packet], evidence: Sequence[StudyRun], runs: RunSet) -> Iterator[SharedLesson]:
    """Yield what failing runs omitted entirely, with the task that shows it best."""
    for rule in find_unfinished(evidence, runs):
        showing = list(
            _find_endings(rule, packets, runs) if isinstance(rule, LastWords) else _find_shown(rule, packets)
        )
        if not showing:
            continue
        shown = max(showing, key=lambda shown: _count_shown(rule, shown))
        good = _find_example(rule, shown)
        bad = min(shown.broke, key=lambda run: (_count_called(run, rule.functions), len(run.actions)))
        if isinstance(rule, (LookFirst, LastWords)):
            rule = rule.name_only([step.function for run in (good, bad) for step in run.actions])
        packet = shown.packet
        counts = len(shown.kept), len(packet.passing), len(shown.broke), len(packet.failing)
        rule = replace(rule, contrast=Contrast(*counts))
        cites = [Cite(run.letter, step.position) for run in (good, bad) for step in run.actions[-1:]]
        text = illustrate(rule, packet, good, bad)
        if isinstance(rule, LastWords):
            text = rule.name_ending(text)
        yield SharedLesson(Lesson(rule, text, tuple(cites)), packet)


def _find_shown(rule: Rule, packets: Sequence[Packet]) -> Iterator[_ShowingTask]:
    for guard in rule.guards:
        for packet, replayed in find_showing(guard, packets):
            kept = [run for run in packet.passing if run.letter in replayed.held]
            yield _ShowingTask(packet, kept, [run for run in packet.failing if run.letter in replayed.broken])


def _find_endings(rule: LastWords, packets: Sequence[Packet], runs: RunSet) -> Iterator[_ShowingTask]:
    """The tasks in which failing runs changed nothing and ended so, and passing runs changed something."""
    changing = [
        _ShowingTask(
            packet,
            [run for run in packet.passing if any(map(is_successful_write, run.actions))],
            [run for run in packet.failing if not any(map(is_successful_write, run.actions))],
        )
        for packet in packets
    ]
    for packet, kept, idle in _find_shown(rule, packets) if rule.guards else changing:
        broke = [run for run in idle if ending_of(packet.recorded[run.letter], runs.functions) == rule.ending]
        if kept and broke:
            yield _ShowingTask(packet, kept, broke)


def _learn(difference: Difference, evidence: Sequence[StudyRun], packet: Packet, replayed: GuardReplay) -> SharedLesson:
    guard = difference.guard
    contrast = Contrast(len(replayed.held), len(packet.passing), len(replayed.broken), len(packet.failing))
    following = [run for run in packet.passing if run.letter in replayed.held]
    instead = find_instead(guard, evidence)
    named = functions_of(parse_pattern(instead)) if instead else ()
    showing = [run for run in following if all(calls_of(run, function) for function in named)]
    if not showing:
        instead, named, showing = "", (), following
    rule = Convention(
        guard=str(guard),
        functions=tuple(dict.fromkeys([*guard.functions, *named])),
        contrast=contrast,
        family=difference.family,
        instead=instead,
        form=_find_form(guard, instead, evidence),
        comes_first=_comes_first(guard, evidence),
    )
    good = _clearest(showing, guard, packet)
    bad = _clearest([run for run in packet.failing if run.letter in replayed.broken], guard, packet)
    cites = [
        Cite(run.letter, step.position)
        for run in (good, bad)
        for function in rule.functions
        for step in calls_of(run, function)[:1]
    ] or [Cite(bad.letter, bad.actions[-1].position)]
    return SharedLesson(Lesson(rule, illustrate(rule, packet, good, bad), tuple(cites)), packet)


def _count_shown(rule: Rule, shown: _ShowingTask) -> tuple[int, int]:
    """How many usual calls a passing run of the task shows, and how clearly its runs differ."""
    example = _find_example(rule, shown)
    return _count_called(example, rule.functions[:MAX_CALLS]), len(shown.kept) * len(shown.broke)


def _find_example(rule: Rule, shown: _ShowingTask) -> PacketRun:
    """The passing run that shows most of the usual calls; for a second try, one that was refused first."""

    def shows(run: PacketRun) -> tuple[bool, int, int]:
        tries = isinstance(rule, TryAgain) and any(
            step.error for function in rule.functions for step in calls_of(run, function)
        )
        return tries, _count_called(run, rule.functions[:MAX_CALLS]), -len(run.actions)

    return max(shown.kept, key=shows)


def _count_called(run: PacketRun, functions: Sequence[str]) -> int:
    return len({step.function for step in run.actions}.intersection(functions))


def _find_form(guard: Guard, instead: str, evidence: Sequence[StudyRun]) -> str:
    """How passing runs write the argument whose form the rule is about, in words; empty if it is not about a form."""
    shape = find_right_shape(guard, instead)
    if not shape:
        return ""
    pattern = parse_pattern(instead or guard.function)
    values = [
        call.arguments.get(pattern.conditions[0].argument)
        for run in evidence
        if run.passed and pattern.function in run.called
        for call in run.recorded.calls
        if call.function == pattern.function and call.worked
    ]
    return name_form({value for value in values if isinstance(value, str) and has_shape(value, shape)})


def _comes_first(guard: Guard, evidence: Sequence[StudyRun]) -> bool:
    """Do most passing runs that make the first call also make the one that the guard forbids after it?"""
    if guard.template != "not_succession":
        return False
    first, then = (parse_pattern(text).function for text in (guard.function, guard.then))
    passing = [run.recorded for run in evidence if run.passed and first in run.called]
    kept = [run for run in passing if first in run.functions and run.replay(guard) == "holds"]
    return 2 * sum(then in run.functions for run in kept) > len(kept)


def _clearest(runs: Sequence[PacketRun], guard: Guard, packet: Packet) -> PacketRun:
    """The run that shows it with the fewest errors and calls. A run that never made the call shows little, and so does
    a failing run that made the right call and was refused."""
    demanded = parse_pattern(guard.function) if guard.template == "existence" else None

    def unclear(run: PacketRun) -> tuple[bool, bool, int, int]:
        made = [step for step in run.actions if step.function in guard.functions]
        actions = list(actions_of_steps(run.actions, packet.recorded.get(run.letter)))
        refused = demanded is not None and not run.passed and any(demanded.matches(action) for action in actions)
        return refused, not made, sum(bool(step.error) for step in made), len(run.actions)

    return min(runs, key=unclear)
