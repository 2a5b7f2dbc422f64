"""What a finished run did, in a form on which thousands of guards can be replayed, in any order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cached_property

from contramem.contrast.flow import Flow
from contramem.contrast.packet import Memo
from contramem.guards.actions import Action, ActionStream
from contramem.guards.conditions import Condition, TaskSays, deciding_functions
from contramem.guards.guard import Guard, relevant_functions
from contramem.guards.packets import HowMet, find_how_met
from contramem.guards.templates import Automaton, Verdict
from contramem.privacy.taint import find_tainted_calls
from contramem.study.run_outline import RunOutline
from contramem.traces.trajectory import Trajectory


class RecordedActions:
    """The actions of one run. Calls that follow from planted text are left out: they teach nothing."""

    def __init__(
        self,
        run: Trajectory,
        tainted: Collection[int] | None = None,
        origins: dict[int, dict[str, str]] | None = None,
    ) -> None:
        """`tainted`: positions of calls that follow from planted text, if already known. `origins`: see below, if
        already known."""
        self.run, self.task_key = run, run.task_key
        self.name = (run.source, run.run)
        """Its name among the runs of its task."""
        self.memo = Memo()
        """What was asked about it."""
        self._origins = origins
        self.tainted = tainted = find_tainted_calls(run) if tainted is None else tainted
        stream = ActionStream(run.task, lambda event, argument: self.origins[event.position].get(argument))
        self.actions: list[Action] = []
        for event in run.events:
            action = stream.take(event)
            if action is not None and not (event.position in tainted and action.kind == "call"):
                self.actions.append(action)
            stream.close(event)

    @cached_property
    def calls(self) -> list[Action]:
        return [action for action in self.actions if action.kind == "call"]

    @cached_property
    def outline(self) -> RunOutline:
        """Which calls it made."""
        return RunOutline.of(self.actions)

    @property
    def functions(self) -> frozenset[str]:
        """The functions that were called successfully."""
        return self.outline.worked

    @property
    def origins(self) -> dict[int, dict[str, str]]:
        """By position of a call: where each argument's value had been seen before."""
        if self._origins is None:
            flow, self._origins = Flow(self.run.task), {}
            for event in self.run.events:
                if event.function:
                    self._origins[event.position] = flow.origins(event)
                flow.observe(event)
        return self._origins

    def replay(self, guard: Guard) -> Verdict:
        """Did the run follow or break the guard, by what it shows itself?"""
        if guard.when or guard.unless is not None:
            return self.replay(guard.bare) if self._is_in_scope(guard) else "vacuous"
        watcher = Automaton(guard, self.run.task)
        # Every action moves the clock of a deadline.
        for action in self._heard(relevant_functions(guard) if guard.within is None else None):
            watcher.observe(action)
        return watcher.verdict

    def _is_in_scope(self, guard: Guard) -> bool:
        if not all(map(self.meets, guard.conditions)):
            return False
        return guard.unless is None or not all(map(self.meets, guard.exceptions))

    def meets(self, condition: Condition) -> HowMet:
        """Whether the condition becomes true in this run, and if it is then a fact about its task."""
        if isinstance(condition, TaskSays):
            return "in this run" if condition.matches_task(self.run.task) else ""
        heard = deciding_functions(condition)
        return find_how_met(condition, self._heard(frozenset(heard) if all(heard) else None))

    def _heard(self, functions: frozenset[str] | None) -> Sequence[Action]:
        if functions is None:
            return self.actions
        if len(functions) == 1:
            return self._by_function.get(next(iter(functions)), ())
        return [action for action in self.actions if action.function in functions]

    @cached_property
    def _by_function(self) -> dict[str, list[Action]]:
        grouped = defaultdict[str, list[Action]](list)
        for action in self.actions:
            grouped[action.function].append(action)
        return dict(grouped)
