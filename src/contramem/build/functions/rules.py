"""How to call a function, and how not to: rules that the calls of many runs support, with their counts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from contramem.build.functions.arguments import ArgumentValues
from contramem.build.functions.blame import convictions, is_looked_up
from contramem.build.functions.calls import (
    ABSENT_FORMS,
    MIN_CALLS,
    Calls,
    by_form,
    fail_more,
    failures,
    is_empty,
    is_guessed,
    leaves_out,
    of_name,
    runs_of,
    tasks,
)
from contramem.build.functions.forms import best_and_bad_forms
from contramem.build.functions.order import order_rules
from contramem.build.functions.words import code, form_in_words, join_list, share_of
from contramem.contrast.observation import MOVES, Observation
from contramem.contrast.values import date_pattern, is_date_form
from contramem.traces.effects import words

OFTEN = 0.3
"""From this share of the runs or calls on, something is how the function is used."""
MOST = 0.5
"""The share of runs that must call a function again before it is said to take one item at a time."""
MIN_NEEDLESS, MIN_NEEDLESS_RUNS = 0.05, 3
MIN_FED, FED_SHARE = 3, OFTEN
"""A use of a function's results that fewer runs, or a smaller share of them, show is not mentioned."""
MAX_FED, MAX_USERS = 3, 3
MAX_REASONS, MIN_COMPARED = 2, 3
MAX_BAD_FORMS = 3


def habits(calls: Calls, arguments: Sequence[ArgumentValues]) -> tuple[str, ...]:
    """How the function is used: good to know on a card, but not enough for one."""
    return (*_one_call_per(calls, arguments), *_exact_values(calls, arguments))


def usage_rules(calls: Calls, arguments: Sequence[ArgumentValues]) -> tuple[str, ...]:
    """Guidance for a single call, proved by calls: what comes first, what it has to look like, what an empty result
    means."""
    each = any(_one_call_per(calls, arguments))
    return (
        *order_rules(calls),
        *_formats(calls, arguments),
        *_several_at_once(calls, arguments),
        *_when_empty(calls, arguments),
        # A function that is called for one thing after another is not a retry after an empty result.
        *(() if each else _describe_next_find(calls)),
    )


def rules_of_form(calls: Calls, argument: ArgumentValues) -> tuple[str, ...]:
    """The usage rules that only say how to write this argument."""
    return (*_formats(calls, [argument]), *_exact_values(calls, [argument]))


def _formats(calls: Calls, arguments: Sequence[ArgumentValues]) -> Iterator[str]:
    """Forms of an argument that failed where another form worked."""
    for name in (argument.name for argument in arguments):
        best, bad = best_and_bad_forms(calls, name)
        if not ABSENT_FORMS.issuperset(bad):  # "as text, null failed" says no more than that it is required
            forms = by_form(calls.all, name)
            worked = share_of(len(forms[best]) - failures(forms[best]), len(forms[best]))
            failed = [
                f"{_beside(name, f, best)} failed in {failures(forms[f])} of {len(forms[f])}"
                for f in bad[:MAX_BAD_FORMS]
            ]
            yield f"Give {code(name)} as {_words(name, best)}: it worked in {worked}; {join_list(failed)}."


def _beside(name: str, form: str, best: str) -> str:
    """A form beside the one that works: mixed letters and digits are not called "identifier" if numbers are the right
    form."""
    return "other text" if form in ("identifier", "text") and best == "number as text" else _words(name, form)


def _words(name: str, form: str) -> str:
    return date_pattern(form) or form_in_words(name, form)


def _exact_values(calls: Calls, arguments: Sequence[ArgumentValues]) -> Iterator[str]:
    """References in a write must be copied, not recalled."""
    if calls.effect == "read":
        return
    pointing = [a.name for a in arguments if a.origin.mainly_from_results and a.is_reference]
    if pointing:
        names = join_list([code(name) for name in pointing])
        is_single = len(pointing) == 1 and not pointing[0].endswith("s")
        yield f"Take {names} exactly as earlier results show {'it' if is_single else 'them'}."


