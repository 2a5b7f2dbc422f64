"""Finds what a guard names but no run has: an argument or field that does not exist, a value or form that never occurs.

Such a guard says nothing, or every run breaks it. Its author probably made a slip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from contramem.errors import GuardError
from contramem.guards.actions import Action
from contramem.guards.arguments import ArgumentCondition
from contramem.guards.conditions import CallOccurs, TaskSays
from contramem.guards.guard import Guard, suggest_name
from contramem.guards.results import field_values, nested_lists, walk
from contramem.guards.values import fields_of, function_of_place, functions_of, is_field_place, shape_of
from contramem.study.run_set import StudyRun

MAX_NAMES = 12
MAX_RUNS_FOR_NAMES = 50
"""How many runs are read to list the existing names."""
MAX_FORMS = 4


def check_names(guard: Guard, runs: Sequence[StudyRun]) -> None:
    """Raises GuardError for an argument that no call passes or a field that no result has, listing those that exist."""
    for function, argument in dict.fromkeys(guard.arguments):
        if not any(argument in call.arguments for call in _calls_of(runs, function)):
            names = _list_names(runs, function, lambda call: call.arguments)
            advice = _tell(argument, names, "It takes")
            if any(_has_field(call, argument) for call in _calls_of(runs, function)):
                advice += f" It returns `{argument}`: write `when {function}.{argument} = ...`."
            raise GuardError(f"{guard}: no call of {function} gives `{argument}`. {advice}")
    for function, field in dict.fromkeys(_fields_of(guard)):
        if not any(_has_field(call, field) for call in _calls_of(runs, function)):
            names = _list_names(runs, function, lambda call: [path[-1] for path, _ in walk(call.result()) if path])
            advice = _tell(field, names, "It returns")
            if any(field in call.arguments for call in _calls_of(runs, function)):
                advice += f" It takes `{field}`: write `{function}[{field} = ...]`."
            raise GuardError(f"{guard}: no result of {function} has `{field}`. {advice}")
    _check_places(guard, runs)


_FOR_PLACES = {"!=": "from", "contains": "mentions", "lacks": "omits"}


def _check_places(guard: Guard, runs: Sequence[StudyRun]) -> None:
    """Raises GuardError for a value that is probably meant to be a field of a result."""
    for pattern in guard.patterns:
        for test in pattern.conditions:
            if test.test not in _FOR_PLACES or not is_field_place(test.value):
                continue
            if any(function_of_place(test.value) in run.called for run in runs):
                meant = f"{test.argument} {_FOR_PLACES[test.test]} {test.value}"
                raise GuardError(f"{guard}: `{test}` compares with these very letters. Write `{meant}`.")


def find_unmet(guard: Guard, runs: Sequence[StudyRun]) -> list[str]:
    """Conditions of the guard that hold in no run, in words: the guard cannot mean these."""
    unmet = []
    for pattern in guard.patterns:
        for test in pattern.conditions if pattern.function else ():
            if not any(map(test.holds, _calls_of(runs, pattern.function))):
                unmet.append(f"No call of {pattern.function} has `{test}`.{_tell_forms(test, pattern.function, runs)}")
    for condition in (*guard.conditions, *guard.exceptions):
        if isinstance(condition, TaskSays):
            if not any(condition.matches_task(run.trajectory.task) for run in runs):
                unmet.append(f"No request fits `{condition}`.")
        elif isinstance(condition, CallOccurs):
            continue  # its pattern is among those of the guard
        elif not any(
            condition.matches(call) for function in functions_of(condition) for call in _calls_of(runs, function)
        ):
            unmet.append(f"No result fits `{condition}`.")
    return unmet


def _fields_of(guard: Guard) -> Iterator[tuple[str, str]]:
    """The fields of results that the guard uses, each with its function."""
    if guard.field and guard.patterns[0].function:
        yield guard.patterns[0].function, guard.field
    for pattern in guard.patterns:
        for test in pattern.conditions:
            yield from fields_of(test)
    for condition in (*guard.conditions, *guard.exceptions):
        if not isinstance(condition, CallOccurs):
            yield from fields_of(condition)


def _calls_of(runs: Iterable[StudyRun], function: str) -> Iterator[Action]:
    """Runs that do not call it are not even loaded."""
    return (call for run in runs if function in run.called for call in run.recorded.calls if call.function == function)


def _has_field(call: Action, field: str) -> bool:
    """A value or a list under this name."""
    result = call.result()
    return next(field_values(result, field), None) is not None or next(nested_lists(result, field), None) is not None


def _list_names(runs: Sequence[StudyRun], function: str, names_of: Callable[[Action], Iterable[str]]) -> list[str]:
    calling = [run for run in runs if function in run.called][:MAX_RUNS_FOR_NAMES]
    counts = Counter(name for call in _calls_of(calling, function) for name in set(names_of(call)))
    return [name for name, _ in counts.most_common(MAX_NAMES)]


def _tell(name: str, names: Sequence[str], verb: str) -> str:
    if not names:
        return f"{verb} nothing that can be named."
    return f"{verb} {', '.join(sorted(names))}.{suggest_name(name, names)}"


def _tell_forms(test: ArgumentCondition, function: str, runs: Sequence[StudyRun]) -> str:
    """The forms of the actual values, if the guard tests a form."""
    if test.test != "like":
        return ""
    values: Iterable[Any] = (call.arguments.get(test.argument) for call in _calls_of(runs, function))
    forms = Counter(shape_of(value) for value in values if value is not None)
    return f" Values are written like {', '.join(form for form, _ in forms.most_common(MAX_FORMS))}."
