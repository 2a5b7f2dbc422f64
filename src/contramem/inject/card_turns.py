"""CardTurns: decides when the card of a function is shown before a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contramem.bank.card import FunctionCard
from contramem.retrieve.profiles import Profile


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
