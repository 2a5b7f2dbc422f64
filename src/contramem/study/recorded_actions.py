"""What a finished run did, in a form on which thousands of guards can be replayed, in any order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cached_property, partial
from typing import Any

from contramem.contrast.flow import Flow
from contramem.contrast.taint import find_tainted_calls
from contramem.monitor.action import Action, ActionStream, EventAction, SeenValues
from contramem.monitor.automaton import automaton
from contramem.monitor.guard import Guard, Verdict
from contramem.monitor.relevance import heard_functions, relevant_functions
from contramem.monitor.task_facts import apply_task_facts, asks_for_facts
from contramem.notes import RunNotes, share
from contramem.traces.trajectory import Event, Trajectory


class RecordedAction(EventAction):
    """A call of a finished run. Where its values came from is computed for the whole run on first use."""

    __slots__ = ("_run",)

    def __init__(self, event: Event, seen: SeenValues, run: RecordedActions) -> None:
        super().__init__(event, seen)
        self._run = run

    @property
    def event(self) -> Event:
        return self._event

    def origin(self, argument: str) -> str | None:
        return self._run.origins[self._event.position].get(argument)

    def result(self) -> Any:
        return super().result() if self.worked else None


class RecordedActions:
    """The actions of one run. Calls that follow from planted text are left out: they teach nothing."""

    def __init__(self, run: Trajectory, tainted: Collection[int] | None = None, notes: RunNotes | None = None) -> None:
        """`tainted`: positions of calls that follow from planted text, if already known. `notes` are those of a build;
        without them, verdicts are not remembered."""
        self.run, self.task_key = run, run.task_key
        self.name = share((run.source, run.run))
        """Its name among the runs of its task."""
        self.notes = notes or RunNotes.without_guards()
        self.tainted = tainted = find_tainted_calls(run) if tainted is None else tainted
        stream = ActionStream(run.task)
        self.actions: list[Action] = []
        for event in run.events:
            action = stream.take(event)
            if isinstance(action, EventAction):
                action = None if event.position in tainted else RecordedAction(event, stream.seen, self)
            if action is not None:
                self.actions.append(action)
            stream.close(event)

    @cached_property
    def calls(self) -> list[RecordedAction]:
        return [action for action in self.actions if isinstance(action, RecordedAction)]

    @cached_property
    def functions(self) -> frozenset[str]:
        """The functions that were called successfully."""
        return frozenset(action.function for action in self.actions if action.function and action.worked)

    @cached_property
    def origins(self) -> dict[int, dict[str, str]]:
        """By position of a call: where each argument's value had been seen before."""
        flow, origins_at = Flow(self.run.task), {}
        for event in self.run.events:
            if event.function:
                origins_at[event.position] = flow.origins(event)
            flow.observe(event)
        return origins_at

    def replay(self, guard: Guard) -> Verdict:
        """Did the run follow or break the guard?"""
        return self.notes.verdicts.get(guard, lambda: self._replay(guard))

    def _replay(self, guard: Guard) -> Verdict:
        watcher = automaton(guard, self.run.task)
        for action in self._heard(relevant_functions(guard)):
            watcher.observe(action)
        return watcher.verdict

    @property
    def called(self) -> Collection[str]:
        """Every called function, successful or not, and the names of actions that are not calls."""
        return self._by_function

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


def replay_on_all(guard: Guard, runs: Sequence[RecordedActions]) -> list[Verdict]:
    """The verdict of each run. What one run of a task was shown holds for the task's other runs
    (monitor/task_facts.py)."""
    if not asks_for_facts(guard):
        return _replay_each(guard, runs)
    places_by_task = defaultdict[str, list[int]](list)
    for place, run in enumerate(runs):
        places_by_task[run.task_key].append(place)
    verdicts: list[Verdict] = ["vacuous"] * len(runs)
    for places in places_by_task.values():
        of_task = _replay_together(guard, [runs[place] for place in places])
        for place, verdict in zip(places, of_task, strict=True):
            verdicts[place] = verdict
    return verdicts


def _replay_together(guard: Guard, runs: Sequence[RecordedActions]) -> tuple[Verdict, ...]:
    """The verdicts of runs of one task, without the conditions that these runs show to be true. Noted for just these
    runs: with others, more may be shown."""

    def find() -> tuple[Verdict, ...]:
        return tuple(_replay_each(apply_task_facts(guard, partial(_actions_of, runs)), runs))

    return runs[0].notes.together.get((guard, tuple([run.name for run in runs])), find)


def _replay_each(guard: Guard, runs: Sequence[RecordedActions]) -> list[Verdict]:
    """Runs that call none of the guard's functions share one verdict."""
    heard = heard_functions(guard)
    if heard is None:
        return [run.replay(guard) for run in runs]
    idle = automaton(guard).verdict
    return [idle if heard.isdisjoint(run.called) else run.replay(guard) for run in runs]


def _actions_of(runs: Sequence[RecordedActions]) -> list[Action]:
    return [action for run in runs for action in run.actions]
