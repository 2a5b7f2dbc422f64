"""Replays a recorded run under the guards of some cards, action by action, as a live monitor would have seen it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from contramem.monitor.automaton import State, automaton
from contramem.monitor.guard_monitor import GuardMonitor, Obligation, WatchedGuard
from contramem.traces.trajectory import Event, Trajectory


@dataclass(frozen=True)
class MonitoredEvent:
    """An action of the run, and the state of every guard after it."""

    event: Event
    states: tuple[State, ...]
    broken: tuple[Obligation, ...]
    """What this action broke for good."""


@dataclass(frozen=True)
class MonitoredRun:
    """A recorded run and the states of its guards over time."""

    run: Trajectory
    guards: tuple[Obligation, ...]
    """Every guard with its state at the end."""
    moments: tuple[MonitoredEvent, ...]

    @property
    def pending(self) -> tuple[Obligation, ...]:
        """The guards with something still owed when the run stopped."""
        return tuple(obligation for obligation in self.guards if obligation.state == "pending")

    @property
    def broken(self) -> tuple[Obligation, ...]:
        return tuple(obligation for obligation in self.guards if obligation.state == "broken")

    @property
    def unkept(self) -> tuple[Obligation, ...]:
        """The guards that were pending or broken at the end, in the order of `guards`."""
        return tuple(obligation for obligation in self.guards if obligation.state in ("pending", "broken"))

    def since(self, obligation: Obligation) -> MonitoredEvent | None:
        """The action since which the guard has been in its final state. None if it was so from the start."""
        place, since = self.guards.index(obligation), None
        for moment in reversed(self.moments):
            if moment.states[place] != obligation.state:
                return since
            since = moment
        return since if automaton(obligation.guard).state != obligation.state else None


def replay_run(run: Trajectory, guards: Iterable[WatchedGuard]) -> MonitoredRun:
    """Replay a recorded run from its first event to its last."""
    monitor = GuardMonitor(guards, run.task)
    moments = []
    for event in run.events:
        broken = monitor.observe(event)
        if event.actor == "agent" and (event.function or event.kind == "final"):
            moments.append(MonitoredEvent(event, tuple(watcher.state for watcher in monitor.automata), broken))
    return MonitoredRun(run, monitor.obligations(), tuple(moments))
