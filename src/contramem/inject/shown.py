"""What a run was shown: which cards, how, and what may still come. run_monitor.py has the guards of those cards."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from contramem.bank.card import FunctionCard, SkillCard
from contramem.inject.guidance import Guidance
from contramem.retrieve.hit import FunctionNames, Query
from contramem.retrieve.profiles import Profile
from contramem.retrieve.retriever import Retriever
from contramem.traces.effects import effect_of
from contramem.traces.shell import shell_call
from contramem.traces.trajectory import Event

if TYPE_CHECKING:
    from contramem.inject.enforcement import Enforcement, Stop
    from contramem.inject.run_monitor import RunMonitor

# Function Cards


class CardTurns:
    """The Function Cards that a run was shown, and which of their functions failed since. Cards are given by id."""

    def __init__(self) -> None:
        self.shown: set[str] = set()
        self._shown_again: set[str] = set()
        self._failed: set[str] = set()
        self._awaited: set[str] = set()
        """For profiles with a card before each call: cards that were shown and whose call has not been made yet."""

    def has_failed(self, card_id: str) -> bool:
        """Whether a call failed since the card was shown."""
        return card_id in self._failed

    def take(self, card_id: str, *, before_each: bool) -> bool:
        """Whether to show the card now; if so, it counts as shown. It is due once per run and once more after a
        failure, or `before_each` call, where the call that follows the card is let through."""
        is_due = self._is_due_before_each(card_id) if before_each else self._is_due(card_id)
        if is_due:
            self.shown.add(card_id)
            self._failed.discard(card_id)
        return is_due

    def _is_due(self, card_id: str) -> bool:
        has_failed = card_id in self._failed
        is_due = card_id not in self.shown or (has_failed and card_id not in self._shown_again)
        if is_due and has_failed:
            self._shown_again.add(card_id)
        return is_due

    def _is_due_before_each(self, card_id: str) -> bool:
        is_due = card_id not in self._awaited
        (self._awaited.add if is_due else self._awaited.discard)(card_id)
        return is_due

    def note_call(self, card_id: str, *, failed: bool) -> None:
        """Record that the card's function was called."""
        self._awaited.discard(card_id)
        if failed:
            self._failed.add(card_id)


def shows_before_call(card: FunctionCard, profile: Profile) -> bool:
    """Whether the profile shows this card before a call."""
    if profile.before_call == "risky":
        return bool(card.side_effects or card.common_mistakes)
    return profile.before_call == "always"


def find_missing(card: FunctionCard, arguments: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Required arguments that a call lacks; none if the arguments are unknown."""
    if arguments is None:
        return ()
    return tuple(argument.name for argument in card.arguments if argument.required and argument.name not in arguments)


# Skill Cards


class ShownSkills:
    """Guards of all shown cards are monitored. Cards that were shown as a sentence demand nothing at the end of a run:
    no word of the request says that they are for it. Not thread-safe."""

    def __init__(self, retriever: Retriever, query: Query, enforcement: Enforcement) -> None:
        self._retriever, self._query, self._enforcement = retriever, query, enforcement
        self.in_full: set[str] = set()
        """Ids of cards, of functions too."""
        self._cards: dict[str, SkillCard] = {}

    def add(self, guidance: Guidance, cards: Iterable[SkillCard]) -> None:
        """Note that `guidance` shows these cards."""
        new = [card for card in cards if card.card_id not in self._cards]
        self._cards |= {card.card_id: card for card in new}
        self.in_full.update(set(guidance.card_ids).difference(guidance.listed))
        if "monitor" in self.__dict__:
            self.monitor.add(new)

    @property
    def have_guards(self) -> bool:
        return any(card.guards for card in self._cards.values())

    @cached_property
    def monitor(self) -> RunMonitor:
        from contramem.inject.run_monitor import RunMonitor  # parsing guards takes time, and many runs never ask

        return RunMonitor(self._cards.values(), self._query.task, self.in_full, self._enforcement.allowed)

    @property
    def ids(self) -> Collection[str]:
        """Of the skills that were shown in full or as a sentence."""
        return self._cards.keys()

    def find_objecting(self, call: Event) -> list[SkillCard]:
        """The cards with a guard on how, when or whether to make this call that it goes against, if they were not shown
        in full."""
        advising = self._retriever.advising(call.function or "", self._query)
        return self.monitor.select_objecting([card for card in advising if card.card_id not in self.in_full], call)

    def find_stop(self, call: Event) -> Stop | None:
        """Whether a card, shown or not, stops the call."""
        advising = self._retriever.advising(call.function or "", self._query)
        cards = {card.card_id: card for card in (*self._cards.values(), *advising)}
        return self._enforcement.decide(self.monitor.objections_of(list(cards.values()), call), cards)


# Calls by the names that guards use


def name_fully(event: Event, names: FunctionNames) -> Event:
    """The event with the function name that guards use."""
    command = shell_call(event.function, event.arguments)
    named = names.full_name(command.function if command else event.function)
    if named == event.function and event.effect != "unknown":
        return event
    return msgspec.structs.replace(event, function=named, effect=command.effect if command else effect_of(named))


def make_call(function: str, arguments: Mapping[str, Any] | None, names: FunctionNames) -> Event:
    return name_fully(Event(0, "agent", "call", function=function, arguments=dict(arguments or {})), names)
