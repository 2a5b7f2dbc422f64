"""Across tasks: what passing runs of an ability share and failing runs lack, whatever their task.

The rules of an organization apply under conditions, and each of many tasks shows them in a few runs, so a single task
teaches little. `study.explain` finds the few differences that explain most failures; here they become lessons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from contramem.build.rules.convention_words import find_right_shape
from contramem.build.rules.forms import has_shape, name_form
from contramem.build.rules.kinds.carry_out import CarryOut
from contramem.build.rules.kinds.convention import Convention
from contramem.build.rules.kinds.look_first import LookFirst
from contramem.build.rules.phrases import names_action
from contramem.build.rules.rule import Contrast, Lesson, illustrate
from contramem.build.rules.steps import calls_of
from contramem.build.rules.unfinished import find_unfinished
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.signal import Cite
from contramem.monitor.guard import Guard
from contramem.monitor.packet_replay import GuardReplay, replay
from contramem.monitor.pattern import parse_pattern
from contramem.monitor.scope import FieldReturned, TaskSays
from contramem.study.explain import Difference, explain
from contramem.study.instead import find_instead
from contramem.study.run_set import RunSet, StudyRun
from contramem.traces.trajectory import digest

MAX_LESSONS = 30
"""Per ability."""
MAX_BY_CHANCE = 10
"""How many rules of a family may be expected by chance to look this good. An overestimate, because rules of one family
share most of their runs: docs/quality.md says how it was chosen."""
MAX_STUDIED = 500
"""Number of tasks that are searched for differences. Those that are found are counted over all tasks."""
MIN_SHOWING = 2
"""How many tasks must have passing runs that follow the rule and failing runs that break it, unless one task is enough
proof."""
MIN_SHOWING_WORD = 3
"""The same if a word of the request is the condition: requests have many words."""
MAX_HOLDING = 0.9
"""The largest share of runs calling a function in which a condition on its result may hold."""
MAX_CHANCE_IN_ONE_TASK = 0.002
"""Six runs against six are enough if they all agree."""


class SharedLesson(NamedTuple):
    """A lesson from many tasks, and the packet that shows it best."""

    lesson: Lesson
    packet: Packet


def find_shared_lessons(packets: Sequence[Packet]) -> Iterator[SharedLesson]:
    """Yield what the runs of all these tasks teach together."""
    studied = sorted(packets, key=lambda packet: (digest(packet.task_key), packet.task_key))[:MAX_STUDIED]
    runs = RunSet.of(run for packet in studied for run in packet.recorded.values())
    evidence = runs.select()
    if not any(run.passed for run in evidence) or all(run.passed for run in evidence):
        return
    topics = set[tuple[str, str]]()
    for difference in explain(evidence, runs, MAX_LESSONS).differences:
        if difference.chance * difference.family > MAX_BY_CHANCE:
            continue
        if _says_too_little(difference.guard) or _only_goes_on(difference.guard, packets):
            continue
        if _says_only_that_a_call_was_made(difference.guard, evidence) or _forbids_by_words(difference.guard):
            continue
        if (topic := _topic_of_word(difference.guard)) in topics:
            continue
        showing = _find_showing(difference.guard, packets)
        enough = (
            1 if difference.chance <= MAX_CHANCE_IN_ONE_TASK and not _is_about_data(difference.guard) else MIN_SHOWING
        )
        shown_by = [packet for packet, _ in showing]
        tasks = sum(_count_tasks(packet, replayed) for packet, replayed in showing)
        if tasks < enough or not showing or _is_asked_for(difference.guard, shown_by):
            continue
        if _names_a_value_of(difference.guard, shown_by) or not _may_be_done(
            difference.guard, shown_by, evidence, runs
        ):
            continue
        if tasks >= (MIN_SHOWING_WORD if _request_words(difference.guard) else enough):
            topics.update({topic} if topic else ())
            yield _learn(difference, evidence, *showing[0])
    yield from _learn_unfinished(packets, evidence, runs)


def _learn_unfinished(packets: Sequence[Packet], evidence: Sequence[StudyRun], runs: RunSet) -> Iterator[SharedLesson]:
    """Yield what failing runs omitted entirely, with the task that shows it best."""
    for rule in find_unfinished(evidence, runs):
        showing = [case for guard in rule.guards for case in _find_showing(guard, packets)]
        if not showing:
            continue
        packet, replayed = max(showing, key=lambda case: len(case[1].held) * len(case[1].broken))
        good = _clearest([run for run in packet.passing if run.letter in replayed.held], replayed.guard)
        bad = _clearest([run for run in packet.failing if run.letter in replayed.broken], replayed.guard)
        if isinstance(rule, (LookFirst, CarryOut)):
            rule = rule.name_only([step.function for run in (good, bad) for step in run.actions])
        counts = len(replayed.held), len(packet.passing), len(replayed.broken), len(packet.failing)
        rule = replace(rule, contrast=Contrast(*counts))
        cites = [Cite(run.letter, step.position) for run in (good, bad) for step in run.actions[-1:]]
        yield SharedLesson(Lesson(rule, illustrate(rule, packet, good, bad), tuple(cites)), packet)


def _says_too_little(guard: Guard) -> bool:
    """Does it demand a call without saying when, or only the shape of a free text, which depends on the task?"""
    tests = [condition for pattern in guard.patterns for condition in pattern.conditions]
    if any(condition.test == "like" and " " in condition.value for condition in tests):
        return True
    return guard.demand is not None and not guard.then and not tests and not guard.conditions


def _only_goes_on(guard: Guard, packets: Sequence[Packet]) -> bool:
    """Does it demand a change after a call that only reads? That runs which carried on with the task passed is not a
    lesson; what else to read, or what is required under a condition, is."""
    if not guard.follows_a_call or guard.conditions:
        return False
    first, then = (parse_pattern(text).function for text in (guard.function, guard.then))
    effects = {step.function: step.effect for packet in packets for run in packet.runs for step in run.actions}
    return effects.get(first) != "write" and effects.get(then) != "read"


def _topic_of_word(guard: Guard) -> tuple[str, str] | None:
    """The topic of a guard whose condition is a word of the request: one such card per function is enough."""
    return (guard.template, guard.target) if _request_words(guard) else None


def _request_words(guard: Guard) -> list[str]:
    phrases = [condition.value for condition in guard.conditions if isinstance(condition, TaskSays)]
    return [word for value in phrases for word in value.split()]


def _says_only_that_a_call_was_made(guard: Guard, runs: Sequence[StudyRun]) -> bool:
    """Does a condition on a call's result hold in nearly every run that made the call? Then it only tells kinds of
    tasks apart, and its threshold is an accident of these tasks."""
    for condition in guard.conditions:
        if isinstance(condition, FieldReturned) and condition.operator in ("<", "<=", ">", ">="):
            answers = [
                [action for action in run.recorded.actions if action.function == condition.function and action.worked]
                for run in runs
                if condition.function in run.called
            ]
            calling = [actions for actions in answers if actions]
            matching = sum(any(map(condition.matches, actions)) for actions in calling)
            if matching > MAX_HOLDING * len(calling):
                return True
    return False


def _forbids_by_words(guard: Guard) -> bool:
    """Does it forbid a call because of a word in the request? Which word goes with tasks that do not need the call is
    chance, unless it is the absence of a word from the function's own name."""
    conditions = [condition for condition in guard.conditions if isinstance(condition, TaskSays)]
    return guard.template == "absence" and any(condition.operator != "lacks" for condition in conditions)


