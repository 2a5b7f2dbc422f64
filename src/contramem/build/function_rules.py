"""How to call a function, and how not to: rules that the calls of many runs bear out, with their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from contramem.bank.card import Argument
from contramem.build.function_calls import (
    Calls,
    best_and_bad_forms,
    by_form,
    fail_more,
    failures,
    guessed,
    of_name,
    tasks,
)
from contramem.build.function_words import code, form_in_words, is_identifying, listed, share_of
from contramem.contrast.observation import Observation
from contramem.contrast.values import CATEGORY_ROLES
from contramem.traces.effects import words

MIN_CALLS = 2
OFTEN = 0.3
"""A share of the runs or calls from which on something is how the function is used."""
MIN_NEEDLESS = 0.03
MAX_BAD_FORMS = 3


def usage_rules(calls: Calls, arguments: Sequence[Argument]) -> tuple[str, ...]:
    """Guidance for one call of the function: what it has to look like, then how often, then what to make of it."""
    return (
        *_formats(calls, arguments),
        *_exact_values(calls, arguments),
        *_one_call_per(calls, arguments),
        *_several_at_once(calls, arguments),
        *_when_empty(calls),
    )


def _formats(calls: Calls, arguments: Sequence[Argument]) -> Iterator[str]:
    """Forms of one argument that failed where another one worked."""
    for name in (argument.name for argument in arguments):
        best, bad = best_and_bad_forms(calls, name)
        if bad:
            forms = by_form(calls.all, name)
            worked = share_of(len(forms[best]) - failures(forms[best]), len(forms[best]))
            failed = [
                f"{_words(name, f)} failed in {failures(forms[f])} of {len(forms[f])}" for f in bad[:MAX_BAD_FORMS]
            ]
            yield f"Give {code(name)} as {_words(name, best)}: it worked in {worked}; {listed(failed)}."


def _words(name: str, form: str) -> str:
    return form_in_words(name, form).removeprefix("date ")


def _exact_values(calls: Calls, arguments: Sequence[Argument]) -> Iterator[str]:
    """What a write points at has to be copied, not recalled."""
    if calls.effect == "read":
        return
    pointing = [a.name for a in arguments if "come from results of" in a.meaning and is_identifying(a.name, a.form)]
    if pointing:
        names = listed([code(name) for name in pointing])
        yield f"Take {names} exactly as earlier results show {'it' if len(pointing) == 1 else 'them'}."


def _one_call_per(calls: Calls, arguments: Sequence[Argument]) -> Iterator[str]:
    """Called several times in one run with one argument varying: the function takes one item at a time."""
    varied: Counter[str] = Counter()
    where: dict[str, set[str]] = {}
    for run in calls.runs:
        worked = [call for call in run if not call.error]
        for name in _varying(worked):
            varied[name] += 1
            where.setdefault(name, set()).add(run[0].task_key)
    pointing = {a.name for a in arguments if not a.form.startswith("list") and _points(a)}
    clear = [n for n in varied if n in pointing and len(where[n]) > 1 and varied[n] >= len(calls.runs) * OFTEN]
    if clear:
        name = min(clear, key=lambda name: (-varied[name], name))
        count = share_of(varied[name], len(calls.runs), "run")
        yield f"Call once per {code(name)}: {count} with this function called it again with only {code(name)} changed."


def _points(argument: Argument) -> bool:
    return is_identifying(argument.name, argument.form) or "results of" in argument.meaning or "date" in argument.form


def _varying(worked: Sequence[Observation]) -> set[str]:
    """The arguments that alone tell two working calls of a run apart."""
    found = set()
    for one, other in combinations(worked[:8], 2):
        names = one.arguments.keys() | other.arguments.keys()
        changed = [name for name in names if one.arguments.get(name) != other.arguments.get(name)]
        if len(changed) == 1:
            found.add(changed[0])
    return found


def _several_at_once(calls: Calls, arguments: Sequence[Argument]) -> Iterator[str]:
    for argument in arguments:
        if not argument.form.startswith("list"):
            continue
        name = argument.name
        given = [call for call in of_name(calls.worked, name) if isinstance(call.arguments[name], list)]
        several = [call for call in given if len(call.arguments[name]) > 1]
        if len(several) >= max(MIN_CALLS, len(given) * OFTEN) and tasks(several) > 1:
            count = share_of(len(several), len(given))
            yield f"{code(name)} takes several values in one call: {count} that worked gave two or more."


def _when_empty(calls: Calls) -> Iterator[str]:
    """What to do when a read comes back empty, as far as the next calls tell."""
    if calls.effect != "read":
        return
    shown = [call for call in calls.worked if call.form is not None]
    empty = [call for call in shown if _is_empty(call)]
    if len(empty) < MIN_CALLS or len(empty) == len(shown):
        return
    text = f"An empty result is not an error: {share_of(len(empty), len(shown))} that worked came back empty"
    again = [retry for retry in calls.retries if not retry.first.error and _is_empty(retry.first) and retry.changed]
    found = Counter(retry.changed for retry in again if not retry.then.error and not _is_empty(retry.then))
    if found:
        names = min(found, key=lambda changed: (-found[changed], len(changed), sorted(changed)))
        tried = sum(retry.changed == names for retry in again)
        named = listed([code(name) for name in sorted(names)])
        text += f"; calling again with another {named} found something in {share_of(found[names], tried, 'retry')}"
    yield text + "."


def _is_empty(call: Observation) -> bool:
    return call.form is not None and call.form.kind in ("empty", "nothing")


def guessed_values(calls: Calls) -> Iterator[tuple[int, str]]:
    """Arguments whose values failed much more often when they had been seen nowhere before."""
    # The words of a category (`status`, `mode`) are known from the documentation, which no run shows.
    names = {name for call in calls.all for name in call.origins if CATEGORY_ROLES.isdisjoint(words(name)[-1:])}
    for name in sorted(names):
        given = [call for call in of_name(calls.all, name) if name in call.origins]
        made_up = [call for call in given if guessed(call, name)]
        known = [call for call in given if not guessed(call, name)]
        if len(known) >= MIN_CALLS and fail_more(made_up, known):
            failed = failures(made_up)
            against = f"against {failures(known)} of {len(known)} for values seen earlier"
            yield (
                failed,
                f"{code(name)} values seen nowhere before failed in {share_of(failed, len(made_up))}, {against}.",
            )


def needless_repeats(calls: Calls) -> Iterator[tuple[int, str]]:
    """The same call again, when nothing could have changed since it worked."""
    needless = sum(call.redundant for call in calls.all)
    if needless >= max(MIN_CALLS, len(calls.all) * MIN_NEEDLESS):
        count = share_of(needless, len(calls.all))
        yield needless, f"Asking again for what it had already returned, with nothing changed in between: {count}."
