"""The Skill Cards of a bank that may still change, and rewording them."""

from __future__ import annotations

from typing import NamedTuple

from contramem.bank.bank import Bank, BankEntry, CardSupport, Status
from contramem.bank.card import SkillCard, SkillDelta
from contramem.build.rules.rule import Rule, load_rule


class LearningCard(NamedTuple):
    """A Skill Card with its evidence."""

    card: SkillCard
    rule: Rule | None
    """The rule its text was generated from. None: a model or a person wrote the text, or a version that stored no
    rules."""
    support: CardSupport
    status: Status


def learning_cards(bank: Bank, ability: str) -> list[LearningCard]:
    """The cards of an ability that are not retired, by id. Muted cards keep learning."""
    return [learning_card(entry) for entry in _entries_of(bank, ability)]


def authored_cards(bank: Bank, ability: str) -> list[LearningCard]:
    """The same without cards that are mined from all runs at once, and decided on there."""
    return [learning_card(entry) for entry in _entries_of(bank, ability) if not is_mined(entry)]


def is_mined(entry: BankEntry) -> bool:
    """Was the card mined from all runs at once?"""
    return entry.rule is not None


def _entries_of(bank: Bank, ability: str) -> list[BankEntry]:
    return [
        entry
        for _, entry in sorted(bank.entries.items())
        if isinstance(entry.card, SkillCard) and entry.card.ability == ability and entry.status != "retired"
    ]


def learning_card(entry: BankEntry) -> LearningCard:
    """A Skill Card of the bank, whatever its status."""
    assert isinstance(entry.card, SkillCard)
    return LearningCard(entry.card, load_rule(entry.rule), entry.support, entry.status)


def rewrite(card: SkillDelta, **changes: object) -> SkillDelta:
    """The card's text with some fields changed."""
    fields = {name: getattr(card, name) for name in SkillDelta.model_fields}
    return SkillDelta(**(fields | changes))
