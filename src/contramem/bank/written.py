"""Decisions as a store keeps them: JSON texts, with what the tables' columns say.

A worker writes its decisions itself and sends the texts: the process that records them need not build each card again,
of which a card that a thousand tasks teach has a thousand versions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from contramem.bank.bank import BankEntry, Change
from contramem.bank.card import SkillCard
from contramem.bank.ledger import Decision


class WrittenChange(NamedTuple):
    """A change, its two sides as JSON."""

    before: str | None
    after: str
    row: dict[str, Any]
    """The card as a table row, without the card itself."""

    def __str__(self) -> str:
        return f'{{"before":{self.before or "null"},"after":{self.after}}}'

    @property
    def card_id(self) -> str:
        return str(self.row["card_id"])


class WrittenDecision(NamedTuple):
    """A decision that is ready to be recorded."""

    row: dict[str, Any]
    """The decision as a table row, without its number, time and seal."""
    changes: list[WrittenChange]
    card_ids: tuple[str, ...]
    """The cards that the decision changes or names."""


class DecisionWriter:
    """Writes decisions one after the other. Usually `before` is the entry that was written last, so it is not encoded
    again."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[BankEntry, str]] = {}
        """By card id: the entry that was written last, and its JSON."""

    def write(self, decision: Decision) -> WrittenDecision:
        row = {
            "operation": decision.operation,
            "accepted": decision.accepted,
            "ability": decision.ability,
            "author": str(decision.by),
            "decision": decision.model_dump_json(exclude={"changes"}),
        }
        return WrittenDecision(row, [self._write_change(change) for change in decision.changes], decision.card_ids)

    def _write_change(self, change: Change) -> WrittenChange:
        before = None if change.before is None else self._write_entry(change.before)
        return WrittenChange(before, self._write_entry(change.after), describe_card(change.after))

    def _write_entry(self, entry: BankEntry) -> str:
        card_id = entry.card.card_id
        last, written = self._last.get(card_id, (None, ""))
        if last is not entry:
            written = entry.model_dump_json()
            self._last[card_id] = (entry, written)
        return written


def describe_card(entry: BankEntry) -> dict[str, Any]:
    """A card as a table row, without the card itself."""
    card = entry.card
    return {
        "card_id": card.card_id,
        "kind": "skill" if isinstance(card, SkillCard) else "function",
        "ability": card.ability if isinstance(card, SkillCard) else None,
        "status": entry.status,
        "version": card.version,
    }


def card_row(entry: BankEntry) -> dict[str, Any]:
    """A card as a table row."""
    return describe_card(entry) | {"holding": entry.model_dump_json()}
