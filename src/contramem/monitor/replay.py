"""Replay: a recorded run under the guards of some cards, deed by deed, as it would have been watched live."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from contramem.monitor.automaton import State, automaton
from contramem.monitor.guard_monitor import GuardMonitor, Obligation, Watched
from contramem.traces.trajectory import Event, Trajectory


@dataclass(frozen=True)
class MonitoredEvent:
    """One event of the run that was a deed, and how every guard stood after it."""

    event: Event
    states: tuple[State, ...]
    broken: tuple[Obligation, ...]
    """What this deed broke for good."""


@dataclass(frozen=True)
class MonitoredRun:
    """A run as the monitor saw it."""

    run: Trajectory
    guards: tuple[Obligation, ...]
    """Every guard that was watched, as it stood at the end."""
    moments: tuple[MonitoredEvent, ...]

    @property
    def pending(self) -> tuple[Obligation, ...]:
        """What was open when the run stopped."""
        return tuple(one for one in self.guards if one.state == "pending")

    @property
    def broken(self) -> tuple[Obligation, ...]:
        return tuple(one for one in self.guards if one.state == "broken")

    @property
    def unkept(self) -> tuple[Obligation, ...]:
        """What was open or broken, in the order of `guards`."""
        return tuple(one for one in self.guards if one.state in ("pending", "broken"))

    def since(self, one: Obligation) -> MonitoredEvent | None:
        """The deed that broke it, or that it has been open since. None: it was open from the start."""
        place, since = self.guards.index(one), None
        for moment in reversed(self.moments):
            if moment.states[place] != one.state:
                return since
            since = moment
        return since if automaton(one.guard).state != one.state else None


def replay_run(run: Trajectory, guards: Iterable[Watched]) -> MonitoredRun:
    """Watch a recorded run from its first event to its last."""
    watch = GuardMonitor(guards, run.task)
    moments = []
    for event in run.events:
        broken = watch.observe(event)
        if event.actor == "agent" and (event.function or event.kind == "final"):
            moments.append(MonitoredEvent(event, tuple(one.state for one in watch.automata), broken))
    return MonitoredRun(run, watch.obligations(), tuple(moments))