def _one_call_per(calls: Calls, arguments: Sequence[ArgumentValues]) -> Iterator[str]:
    """Called several times in one run with one argument varying: the function takes one item at a time."""
    varied: Counter[str] = Counter()
    where: dict[str, set[str]] = {}
    for run in calls.runs:
        worked = [call for call in run if not call.error]
        for name in _varying(worked):
            varied[name] += 1
            where.setdefault(name, set()).add(run[0].task_key)
    if not MOVES.isdisjoint(words(calls.name)):
        return
    pointing = {a.name for a in arguments if not a.form.is_list and _points(a)}
    clear = [n for n in varied if n in pointing and len(where[n]) > 1 and varied[n] > len(calls.runs) * MOST]
    if clear:
        name = min(clear, key=lambda name: (-varied[name], name))
        count = share_of(varied[name], len(calls.runs), "run")
        yield f"Call once per {code(name)}: {count} with this function called it again with only {code(name)} changed."


def _points(argument: ArgumentValues) -> bool:
    return argument.is_reference or argument.origin.from_results or any(map(is_date_form, argument.form.forms))


def _varying(worked: Sequence[Observation]) -> set[str]:
    """The arguments that alone distinguish two successful calls of a run."""
    names_varying = set()
    for first, other in combinations(worked[:8], 2):
        names = first.arguments.keys() | other.arguments.keys()
        changed = [name for name in names if first.arguments.get(name) != other.arguments.get(name)]
        if len(changed) == 1:
            names_varying.add(changed[0])
    return names_varying


def _several_at_once(calls: Calls, arguments: Sequence[ArgumentValues]) -> Iterator[str]:
    for argument in arguments:
        if not argument.form.is_list:
            continue
        name = argument.name
        given = [call for call in of_name(calls.worked, name) if isinstance(call.arguments[name], list)]
        several = [call for call in given if len(call.arguments[name]) > 1]
        if len(several) >= max(MIN_CALLS, len(given) * OFTEN) and tasks(several) > 1:
            count = share_of(len(several), len(given))
            yield f"{code(name)} takes several values in one call: {count} that worked gave two or more."


def _when_empty(calls: Calls, arguments: Sequence[ArgumentValues]) -> Iterator[str]:
    """What separates the calls that came back empty from the others, and what then found something.

    Made-up values come first. Whether an argument was passed is mentioned if it also separates the rest.
    """
    visible = [call for call in calls.worked if call.form is not None]
    empty = [call for call in visible if is_empty(call)]
    if calls.effect != "read" or len(empty) < MIN_CALLS or len(empty) == len(visible):
        return
    names = sorted(argument.name for argument in arguments)
    looked_up = [name for name in names if is_looked_up(name, visible)]
    unknown = [reason for name in looked_up for reason in _unknown_values(name, visible, 2 * len(names))]
    blamed = {reason.argument for reason in unknown}
    rest = [call for call in visible if not any(is_guessed(call, name) for name in blamed)]
    given = [
        reason
        for name in names
        if name not in blamed and any(_compare_given(name, rest, 2 * len(names)))
        for reason in _compare_given(name, visible, 2 * len(names))
    ]
    ordered = sorted(unknown + given, key=lambda reason: (-reason.empties, reason.text))
    yield from (reason.text for reason in ordered[:MAX_REASONS])


class _Reason(NamedTuple):
    argument: str
    empties: int
    text: str


def _unknown_values(name: str, with_result: Sequence[Observation], tests: int) -> Iterator[_Reason]:
    traced = [call for call in of_name(with_result, name) if name in call.origins]
    new, familiar = _partition(traced, lambda call: is_guessed(call, name))
    if len(familiar) >= MIN_COMPARED and fail_more(new, familiar, is_empty, tests):
        count, against = share_of(_empties(new), len(new)), f"against {_empties(familiar)} of {len(familiar)} otherwise"
        yield _Reason(
            name,
            _empties(new),
            f"When {code(name)} had not been seen in the task or an earlier result, it came back empty in {count}, "
            f"{against}: take that for a wrong {code(name)}, not for an answer.",
        )


