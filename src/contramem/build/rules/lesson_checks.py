"""LessonChecks: which of the differences between passing and failing runs are worth a card.

They are asked while differences are chosen: one that is no lesson must not claim the failures that a lesson explains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contramem.build.rules.accidents import AccidentChecks
from contramem.build.rules.phrases import names_action, stem
from contramem.build.rules.steps import calls_of
from contramem.contrast.packet import Packet
from contramem.grading import MAX_CHANCE, MAX_CHANCE_IN_ONE_TASK, contradicts
from contramem.guards.arguments import ArgumentCondition
from contramem.guards.choices import parse_choice
from contramem.guards.conditions import (
    CallOccurs,
    Condition,
    FieldReturned,
    FieldSum,
    ItemsReturned,
    TaskSays,
    parse_pattern,
)
from contramem.guards.dates import DateRelation
from contramem.guards.guard import Guard, heard_functions
from contramem.guards.packets import GuardReplay, replay
from contramem.guards.values import NUMERIC, function_of_place, functions_of
from contramem.study.explain import Difference
from contramem.study.instead import find_instead
from contramem.study.run_set import RunSet, StudyRun
from contramem.study.trial import try_guard
from contramem.traces.effects import words

MAX_BY_CHANCE = 10
"""How many rules of a family may be expected by chance to look this good. An overestimate, because rules of one family
share most of their runs: docs/quality.md says how it was chosen."""
MIN_SHOWING = 2
"""How many tasks must have passing runs that follow the rule and failing runs that break it, unless one task is enough
proof."""
MIN_SHOWING_OF_MANY = 3
"""The same for rules of which there are many: requests have many words, calls many optional arguments, and results
many fields that could be compared."""


class LessonChecks:
    """What a difference has to pass to become a lesson."""

    def __init__(self, packets: Sequence[Packet], evidence: Sequence[StudyRun], runs: RunSet) -> None:
        self._packets = packets
        self._evidence = evidence
        self._runs = runs
        self._effects = {
            step.function: step.effect for packet in packets for run in packet.runs for step in run.actions
        }
        self._accidents = AccidentChecks(evidence, runs, self._effects)
        self._showing: dict[Guard, list[tuple[Packet, GuardReplay]]] = {}
        self._topics_of_words = set[tuple[str, str]]()
        """What accepted lessons whose condition is a word of the request are about: one per function is enough."""

    def accept(self, difference: Difference) -> bool:
        """Whether it is worth a card."""
        guard = difference.guard
        if difference.chance * difference.family > MAX_BY_CHANCE or not self._is_definite(guard):
            return False
        if difference.is_doubtful and _has_threshold(guard):
            return False  # amounts can be divided anywhere, so that some boundary nearly always fits
        if _forbids_to_mention(guard) and difference.chance * difference.family > MAX_CHANCE:
            return False  # whoever fails has written something that nobody else wrote
        topic = (guard.template, guard.target) if _request_words(guard) else None
        if topic in self._topics_of_words or not self._is_shown(difference) or not self._is_borne_out(difference):
            return False
        self._topics_of_words.update({topic} if topic else ())
        return True

    def find_showing(self, guard: Guard) -> list[tuple[Packet, GuardReplay]]:
        """The tasks whose own runs show it, clearest first."""
        if guard not in self._showing:
            self._showing[guard] = find_showing(guard, self._packets)
        return self._showing[guard]

    def _is_borne_out(self, difference: Difference) -> bool:
        """Whether all runs to which it applies bear it out, as they must for it to stay in service. A call that is
        demanded under a condition is demanded wherever the condition holds, whatever the task."""
        trial = try_guard(difference.guard, self._evidence, self._runs)
        return trial.chance * difference.family <= MAX_CHANCE or not (trial.tasks_against or contradicts(trial.counts))

    def _is_definite(self, guard: Guard) -> bool:
        """Whether it says something that an agent can act on and that is no accident of the words of requests."""
        if _says_too_little(guard) or self._only_goes_on(guard) or _forbids_by_words(guard):
            return False
        return not (self._repeats_its_name(guard) or self._only_gives_up(guard))

    def _repeats_its_name(self, guard: Guard) -> bool:
        """Does it demand a look if the request says a word of the function's own name? `search_events` for a request
        about events is no news."""
        if guard.template != "existence" or self._effects.get(guard.target) != "read":
            return False
        named = {stem(word) for word in words(guard.target.rpartition(".")[2])}
        said = _request_words(guard)
        return bool(said) and all(stem(word) in named for word in said)

    def _only_gives_up(self, guard: Guard) -> bool:
        """Does it forbid a call after another that no passing run makes beside the other, not even before it? Then the
        order does not matter. Nothing says what to do instead, and runs may make the call as they have failed."""
        if guard.template != "not_succession" or guard.conditions or guard.function == guard.then:
            return False
        calls = {parse_pattern(text).function for text in (guard.function, guard.then)}
        return not any(run.passed and calls <= run.outline.worked for run in self._evidence)

    def _only_goes_on(self, guard: Guard) -> bool:
        """Does it demand a change after a call that only reads? That runs which carried on with the task passed is not
        a lesson; what else to read, or what is required under a condition, is."""
        if not guard.form.follows_first or guard.conditions:
            return False
        first, then = (parse_pattern(text).function for text in (guard.function, guard.then))
        return self._effects.get(first) != "write" and self._effects.get(then) != "read"

    def _is_shown(self, difference: Difference) -> bool:
        """Whether enough tasks show it, in requests that do not say it themselves."""
        guard, showing = difference.guard, self.find_showing(difference.guard)
        shown_by = [packet for packet, _ in showing]
        tasks = sum(_count_tasks(packet, replayed) for packet, replayed in showing)
        is_clear = difference.chance <= MAX_CHANCE_IN_ONE_TASK and not _is_about_data(guard)
        if tasks < (MIN_SHOWING_OF_MANY if _has_many_others(guard) else 1 if is_clear else MIN_SHOWING):
            return False
        if _is_asked_for(guard, shown_by) or _names_a_value_of(guard, shown_by):
            return False
        if not self._may_be_done(guard, shown_by) or self._leaves_open(guard) or _was_known_before(guard, showing):
            return False
        return not self._accidents.is_accident(guard, [key for packet in shown_by for key in packet.task_keys])

    def _leaves_open(self, guard: Guard) -> bool:
        """Does it forbid to take a value from one place, to choose one record or to keep one distance between dates,
        without any other to take?"""
        tests = parse_pattern(guard.function).conditions
        if guard.template != "absence" or not tests or not _has_many_opposites(tests[0]):
            return False
        return not find_instead(guard, self._evidence)

    def _may_be_done(self, guard: Guard, packets: Sequence[Packet]) -> bool:
        """Does some passing run of these kinds of tasks make the call when the condition does not hold? If none does,
        the call is unrelated to these tasks, and the condition to the call."""
        if guard.template != "absence" or not _is_about_data(guard):
            return True
        kinds = {self._runs.kind_of_task.get(packet.task_key) for packet in packets}
        task_keys = {packet.task_key for packet in packets}
        calling = [run for run in self._evidence if guard.target in run.outline.worked]
        changed = {run.outline.changes for run in calling if run.task in task_keys and not run.passed}
        return any(
            run.passed
            and (
                self._runs.kind_of_task.get(run.task) in kinds
                or (run.outline.changes in changed and not _asks(run, guard))
            )
            and run.recorded.replay(guard) == "vacuous"
            for run in calling
        )


def find_showing(guard: Guard, packets: Sequence[Packet]) -> list[tuple[Packet, GuardReplay]]:
    """The tasks whose own runs show it, clearest first. Where nobody calls its functions, all runs do the same with
    it."""
    heard = heard_functions(guard)
    replays = [
        (packet, replay(guard, packet))
        for packet in packets
        if packet.is_contrastive and (heard is None or not heard.isdisjoint(packet.called))
    ]
    showing = [(packet, replayed) for packet, replayed in replays if replayed.supports]
    return sorted(showing, key=lambda pair: (-len(pair[1].held) * len(pair[1].broken), pair[0].task_key))


def _says_too_little(guard: Guard) -> bool:
    """Does it demand a call without saying when, only the shape of a free text, which depends on the task, or that a
    value is taken from the request, where anybody would take it from?"""
    tests = [condition for pattern in guard.patterns for condition in pattern.conditions]
    if any(condition.test == "like" and " " in condition.value for condition in tests):
        return True
    if guard.demand == "a call" and any(condition.test == "from" and condition.value == "task" for condition in tests):
        return True
    if guard.function == guard.then and any(_counts_one(condition) for condition in guard.conditions):
        return True  # what there is one of is done once
    return guard.demand is not None and not guard.then and not tests and not guard.conditions


def _counts_one(condition: Condition) -> bool:
    return isinstance(condition, ItemsReturned) and (condition.at_least, condition.at_most) == (1, 1)


def _has_many_opposites(test: ArgumentCondition) -> bool:
    """Whether one way is forbidden and any other is left open."""
    operand = test.operand
    return test.test in ("from", "picks") or (
        isinstance(operand, DateRelation) and bool(operand.unit and not operand.bound)
    )


def _was_known_before(guard: Guard, showing: Sequence[tuple[Packet, GuardReplay]]) -> bool:
    """Does it name a result as the source of a value that most passing runs had seen elsewhere before? Then whatever
    made the difference is not where the value came from."""
    pattern = parse_pattern(guard.function)
    test = next(iter(pattern.conditions), None)
    if guard.template != "existence" or test is None or test.test != "from" or "." not in test.value:
        return False
    first_seen = [
        step.origins.get(test.argument)
        for packet, replayed in showing
        for run in packet.passing
        if run.letter in replayed.held
        for step in calls_of(run, pattern.function)
        if not step.error
    ]
    return 2 * sum(place not in (None, function_of_place(test.value)) for place in first_seen) > len(first_seen)


def _has_many_others(guard: Guard) -> bool:
    """Is its condition a word of the request, does it only say whether an argument is given, or does it compare the
    chosen record with another result?"""
    tests = [test for pattern in guard.patterns for test in pattern.conditions]
    compares = any(test.test == "picks" and len(functions_of(test)) > 1 for test in tests)
    return compares or bool(_request_words(guard)) or any(test.test == "given" for test in tests)


def _request_words(guard: Guard) -> list[str]:
    phrases = [condition.value for condition in guard.conditions if isinstance(condition, TaskSays)]
    return [word for value in phrases for word in value.split()]


def _forbids_by_words(guard: Guard) -> bool:
    """Does it forbid a call because of a word that the request says or lacks? Other words may ask for the same call:
    not every meeting is called an event."""
    return guard.template == "absence" and any(isinstance(condition, TaskSays) for condition in guard.conditions)


def _forbids_to_mention(guard: Guard) -> bool:
    tests = parse_pattern(guard.function).conditions
    return guard.template == "absence" and any(test.test in ("contains", "mentions") for test in tests)


def _names_a_value_of(guard: Guard, packets: Sequence[Packet]) -> bool:
    """Does it demand a value that most of the requests showing it name themselves? Then it is not a lesson. A request
    that names the value of a condition only shows that the condition can be seen."""
    asked = [parse_pattern(text) for text in (guard.function, guard.then) if text]
    values = {
        value.casefold() for pattern in asked for test in pattern.conditions for value in _find_demanded_values(test)
    }
    named = [packet for packet in packets if any(value and value in _request(packet) for value in values)]
    return 2 * len(named) > len(packets)


def _find_demanded_values(test: ArgumentCondition) -> Iterator[str]:
    """The fixed values that an argument, or the record that it names, must have."""
    if test.test == "=":
        yield test.value
    elif test.test == "picks":
        filters = parse_choice(test.value).filters
        yield from (
            each.test.operand for each in filters if each.test.operator == "=" and isinstance(each.test.operand, str)
        )


def _request(packet: Packet) -> str:
    return next((run.task.casefold() for run in packet.recorded.values()), "")


def _has_threshold(guard: Guard) -> bool:
    """Whether a number that a call was given or returned decides when it applies."""
    conditions = (*guard.conditions, *guard.exceptions)
    returned = [part.operator for part in conditions if isinstance(part, (FieldReturned, FieldSum))]
    given = [test.test for part in conditions if isinstance(part, CallOccurs) for test in part.pattern.conditions]
    return any(test in NUMERIC for test in (*returned, *given))


def _asks(run: StudyRun, guard: Guard) -> bool:
    """Does the request of the run ask for the call itself?"""
    return names_action(run.trajectory.task, guard.target)


def _is_about_data(guard: Guard) -> bool:
    """Does a value returned by some call decide when it applies? A single task has many such values."""
    return any(isinstance(condition, FieldReturned) for condition in guard.conditions)


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