def _names_a_value_of(guard: Guard, packets: Sequence[Packet]) -> bool:
    """Does it demand a value that most of the requests showing it name themselves? Then it is not a lesson. A request
    that names the value of a condition only shows that the condition can be seen."""
    asked = [parse_pattern(text) for text in (guard.function, guard.then) if text]
    tests = [test for pattern in asked for test in pattern.conditions if test.test in ("=", "picks")]
    values = [test.value.rpartition("= ")[2].partition(" of ")[0].casefold() for test in tests]
    named = [packet for packet in packets if any(value and value in _request(packet) for value in values)]
    return 2 * len(named) > len(packets)


def _request(packet: Packet) -> str:
    return next((run.task.casefold() for run in packet.recorded.values()), "")


def _may_be_done(guard: Guard, packets: Sequence[Packet], evidence: Sequence[StudyRun], runs: RunSet) -> bool:
    """Does some passing run of these kinds of tasks make the call when the condition does not hold? If none does, the
    call is unrelated to these tasks, and the condition to the call."""
    if guard.template != "absence" or not _is_about_data(guard):
        return True
    kinds = {runs.kind_of_task.get(packet.task_key) for packet in packets}
    shown = {packet.task_key for packet in packets}
    wrong = [run for run in evidence if run.task in shown and not run.passed and guard.target in run.recorded.functions]
    changed = set(map(_changes_of, wrong))
    return any(
        run.passed
        and guard.target in run.recorded.functions
        and (runs.kind_of_task.get(run.task) in kinds or (_changes_of(run) in changed and not _asks(run, guard)))
        and run.recorded.replay(guard) == "vacuous"
        for run in evidence
    )