def _compare_given(name: str, with_result: Sequence[Observation], tests: int) -> Iterator[_Reason]:
    given, without = _partition(
        with_result, lambda call: not leaves_out(call, name) and call.forms.get(name) not in ABSENT_FORMS
    )
    if min(len(given), len(without)) < MIN_COMPARED:
        return
    with_it, without_it = f"{_empties(given)} of {len(given)}", f"{_empties(without)} of {len(without)}"
    if fail_more(given, without, is_empty, tests):
        text = f"With {code(name)} it came back empty in {with_it} calls, without it in {without_it}"
        yield _Reason(name, _empties(given), f"{text}: leave it out when nothing is found.")
    if fail_more(without, given, is_empty, tests):
        text = f"Without {code(name)} it came back empty in {without_it} calls, with it in {with_it}."
        yield _Reason(name, _empties(without), text)


def _partition(
    calls: Sequence[Observation], is_so: Callable[[Observation], bool]
) -> tuple[list[Observation], list[Observation]]:
    return [call for call in calls if is_so(call)], [call for call in calls if not is_so(call)]


def _empties(calls: Sequence[Observation]) -> int:
    return sum(is_empty(call) for call in calls)


def _describe_next_find(calls: Calls) -> Iterator[str]:
    if calls.effect != "read":
        return
    again = [retry for retry in calls.retries if is_empty(retry.first) and retry.changed]
    successes = Counter(retry.changed for retry in again if not retry.then.error and not is_empty(retry.then))
    if not successes:
        return
    names = min(successes, key=lambda changed: (-successes[changed], len(changed), sorted(changed)))
    tried = [retry for retry in again if retry.changed == names]
    if (
        successes[names] >= MIN_CALLS
        and successes[names] * 2 >= len(tried)
        and tasks(retry.first for retry in tried) > 1
    ):
        named = join_list([code(name) for name in sorted(names)])
        count = share_of(successes[names], len(tried), "retry")
        yield f"After an empty result, calling again with another {named} found something in {count}."


def count_guessed_values(calls: Calls) -> Iterator[tuple[int, str]]:
    """Arguments whose values failed much more often if they had been seen nowhere before."""
    for name, made_up, familiar in convictions(calls):
        failed = failures(made_up)
        against = f"against {failures(familiar)} of {len(familiar)} for values seen earlier"
        yield failed, f"{code(name)} values seen nowhere before failed in {share_of(failed, len(made_up))}, {against}."


def needless_repeats(calls: Calls) -> Iterator[tuple[int, str]]:
    """The same call again although nothing could have changed since it worked. Counted by runs: one may repeat it
    endlessly."""
    needless = runs_of(call for call in calls.all if call.redundant)
    if needless >= max(MIN_NEEDLESS_RUNS, len(calls.runs) * MIN_NEEDLESS):
        count = share_of(needless, len(calls.runs), "run")
        yield needless, f"Asking again for what it had already returned, with nothing changed in between: {count}."


def describe_use(calls: Calls) -> str:
    """The arguments of other functions that its results fill, as far as several tasks show it; empty otherwise."""
    users: dict[str, Counter[str]] = defaultdict(Counter)
    where: dict[tuple[str, str], set[str]] = defaultdict(set)
    for call in calls.worked:
        for use in call.feeds:
            users[use.argument][use.function] += 1
            where[use.argument, use.function].add(call.task_key)
    worked_in = runs_of(calls.worked)
    parts = []
    for argument in sorted(users, key=lambda name: (-users[name].total(), name)):
        usual = [f for f, n in users[argument].most_common() if n >= max(MIN_FED, worked_in * FED_SHARE)]
        usual = [function for function in usual if len(where[argument, function]) > 1][:MAX_USERS]
        if usual:
            uses = join_list([f"{calls.refer_to(f)} ({users[argument][f]} times)" for f in usual])
            parts.append(f"{code(argument)} for {uses}")
    noun = "run" if worked_in == 1 else "runs"
    return f"Its results in {worked_in} {noun} held the {'; the '.join(parts[:MAX_FED])}." if parts else ""
