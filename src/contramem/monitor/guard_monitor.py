"""Watch: the guards of some cards on a run that goes on. What is owed, what was just broken, what the next call breaks.

    watch = Watch.of_cards(cards, task)
    watch.would_break(call)     # before a call: what it would break for good
    watch.observe(event)        # after each event, results included: what it has broken
    watch.pending()             # before the end: what is still owed

Nothing is ever held back here; the caller decides what to do with what it is told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from contramem.bank.card import SkillCard
from contramem.monitor.action import Action, ActionStream, EventAction
from contramem.monitor.automaton import Automaton, State, automaton
from contramem.monitor.guard import Guard, guards_of
from contramem.monitor.pattern import parse_pattern
from contramem.traces.trajectory import Event

Watched: TypeAlias = tuple[Guard, str, str]
"""A guard with the id and the title of the card that it is of."""


@dataclass(frozen=True)
class Obligation:
    """A guard that matters now, and the card it is of."""

    guard: Guard
    card_id: str
    title: str
    state: State

    @property
    def text(self) -> str:
        """For the agent: what is owed, what went wrong, or else what must hold, in one sentence."""
        if self.state == "pending":
            return f"{_owed(self.guard)}."
        return f"{_broke(self.guard)}." if self.state == "broken" else self.guard.sentence


class GuardMonitor:
    """One run under some guards. Not for several threads at once. Work per event grows with what the event concerns,
    not with the number of guards: a call is shown only to the automata that hear its function."""

    def __init__(self, guards: Iterable[Watched], task: str) -> None:
        """The same guard of two cards is watched once."""
        self._account = ActionStream(task)
        self._cards: dict[Guard, tuple[str, str]] = {}
        for guard, card_id, title in guards:
            self._cards.setdefault(guard, (card_id, title))
        self.automata: tuple[Automaton, ...] = tuple(automaton(guard) for guard in self._cards)
        self._by_function = defaultdict[str, list[Automaton]](list)
        self._all_ears = [one for one in self.automata if one.hears is None]
        for one in self.automata:
            for function in one.hears or ():
                self._by_function[function].append(one)

    @classmethod
    def of_cards(cls, cards: Iterable[SkillCard], task: str) -> GuardMonitor:
        """Every guard of `cards` that can be read."""
        return cls([found for card in cards for found in guards_of_card(card)], task)

    def observe(self, event: Event) -> tuple[Obligation, ...]:
        """Take in what happened. What it broke for good comes back, once."""
        deed = self._account.deed(event)
        hearing = self._hearing(deed) if deed is not None else ()
        broken = [self._obligation(one) for one in hearing if deed is not None and one.observe(deed)]
        self._account.close(event)
        return tuple(broken)

    def would_break(self, call: Event) -> tuple[Obligation, ...]:
        """What this call, if it is made and works, would break for good. Nothing is taken in."""
        deed = EventAction(call, self._account.seen)
        return tuple(self._obligation(one) for one in self._hearing(deed) if one.would_break(deed))

    def pending(self) -> tuple[Obligation, ...]:
        """What is owed if the run is to end well: guards that stopping now would break."""
        return tuple(self._obligation(one) for one in self.automata if one.state == "pending")

    def obligations(self) -> tuple[Obligation, ...]:
        """Every guard as it stands now, in the order of `automata`."""
        return tuple(self._obligation(one) for one in self.automata)

    def _hearing(self, deed: Action) -> list[Automaton]:
        named = self._by_function.get(deed.function)
        return self._all_ears if not named else named + self._all_ears if self._all_ears else named

    def _obligation(self, one: Automaton) -> Obligation:
        return Obligation(one.guard, *self._cards[one.guard], one.state)


def guards_of_card(card: SkillCard) -> list[Watched]:
    """Every guard of a card that can be read."""
    return [(guard, card.card_id, card.title) for guard in guards_of(card.guards)]


def _broke(guard: Guard) -> str:
    """What was done that cannot be made good any more. The templates that are not here can always still be met."""
    first, then = _in_words(guard)
    same = f"the same `{guard.argument}`" if guard.argument else "the same arguments"
    said = {
        "absence": f"{first} happened",
        "at_most_once": f"{first} worked twice with {same}",
        "precedence": f"{then} came before {first} had worked",
        "not_succession": f"{then} came after {first} had worked",
        "known_value": f"{first} got a value for `{guard.argument}` that had been seen nowhere before",
    }[guard.template]
    return _capital(said)


def _in_words(guard: Guard) -> tuple[str, str]:
    return parse_pattern(guard.function).in_words(), parse_pattern(guard.then).in_words() if guard.then else ""


def _capital(said: str) -> str:
    return said if said.startswith("`") else f"{said[0].upper()}{said[1:]}"


def _owed(guard: Guard) -> str:
    """What to do about a pending guard."""
    first, then = _in_words(guard)
    said = {
        "existence": f"{first} is still to come",
        "response": f"{first} has worked; {then} is still to come",
        "precedence": f"{then} was refused; first {first}, then {then} again",
        "last": f"{first} has to come last",
        "known_value": f"{first} was refused; give it a `{guard.argument}` that the task or a result has shown",
        "covers": f"not every `{guard.field}` of {first} has been given to {then} yet",
    }[guard.template]
    return _capital(said)
