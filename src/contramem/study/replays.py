"""Replays: which runs followed or broke a guard.

Thousands of guards share a few hundred conditions, and what they ask for without them, so each of these is asked about
a run once, and a guard is put together from their masks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from contramem.guards.conditions import Condition, TaskSays, deciding_functions
from contramem.guards.guard import Guard, heard_functions
from contramem.guards.templates import Automaton, Verdict
from contramem.study.masks import GuardMasks, Mask, bits_of, mask_of_places, select_bits
from contramem.study.run_set import RunAnswers, StudyRun


def replay_guard(guard: Guard, runs: Sequence[StudyRun]) -> list[Verdict]:
    """The verdict of each run."""
    masks = Replays(runs).replay(guard)
    verdicts = zip(*(bits_of(mask, len(runs)).tolist() for mask in masks), strict=True)
    return ["holds" if kept else "broken" if broken else "vacuous" for kept, broken in verdicts]


class Replays:
    """Replays guards on some runs. Runs that call nothing a guard is about are not even loaded."""

    def __init__(self, runs: Sequence[StudyRun]) -> None:
        self._answers, self._places = _find_answers(runs)
        self._run_at = runs if self._places is None else {run.place: run for run in runs}
        self._every = (1 << len(runs)) - 1 if self._places is None else mask_of_places(self._places)
        self._meeting = dict[Condition, Mask]()

    def replay(self, guard: Guard) -> GuardMasks:
        """The runs that followed it and those that broke it."""
        bare, scope = guard.bare, self._meet_all(guard.conditions)
        if guard.unless is not None:
            scope &= ~self._meet_all(guard.exceptions)
        masks = self._replay_bare(bare, scope)
        return masks if self._places is None else GuardMasks(*(select_bits(mask, self._places) for mask in masks))

    def _replay_bare(self, guard: Guard, scope: Mask) -> GuardMasks:
        """Runs that call none of its functions share one verdict, unless it has a deadline."""
        heard = heard_functions(guard) if guard.within is None else None
        calling = scope & self._answers.find_calling(heard)
        verdicts = self._answers.ask(guard, calling, lambda place: self._run_at[place].recorded.replay(guard))
        kept, broken = (verdicts.get(verdict, 0) & calling for verdict in ("holds", "broken"))
        idle: dict[Verdict, Mask] = {Automaton(guard).verdict: scope & ~calling}
        return GuardMasks(kept | idle.get("holds", 0), broken | idle.get("broken", 0))

    def _meet_all(self, conditions: Iterable[Condition]) -> Mask:
        scope = self._every
        for condition in conditions:
            if condition not in self._meeting:
                self._meeting[condition] = self._find_meeting(condition)
            scope &= self._meeting[condition]
        return scope

    def _find_meeting(self, condition: Condition) -> Mask:
        """The runs in which it becomes true. What one run of a task was shown holds for the task's other runs
        (guards/packets.py)."""
        heard = deciding_functions(condition) if not isinstance(condition, TaskSays) else ("",)
        calling = self._every & self._answers.find_calling(heard if all(heard) else None)
        met = self._answers.ask(condition, calling, lambda place: self._run_at[place].recorded.meets(condition))
        here, facts = (met.get(how, 0) & self._every for how in ("in this run", "as a fact"))
        return here | (self._answers.spread_to_tasks(facts) & self._every if facts else 0)


def _find_answers(runs: Sequence[StudyRun]) -> tuple[RunAnswers, NDArray[np.intp] | None]:
    """What was asked about these runs, perhaps among others, and their places there; None: they are all, in order."""
    loader = runs[0].loader if runs else None
    if loader is None or loader.answers is None or any(run.loader is not loader for run in runs):
        return RunAnswers(runs), None
    places = np.array([run.place for run in runs], dtype=np.intp)
    is_whole = len(runs) == loader.answers.size and bool((np.diff(places) == 1).all())
    return loader.answers, None if is_whole else places
