"""Guards on one run or several: live, recorded, or the runs of a packet.

    monitor = GuardMonitor.of_cards(cards, task)
    monitor.would_break(call)     # before a call: the guards it would break for good
    monitor.observe(event)        # after each event, with its result: the guards it broke
    monitor.pending()             # before the end: the guards with something still owed

The monitor never blocks a call; the caller decides what to do with the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from contramem.guards.actions import Action, ActionStream
from contramem.guards.guard import Guard, describe_duration, guards_of, relevant_functions
from contramem.guards.templates import Automaton, State
from contramem.traces.trajectory import Event, Trajectory

WatchedGuard: TypeAlias = tuple[Guard, str, str]
"""A guard with the id and the title of its card."""


class GuardedCard(Protocol):
    """What a monitor needs from a Skill Card. A protocol, because the bank imports this package to check guards, so
    this package cannot import the bank."""

    @property
    def card_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def guards(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Obligation:
    """A guard, its card, and its current state."""

    guard: Guard
    card_id: str
    title: str
    state: State
    due: float | None = None
    """The deadline of what is owed, on the clock of the run. None if there is none."""

    @property
    def text(self) -> str:
        """One sentence for the agent: what is owed, what went wrong, or otherwise what must hold."""
        if self.state == "pending":
            deadline = "" if self.guard.within is None else f", within {describe_duration(self.guard.within)}"
            return f"{self._fill(self.guard.form.owed)}{deadline}."
        return f"{self._fill(self.guard.form.broken)}." if self.state == "broken" else self.guard.sentence

    def _fill(self, wording: str) -> str:
        words = self.guard.fill(wording)
        return words if words.startswith("`") else f"{words[0].upper()}{words[1:]}"


class GuardMonitor:
    """Watches the guards of one run. Not thread-safe. The cost of an event does not grow with the number of guards: a
    call goes only to the automata that it is relevant to."""

    def __init__(self, guards: Iterable[WatchedGuard], task: str) -> None:
        """A guard that two cards share is watched once."""
        self._stream = ActionStream(task)
        self._cards: dict[Guard, tuple[str, str]] = {}
        for guard, card_id, title in guards:
            self._cards.setdefault(guard, (card_id, title))
        self.automata: tuple[Automaton, ...] = tuple(Automaton(guard, task) for guard in self._cards)
        self._timed = [watcher for watcher in self.automata if watcher.guard.within is not None]
        self._by_function = defaultdict[str, list[Automaton]](list)
        self._of_any_function = [watcher for watcher in self.automata if relevant_functions(watcher.guard) is None]
        for watcher in self.automata:
            for function in relevant_functions(watcher.guard) or ():
                self._by_function[function].append(watcher)

    @classmethod
    def of_cards(cls, cards: Iterable[GuardedCard], task: str) -> GuardMonitor:
        """Watch every guard of `cards` that parses."""
        return cls([guard for card in cards for guard in guards_of_card(card)], task)

    def observe(self, event: Event) -> tuple[Obligation, ...]:
        """Process an event. Returns the guards it broke for good; each is reported once."""
        action = self._stream.take(event)
        watchers = self._select_watchers(action) if action is not None else ()
        broken = [self._obligation(watcher) for watcher in watchers if action is not None and watcher.observe(action)]
        if event.time is not None:
            broken += self.tick(event.time)
        self._stream.close(event)
        return tuple(broken)

    def tick(self, time: float) -> tuple[Obligation, ...]:
        """Advance the clock of the run to `time`. Returns the guards whose deadline was missed, each once."""
        return tuple(self._obligation(watcher) for watcher in self._timed if watcher.tick(time))

    def would_break(self, call: Event) -> tuple[Obligation, ...]:
        """The guards that this call would break for good if it succeeds. Changes no state."""
        action = Action.of_call(call, self._stream.history)
        watchers = self._select_watchers(action)
        return tuple(self._obligation(watcher) for watcher in watchers if watcher.would_break(action))

    def find_objections(self, call: Event) -> tuple[Obligation, ...]:
        """The guards that this call goes against: it would break them, or is made in another way than they demand."""
        action = Action.of_call(call, self._stream.history)
        watchers = self._select_watchers(action)
        return tuple(self._obligation(watcher) for watcher in watchers if watcher.goes_against(action))

    def pending(self) -> tuple[Obligation, ...]:
        """The guards that would be broken if the run stopped now."""
        return tuple(self._obligation(watcher) for watcher in self.automata if watcher.state == "pending")

    def obligations(self) -> tuple[Obligation, ...]:
        """Every guard with its current state, in the order of `automata`."""
        return tuple(self._obligation(watcher) for watcher in self.automata)

    def _select_watchers(self, action: Action) -> list[Automaton]:
        named = self._by_function.get(action.function)
        if not named:
            return self._of_any_function
        return named + self._of_any_function if self._of_any_function else named

    def _obligation(self, watcher: Automaton) -> Obligation:
        return Obligation(watcher.guard, *self._cards[watcher.guard], watcher.state, watcher.due)


def guards_of_card(card: GuardedCard) -> list[WatchedGuard]:
    """Every guard of a card that parses."""
    return [(guard, card.card_id, card.title) for guard in guards_of(card.guards)]


# A recorded run, action by action, as a live monitor would have seen it


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
        return since if Automaton(obligation.guard).state != obligation.state else None


def replay_run(run: Trajectory, guards: Iterable[WatchedGuard]) -> MonitoredRun:
    """Replay a recorded run from its first event to its last."""
    monitor = GuardMonitor(guards, run.task)
    moments = []
    for event in run.events:
        broken = monitor.observe(event)
        if event.actor == "agent" and (event.function or event.kind == "final"):
            moments.append(MonitoredEvent(event, tuple(watcher.state for watcher in monitor.automata), broken))
    return MonitoredRun(run, monitor.obligations(), tuple(moments))
