"""CardTurns: when the card of a function is due before a call of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contramem.bank.card import FunctionCard
from contramem.retrieve.profiles import Profile


class CardTurns:
    """Which Function Cards a run has shown, and which of their functions have failed since. Cards go by their id."""

    def __init__(self) -> None:
        self.shown: set[str] = set()
        self._shown_again: set[str] = set()
        self._failed: set[str] = set()
        self._awaited: set[str] = set()
        """In profiles with a card before each call: cards that were shown, whose call has not been made since."""

    def has_failed(self, card_id: str) -> bool:
        """Has a call failed since the card was shown?"""
        return card_id in self._failed

    def take(self, card_id: str, *, before_each: bool) -> bool:
        """Is the card due now? If so, it counts as shown. It is due once a run and once more after a failure, or
        `before_each` call; then the call that follows its card gets through."""
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
        """A call of the card's function was made."""
        self._awaited.discard(card_id)
        if failed:
            self._failed.add(card_id)


def shows_before_call(card: FunctionCard, profile: Profile) -> bool:
    """Does the profile show this card before a call?"""
    if profile.before_call == "risky":
        return bool(card.side_effects or card.common_mistakes)
    return profile.before_call == "always"


def find_missing(card: FunctionCard, arguments: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Required arguments that a call lacks. Unknown arguments lack nothing."""
    if arguments is None:
        return ()
    return tuple(argument.name for argument in card.arguments if argument.required and argument.name not in arguments)