def _changes_of(run: StudyRun) -> frozenset[str]:
    return frozenset(call.function for call in run.recorded.calls if call.worked and call.effect != "read")


def _asks(run: StudyRun, guard: Guard) -> bool:
    """Does the request of the run ask for the call itself?"""
    return names_action(run.trajectory.task, guard.target)


def _is_about_data(guard: Guard) -> bool:
    """Does a value returned by some call decide when it applies? A single task has many such values."""
    return any(isinstance(condition, FieldReturned) for condition in guard.conditions)


def _find_showing(guard: Guard, packets: Sequence[Packet]) -> list[tuple[Packet, GuardReplay]]:
    """The tasks whose own runs show it, clearest first."""
    replays = [(packet, replay(guard, packet)) for packet in packets if packet.is_contrastive]
    showing = [(packet, replayed) for packet, replayed in replays if replayed.supports]
    return sorted(showing, key=lambda pair: (-len(pair[1].held) * len(pair[1].broken), pair[0].task_key))


def _count_tasks(packet: Packet, replayed: GuardReplay) -> int:
    """One; for tasks with a single run each, the smaller of the numbers of tasks that follow it and that break it."""
    kept, broke = (packet.tasks_behind(*side) for side in (replayed.held, replayed.broken))
    return max(1, min(len(kept), len(broke)))


def _is_asked_for(guard: Guard, packets: Sequence[Packet]) -> bool:
    """Do most of the requests that show it say it themselves? Then it is not a lesson."""
    if guard.demand != "a call" or parse_pattern(guard.then or guard.function).conditions:
        return False
    asking = [packet for packet in packets if names_action(packet.task, guard.target)]
    return 2 * len(asking) > len(packets)


def _learn(difference: Difference, evidence: Sequence[StudyRun], packet: Packet, replayed: GuardReplay) -> SharedLesson:
    guard = difference.guard
    contrast = Contrast(len(replayed.held), len(packet.passing), len(replayed.broken), len(packet.failing))
    held = [run for run in packet.passing if run.letter in replayed.held]
    instead = find_instead(guard, evidence)
    named = parse_pattern(instead).functions if instead else ()
    showing = [run for run in held if all(calls_of(run, function) for function in named)]
    if not showing:
        instead, named, showing = "", (), held
    rule = Convention(
        guard=str(guard),
        functions=tuple(dict.fromkeys([*guard.functions, *named])),
        contrast=contrast,
        family=difference.family,
        instead=instead,
        form=_find_form(guard, instead, evidence),
    )
    good = _clearest(showing, guard)
    bad = _clearest([run for run in packet.failing if run.letter in replayed.broken], guard)
    cites = [
        Cite(run.letter, step.position)
        for run in (good, bad)
        for function in rule.functions
        for step in calls_of(run, function)[:1]
    ] or [Cite(bad.letter, bad.actions[-1].position)]
    return SharedLesson(Lesson(rule, illustrate(rule, packet, good, bad), tuple(cites)), packet)


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


def _clearest(runs: Sequence[PacketRun], guard: Guard) -> PacketRun:
    """The run that shows it with the fewest errors and calls. A run that never made the call shows little."""

    def unclear(run: PacketRun) -> tuple[bool, int, int]:
        made = [step for step in run.actions if step.function in guard.functions]
        return not made, sum(bool(step.error) for step in made), len(run.actions)

    return min(runs, key=unclear)
