"""Differences between two cards or two banks, field by field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from contramem.bank.bank import Bank
from contramem.bank.card import Card, same_text
from contramem.bank.frozen import FrozenCard


class FieldDifference(NamedTuple):
    """A field whose text differs. Nested fields are written `skill.core_rule`."""

    field: str
    left: str
    right: str


@dataclass(frozen=True)
class CardDifference:
    """A card that both banks serve, with different texts."""

    left: Card
    right: Card

    @property
    def fields(self) -> tuple[FieldDifference, ...]:
        return field_differences(self.left, self.right)


@dataclass(frozen=True)
class BankDifference:
    """How the served cards differ. A card that only one side serves is added or removed."""

    added: tuple[Card, ...]
    removed: tuple[Card, ...]
    changed: tuple[CardDifference, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def as_json(self) -> dict[str, Any]:
        return {
            "added": [card.card_id for card in self.added],
            "removed": [card.card_id for card in self.removed],
            "changed": [
                {"card_id": pair.left.card_id, "fields": {name: [left, right] for name, left, right in pair.fields}}
                for pair in self.changed
            ],
        }


def bank_difference(left: Bank, right: Bank) -> BankDifference:
    """The changes that turn the cards of `left` into those of `right`."""
    before = {card.card_id: card for card in left.cards}
    after = {card.card_id: card for card in right.cards}
    return BankDifference(
        added=tuple(card for card in right.cards if card.card_id not in before),
        removed=tuple(card for card in left.cards if card.card_id not in after),
        changed=tuple(
            CardDifference(card, after[card.card_id])
            for card in left.cards
            if card.card_id in after and not same_text(card, after[card.card_id])
        ),
    )


def field_differences(left: Card | FrozenCard, right: Card | FrozenCard) -> tuple[FieldDifference, ...]:
    """The fields in which two cards differ, ignoring their versions."""
    before, after = dict(_flat(left.model_dump())), dict(_flat(right.model_dump()))
    names = [name for name in before | after if name != "version"]
    pairs = (FieldDifference(name, before.get(name, ""), after.get(name, "")) for name in names)
    return tuple(pair for pair in pairs if pair.left != pair.right)


def _flat(fields: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, tuple):
            yield f"{prefix}{name}", "\n".join(_item(item) for item in value)
        else:
            yield f"{prefix}{name}", "" if value is None else str(value)


def _item(value: Any) -> str:
    return " | ".join(str(part) for part in value.values()) if isinstance(value, dict) else str(value)
