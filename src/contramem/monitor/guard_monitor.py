"""GuardMonitor: the guards of some cards on a run that goes on. What is owed, and what was or would be broken.

    monitor = GuardMonitor.of_cards(cards, task)
    monitor.would_break(call)     # before a call: what it would break for good
    monitor.observe(event)        # after each event, results included: what it has broken
    monitor.pending()             # before the end: what is still owed

The monitor never blocks a call; the caller decides what to do with the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from contramem.monitor.action import Action, ActionStream, EventAction
from contramem.monitor.automaton import Automaton, State, automaton
from contramem.monitor.guard import Guard, describe_duration, guards_of
from contramem.traces.trajectory import Event

WatchedGuard: TypeAlias = tuple[Guard, str, str]
"""A guard with the id and the title of the card that it is of."""


class GuardedCard(Protocol):
    """What a monitor needs of a Skill Card. The bank checks guards when a card is edited, so it imports this room;
    this room does not import the bank."""

    @property
    def card_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def guards(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Obligation:
    """A guard that matters now, and the card it is of."""

    guard: Guard
    card_id: str
    title: str
    state: State
    due: float | None = None
    """When what is owed must have happened, on the clock of the run. None: there is no deadline."""

    @property
    def text(self) -> str:
        """For the agent: what is owed, what went wrong, or else what must hold, in one sentence."""
        if self.state == "pending":
            deadline = "" if self.guard.within is None else f", within {describe_duration(self.guard.within)}"
            return f"{self._fill(self.guard.form.owed)}{deadline}."
        return f"{self._fill(self.guard.form.broken)}." if self.state == "broken" else self.guard.sentence

    def _fill(self, wording: str) -> str:
        words = self.guard.fill(wording)
        return words if words.startswith("`") else f"{words[0].upper()}{words[1:]}"


class GuardMonitor:
    """One run under some guards. Not for several threads at once. Work per event grows with what the event concerns,
    not with the number of guards: a call is shown only to the automata that hear its function."""

    def __init__(self, guards: Iterable[WatchedGuard], task: str) -> None:
        """The same guard of two cards is watched once."""
        self._stream = ActionStream(task)
        self._cards: dict[Guard, tuple[str, str]] = {}
        for guard, card_id, title in guards:
            self._cards.setdefault(guard, (card_id, title))
        self.automata: tuple[Automaton, ...] = tuple(automaton(guard, task) for guard in self._cards)
        self._timed = [watcher for watcher in self.automata if watcher.guard.within is not None]
        self._by_function = defaultdict[str, list[Automaton]](list)
        self._all_ears = [watcher for watcher in self.automata if watcher.hears is None]
        for watcher in self.automata:
            for function in watcher.hears or ():
                self._by_function[function].append(watcher)

    @classmethod
    def of_cards(cls, cards: Iterable[GuardedCard], task: str) -> GuardMonitor:
        """Every guard of `cards` that can be read."""
        return cls([guard for card in cards for guard in guards_of_card(card)], task)

    def observe(self, event: Event) -> tuple[Obligation, ...]:
        """Take in what happened. What it broke for good comes back, once."""
        action = self._stream.take(event)
        hearing = self._hearing(action) if action is not None else ()
        broken = [self._obligation(watcher) for watcher in hearing if action is not None and watcher.observe(action)]
        if event.time is not None:
            broken += self.tick(event.time)
        self._stream.close(event)
        return tuple(broken)

    def tick(self, time: float) -> tuple[Obligation, ...]:
        """The clock of the run shows `time`. The guards whose deadline this has broken come back, once."""
        return tuple(self._obligation(watcher) for watcher in self._timed if watcher.tick(time))

    def would_break(self, call: Event) -> tuple[Obligation, ...]:
        """What this call, if it is made and works, would break for good. Nothing is taken in."""
        action = EventAction(call, self._stream.seen)
        return tuple(self._obligation(watcher) for watcher in self._hearing(action) if watcher.would_break(action))

    def pending(self) -> tuple[Obligation, ...]:
        """What is owed if the run is to end well: guards that stopping now would break."""
        return tuple(self._obligation(watcher) for watcher in self.automata if watcher.state == "pending")

    def obligations(self) -> tuple[Obligation, ...]:
        """Every guard as it stands now, in the order of `automata`."""
        return tuple(self._obligation(watcher) for watcher in self.automata)

    def _hearing(self, action: Action) -> list[Automaton]:
        named = self._by_function.get(action.function)
        return self._all_ears if not named else named + self._all_ears if self._all_ears else named

    def _obligation(self, watcher: Automaton) -> Obligation:
        return Obligation(watcher.guard, *self._cards[watcher.guard], watcher.state, watcher.due)


def guards_of_card(card: GuardedCard) -> list[WatchedGuard]:
    """Every guard of a card that can be read."""
    return [(guard, card.card_id, card.title) for guard in guards_of(card.guards)]
