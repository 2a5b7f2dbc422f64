"""Replay: a recorded run under the guards of some cards, deed by deed, as it would have been watched live."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from contramem.bank.card import SkillCard
from contramem.monitor.automaton import State
from contramem.monitor.watch import Obligation, Watch
from contramem.traces.trajectory import Event, Trajectory


@dataclass(frozen=True)
class Moment:
    """One event of the run that was a deed, and how every guard stood after it."""

    event: Event
    states: tuple[State, ...]
    broken: tuple[Obligation, ...]
    """What this deed broke for good."""


@dataclass(frozen=True)
class Replayed:
    """A run as the monitor saw it."""

    run: Trajectory
    guards: tuple[Obligation, ...]
    """Every guard that was watched, as it stood at the end."""
    moments: tuple[Moment, ...]

    @property
    def pending(self) -> tuple[Obligation, ...]:
        """What was open when the run stopped."""
        return tuple(one for one in self.guards if one.state == "pending")

    @property
    def broken(self) -> tuple[Obligation, ...]:
        return tuple(one for one in self.guards if one.state == "broken")


def replay_run(run: Trajectory, cards: Iterable[SkillCard]) -> Replayed:
    """Watch a recorded run from its first event to its last."""
    watch = Watch.of_cards(cards, run.task)
    moments = []
    for event in run.events:
        broken = watch.observe(event)
        if event.actor == "agent" and (event.function or event.kind == "final"):
            moments.append(Moment(event, tuple(one.state for one in watch.automata), broken))
    return Replayed(run, watch.obligations(), tuple(moments))
