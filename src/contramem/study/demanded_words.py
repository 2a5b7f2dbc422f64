"""Demanded words: how passing runs make a call that a guard demands. "Hand it over" alone leaves open to whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

from contramem.errors import GuardError
from contramem.guards.conditions import parse_pattern
from contramem.guards.guard import Guard, parse_guard
from contramem.guards.values import plain_text, write_value
from contramem.study.atoms import MIN_TASKS, is_word
from contramem.study.replays import replay_guard
from contramem.study.run_set import StudyRun

MIN_SHARED = 0.9
"""The share of the passing runs following the guard that must use the word."""


def name_words(guard: Guard, runs: Sequence[StudyRun]) -> Guard:
    """The guard that demands the call with the words that passing runs use and no request says; the same guard if they
    share none, or if it already says how the call is made."""
    demanded = guard.then or guard.function
    if guard.demand != "a call" or parse_pattern(demanded).conditions:
        return guard
    verdicts = replay_guard(guard, runs)
    kept = [run for run, verdict in zip(runs, verdicts, strict=True) if verdict == "holds" and run.passed]
    using = defaultdict[str, list[StudyRun]](list)
    for run in kept:
        for function, test in run.recorded.memo.get("words", partial(_list_words, run)):
            if function == demanded:
                using[test].append(run)
    usual = [
        test
        for test, some in using.items()
        if len(some) >= MIN_SHARED * len(kept) and len({run.task for run in some}) >= MIN_TASKS
    ]
    if not usual:
        return guard
    named = f"{demanded}[{', '.join(sorted(usual))}]"
    return _replace_demanded(guard, named)


def _list_words(run: StudyRun) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys(_find_words(run)))


def _find_words(run: StudyRun) -> Iterator[tuple[str, str]]:
    """The words that its calls were given, as conditions, each with the function, unless the request says them."""
    task = plain_text(run.trajectory.task)
    for call in run.recorded.calls:
        for argument, value in call.arguments.items() if call.worked else ():
            if isinstance(value, str) and is_word(value) and plain_text(value) not in task:
                yield call.function, f"{argument} = {write_value(value)}"


def _replace_demanded(guard: Guard, named: str) -> Guard:
    named_guard = guard._replace(then=named) if guard.then else guard._replace(function=named)
    try:
        return parse_guard(str(named_guard))
    except GuardError:  # a word that guard syntax cannot express
        return guard
