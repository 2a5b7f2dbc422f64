"""Accidents: differences that fit the runs and say nothing about another task.

Where runs failed with wrong values, something is always true of the wrong ones and of no right one: a day of the week,
a word, a record's name. And among many fields some value always goes along with the tasks in which a call was wrong.
So a guard about a value has to explain most of the wrong values, and a condition on data has to be seen from both
sides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from contramem.guards.conditions import CallOccurs, Condition, FieldReturned, FieldSum, ItemsReturned, parse_pattern
from contramem.guards.dates import MONTH_ENDS, parse_date_relation
from contramem.guards.guard import Guard
from contramem.guards.values import NUMERIC, functions_of, plain_text
from contramem.study.argument_uses import find_uses
from contramem.study.replays import replay_guard
from contramem.study.run_set import RunSet, StudyRun

MIN_EXPLAINED = 0.5
"""Of the failing runs that passed a value which no passing run of their task did: the share that a guard about this
value must explain, in the kinds of tasks that show it."""
MIN_OTHER_SIDE = 2
"""How many tasks must show that a call is right where a condition does not hold; one is enough if it is of the same
kind as those that show the rule."""
MAX_CHANCE_OF_DAY = 0.01
"""Probability that so many different dates fall on the right and the wrong side of a day of the week or month."""


class AccidentChecks:
    """What the runs of an ability say about the values and conditions of guards."""

    def __init__(self, evidence: Sequence[StudyRun], runs: RunSet, effects: Mapping[str, str]) -> None:
        self._evidence = evidence
        self._runs = runs
        self._effects = effects
        self._kinds = runs.kind_of_task

    def is_accident(self, guard: Guard, tasks: Collection[str]) -> bool:
        """Whether it only happens to fit. `tasks`: those whose own runs show it."""
        kinds = {self._kinds[task] for task in tasks if task in self._kinds}
        if self._orders_reads(guard) or self._asks_what_was_searched(guard) or self._chooses_from_changes(guard):
            return True
        return self._misses_wrong_values(guard, kinds) or self._lacks_other_side(guard, kinds)

    def _orders_reads(self, guard: Guard) -> bool:
        """Does it demand one read before another? Whatever is looked up first, the same is known afterwards."""
        if guard.template != "precedence":
            return False
        calls = [parse_pattern(text).function for text in (guard.function, guard.then)]
        return all(self._effects.get(function) == "read" for function in calls)

    def _asks_what_was_searched(self, guard: Guard) -> bool:
        """Is its condition what another read was asked for? That is a matter of the request."""
        conditions = _own_conditions(guard)
        return any(
            condition.pattern.conditions and self._effects.get(condition.pattern.function) == "read"
            for condition in conditions
            if isinstance(condition, CallOccurs) and condition.pattern.function != guard.target
        ) or any(
            isinstance(condition, FieldReturned) and self._was_asked_for(condition, guard) for condition in conditions
        )

    def _was_asked_for(self, condition: FieldReturned, guard: Guard) -> bool:
        """Did most runs to which the guard applies get this field as they had asked for it?"""
        calling = [run for run in self._evidence if condition.function in run.called]
        verdicts = zip(calling, replay_guard(guard, calling), strict=True)
        concerned = [run for run, verdict in verdicts if verdict != "vacuous"]
        asked = [run for run in concerned if _asks_for(run, condition)]
        return 2 * len(asked) > len(concerned)

    def _chooses_from_changes(self, guard: Guard) -> bool:
        """Does it choose among records that a change returned? Records to choose from are looked up."""
        tests = [test for pattern in guard.patterns for test in pattern.conditions if test.test == "picks"]
        return any(self._effects.get(function) == "write" for test in tests for function in functions_of(test))

    # Values

    def _misses_wrong_values(self, guard: Guard, kinds: set[str]) -> bool:
        """Is it about the value of an argument, and most wrong values have nothing to do with it?"""
        test = next(iter(parse_pattern(guard.function).conditions), None)
        if guard.template not in ("existence", "absence") or test is None or not guard.target:
            return False
        if test.test in ("contains", "mentions"):
            return self._is_dictated(guard.target, test.argument, kinds)
        given = [value for value in self._values(guard.target, test.argument) if self._kinds[value.run.task] in kinds]
        contrasted = _select_contrasted(given)
        if not contrasted:
            # One run a task: each request asks for a value of its own, so that a fixed value or a day is not wrong
            # because it was in another task.
            return guard.template == "absence" and test.test in ("=", "falls")
        wrong = list(_select_wrong(contrasted))
        broken = [value for value in wrong if value.run.recorded.replay(guard) == "broken"]
        if not broken or len(broken) < MIN_EXPLAINED * len(wrong):
            return True
        if test.test != "falls" or not (day := parse_date_relation(test.value).day):
            return False
        is_by_chance = _chance_of_day(day, [value for value in given if value.run.passed], broken) > MAX_CHANCE_OF_DAY
        return is_by_chance or bool(_own_conditions(guard))

    def _is_dictated(self, function: str, argument: str, kinds: set[str]) -> bool:
        """Do most passing runs write a text that stands in the request? Then what other texts contain or lack is no
        rule about texts."""
        given = [
            (run, call.arguments.get(argument))
            for run in self._evidence
            if run.passed and function in run.called and self._kinds[run.task] in kinds
            for call in run.recorded.calls
            if call.function == function and call.worked
        ]
        dictated = [text for run, text in given if text and plain_text(str(text)) in plain_text(run.trajectory.task)]
        return 2 * len(dictated) > len(given)

    def _values(self, function: str, argument: str) -> Iterator[_GivenValues]:
        for run in self._evidence:
            if function not in run.called:
                continue
            calls = [call for call in run.recorded.calls if call.function == function]
            settled = [call for call in calls if call.worked] or calls
            yield _GivenValues(run, frozenset(repr(call.arguments.get(argument)) for call in settled))

    # Conditions

    def _lacks_other_side(self, guard: Guard, kinds: set[str]) -> bool:
        """Does it depend on what a call returned, and hardly any passing run does the opposite where that call returned
        something else? An amount, or how much was found where something is forbidden, has to show that within the same
        kinds of tasks: across kinds it always differs."""
        conditions = [each for each in _own_conditions(guard) if isinstance(each, _RETURNED)]
        if not conditions:
            return False
        looked_up = {condition.function for condition in conditions}
        tasks = self._find_opposite(guard) & self._find_calling(looked_up)
        alike = [task for task in tasks if self._kinds[task] in kinds]
        if any(_is_amount(condition, guard) for condition in conditions):
            return len(alike) < MIN_OTHER_SIDE
        return len(tasks) < MIN_OTHER_SIDE and not alike

    def _find_opposite(self, guard: Guard) -> set[str]:
        """The tasks in which passing runs do what it forbids, because its condition does not hold."""
        rest = [condition for condition in guard.conditions if not isinstance(condition, _RETURNED)]
        bare = guard._replace(when=" and ".join(map(str, rest)))
        passing = [run for run in self._evidence if run.passed]
        verdicts = zip(passing, replay_guard(bare, passing), replay_guard(guard, passing), strict=True)
        return {run.task for run, without, within in verdicts if without == "broken" and within == "vacuous"}

    def _find_calling(self, functions: Collection[str]) -> set[str]:
        return {run.task for run in self._evidence if run.called.issuperset(functions)}


class _GivenValues(NamedTuple):
    """What a run passed as an argument, in the calls that worked; if none did, in all."""

    run: StudyRun
    values: frozenset[str]


_RETURNED = (FieldReturned, FieldSum, ItemsReturned)


def _is_amount(condition: FieldReturned | FieldSum | ItemsReturned, guard: Guard) -> bool:
    if isinstance(condition, ItemsReturned):
        return guard.template == "absence"
    return condition.operator in NUMERIC


def _own_conditions(guard: Guard) -> list[Condition]:
    """Its conditions, without the mere fact that the call is made."""
    return [condition for condition in guard.conditions if str(condition) != guard.target]


def _asks_for(run: StudyRun, condition: FieldReturned) -> bool:
    """Is a call of the function given what its result is expected to show?"""
    wanted = condition.function, condition.field
    return any((use.function, use.argument) == wanted for use in find_uses(run).uses)


def _chance_of_day(day: str, right: Sequence[_GivenValues], wrong: Sequence[_GivenValues]) -> float:
    """The probability that these dates fall on two sides of a day, if any day is as likely as another."""
    share = 1 / 30 if day in MONTH_ENDS else {"weekday": 5 / 7, "weekend": 2 / 7}.get(day, 1 / 7)
    many, few = (len({(each.run.task, each.values) for each in side}) for side in (right, wrong))
    return float(max(share**many * (1 - share) ** few, (1 - share) ** many * share**few))


def _select_contrasted(given: Sequence[_GivenValues]) -> list[_GivenValues]:
    """Those of tasks in which passing and failing runs made the call."""
    passed, failed = ({each.run.task for each in given if each.run.passed is wanted} for wanted in (True, False))
    return [each for each in given if each.run.task in passed & failed]


def _select_wrong(contrasted: Sequence[_GivenValues]) -> Iterator[_GivenValues]:
    """What failing runs passed and no passing run of their task did."""
    right = defaultdict[str, set[frozenset[str]]](set)
    for each in contrasted:
        if each.run.passed:
            right[each.run.task].add(each.values)
    for each in contrasted:
        if not each.run.passed and each.values not in right[each.run.task]:
            yield each
