"""Replays: which runs followed or broke a guard.

Thousands of guards share a few hundred conditions, and what they ask for without them, so each of these is replayed
once on the runs, and a guard is put together from their masks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contramem.monitor.automaton import automaton
from contramem.monitor.guard import Guard, Verdict
from contramem.monitor.relevance import heard_functions
from contramem.monitor.scope import Condition, TaskSays
from contramem.study.masks import GuardMasks, Mask, bits_of, mask_of, places_of, union_of
from contramem.study.run_set import StudyRun


def replay_guard(guard: Guard, runs: Sequence[StudyRun]) -> list[Verdict]:
    """The verdict of each run."""
    masks = Replays(runs).replay(guard)
    verdicts = zip(bits_of(masks.kept, len(runs)), bits_of(masks.broken, len(runs)), strict=True)
    return ["holds" if kept else "broken" if broken else "vacuous" for kept, broken in verdicts]


class _Replayed(NamedTuple):
    """What is known about a guard without conditions."""

    asked: Mask = 0
    """The runs on which it was replayed."""
    masks: GuardMasks = GuardMasks(0, 0)


class Replays:
    """Replays guards on some runs. Runs that call nothing a guard is about are not even loaded."""

    def __init__(self, runs: Sequence[StudyRun]) -> None:
        self._runs = runs
        self._every = (1 << len(runs)) - 1
        self._calling = dict[str, Mask]()
        self._meeting = dict[Condition, Mask]()
        self._replayed = dict[Guard, _Replayed]()

    def replay(self, guard: Guard) -> GuardMasks:
        """The runs that followed it and those that broke it."""
        bare, scope = guard.bare, self._meet_all(guard.conditions)
        if guard.unless is not None:
            scope &= ~self._meet_all(guard.exceptions)
        known = self._replayed.get(bare, _Replayed())
        if missing := scope & ~known.asked:
            kept, broken = self._replay_bare(bare, missing)
            masks = GuardMasks(known.masks.kept | kept, known.masks.broken | broken)
            known = self._replayed[bare] = _Replayed(known.asked | missing, masks)
        return known.masks.within(scope)

    def _replay_bare(self, guard: Guard, runs: Mask) -> GuardMasks:
        """Runs that call none of its functions share one verdict, unless it has a deadline."""
        heard = heard_functions(guard) if guard.within is None else None
        calling = runs & self._find_calling_any(heard)
        masks: dict[Verdict, Mask] = {"holds": 0, "broken": 0, "vacuous": 0}
        masks[automaton(guard).verdict] = runs & ~calling
        for place in places_of(calling):
            masks[self._runs[place].recorded.replay(guard)] |= 1 << place
        return GuardMasks(masks["holds"], masks["broken"])

    def _meet_all(self, conditions: Iterable[Condition]) -> Mask:
        scope = self._every
        for condition in conditions:
            if condition not in self._meeting:
                self._meeting[condition] = self._find_meeting(condition)
            scope &= self._meeting[condition]
        return scope

    def _find_meeting(self, condition: Condition) -> Mask:
        """The runs in which it becomes true. What one run of a task was shown holds for the task's other runs
        (monitor/task_facts.py)."""
        heard = condition.relevant_functions if not isinstance(condition, TaskSays) else ("",)
        calling = places_of(self._find_calling_any(heard if all(heard) else None))
        meets = {place: self._runs[place].recorded.meets(condition) for place in calling}
        tasks = {self._runs[place].task for place, how in meets.items() if how == "as a fact"}
        of_tasks = (place for place, run in enumerate(self._runs) if run.task in tasks) if tasks else ()
        return mask_of(place for place, how in meets.items() if how) | mask_of(of_tasks)

    def _find_calling_any(self, functions: Iterable[str] | None) -> Mask:
        """The runs that call one of the functions; all if none is named."""
        return self._every if functions is None else union_of(map(self._find_calling, functions))

    def _find_calling(self, function: str) -> Mask:
        if function not in self._calling:
            self._calling[function] = mask_of(place for place, run in enumerate(self._runs) if function in run.called)
        return self._calling[function]
