"""By kind: differences between the runs of one kind of task. Where other tasks contradict one, it is confined to its
kind by a call that its tasks have in common.

Many house rules are about one kind of request: "say this in a confirmation" is wrong for every other message. Over all
tasks at once, such a rule is contradicted by the others and drowns among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from contramem.grading import MAX_CHANCE_UNOPPOSED, contradicts
from contramem.guards.guard import Guard
from contramem.guards.values import functions_of
from contramem.study.contenders import Contenders
from contramem.study.explain import Difference, explain
from contramem.study.replays import replay_guard
from contramem.study.run_set import RunSet, StudyRun
from contramem.study.sharpen import add_condition
from contramem.study.trial import try_guard

MAX_DIFFERENCES = 8
"""Of one kind."""
MIN_TASKS = 2
MIN_CALLING = 0.9
"""The share of the runs of a kind that call a function by which the kind is recognized."""
MIN_UNEXPLAINED = 2
"""How many failing runs must break a guard and none of those that were accepted before it."""


def explain_by_kind(
    runs: Sequence[StudyRun],
    run_set: RunSet,
    accept: Callable[[Difference], bool],
    known: Iterable[Guard],
    contenders: Contenders | None = None,
) -> Iterator[Difference]:
    """Yield what explains failures within one kind of task that no guard in `known` explains, each with its counts over
    all `runs`. `contenders` are those of all `runs`, if they are known."""
    explained = {run for guard in known for run in _find_broken(guard, runs)}
    for kind in run_set.kinds:
        tasks = frozenset(kind.tasks)
        inside = [run for run in runs if run.task in tasks]
        unexplained = [run for run in inside if not run.passed and run not in explained]
        if len(tasks) < MIN_TASKS or len(unexplained) < MIN_UNEXPLAINED or not any(run.passed for run in inside):
            continue
        search = _KindSearch(inside, runs, run_set, explained)
        take = partial(_take, search, accept)
        same = contenders if len(inside) == len(runs) else None
        for found in explain(inside, run_set, MAX_DIFFERENCES, take, search.outside, same).differences:
            difference = search.confine(found)
            if difference is not None:
                explained.update(_find_broken(difference.guard, runs))
                yield difference


def _take(search: _KindSearch, accept: Callable[[Difference], bool], difference: Difference) -> bool:
    if difference.chance > MAX_CHANCE_UNOPPOSED or not search.explains_more(difference.guard):
        return False
    confined = search.confine(difference)
    return confined is not None and accept(confined)


class _KindSearch:
    """The runs of one kind among all runs."""

    def __init__(
        self, inside: Sequence[StudyRun], runs: Sequence[StudyRun], run_set: RunSet, explained: set[StudyRun]
    ) -> None:
        self._inside, self._all, self._run_set, self._explained = inside, runs, run_set, explained
        chosen = set(inside)
        self.outside = [run for run in runs if run not in chosen]
        self._confined: dict[Guard, Difference | None] = {}

    def confine(self, difference: Difference) -> Difference | None:
        """The difference with its counts over all runs, confined to this kind if runs of others contradict it. None: no
        call tells this kind from them."""
        if difference.guard not in self._confined:
            guard, tried = self._find_scope(difference.guard)
            self._confined[difference.guard] = None if guard is None else self._count(difference, guard, tried)
        return self._confined[difference.guard]

    def explains_more(self, guard: Guard) -> bool:
        """Do enough failing runs break it for which nothing was found so far?"""
        return len(set(_find_broken(guard, self._inside)) - self._explained) >= MIN_UNEXPLAINED

    def _find_scope(self, guard: Guard) -> tuple[Guard | None, int]:
        """The guard, with a condition if it needs one, and how many conditions there were to choose from."""
        if not self._is_contradicted(guard):
            return guard, 1
        calls = [] if _is_conditional(guard) else self._tell_kind(guard)
        for function in calls:
            confined = add_condition(guard, function)
            if confined is not None and not self._is_contradicted(confined):
                return confined, len(calls)
        return None, len(calls)

    def _is_contradicted(self, guard: Guard) -> bool:
        return contradicts(try_guard(guard, self.outside, self._run_set).counts)

    def _tell_kind(self, guard: Guard) -> list[str]:
        """The functions that nearly all runs of this kind call, those that the fewest others call first."""
        inside, outside = _count_calling(self._inside), _count_calling(self.outside)
        usual = [name for name, count in inside.items() if count >= MIN_CALLING * len(self._inside)]
        return sorted(
            (name for name in usual if name not in guard.functions), key=lambda name: (outside.get(name, 0), name)
        )

    def _count(self, difference: Difference, guard: Guard, tried: int) -> Difference:
        trial = try_guard(guard, self._all, self._run_set)
        family = difference.family * tried
        return replace(
            difference, guard=guard, counts=trial.counts, tasks=trial.tasks, chance=trial.chance, family=family
        )


def _is_conditional(guard: Guard) -> bool:
    """Does it already have a condition, beyond the call that it is about? With a second one, nearly anything fits the
    few tasks of a kind."""
    return any(not set(functions_of(condition)) <= {guard.target} for condition in guard.conditions)


def _find_broken(guard: Guard, runs: Sequence[StudyRun]) -> list[StudyRun]:
    """The failing runs that break the guard."""
    verdicts = replay_guard(guard, runs)
    return [run for run, verdict in zip(runs, verdicts, strict=True) if verdict == "broken" and not run.passed]


def _count_calling(runs: Sequence[StudyRun]) -> dict[str, int]:
    counts = dict[str, int]()
    for run in runs:
        for function in run.called:
            counts[function] = counts.get(function, 0) + 1
    return counts
