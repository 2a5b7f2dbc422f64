"""Which Skill Cards go on learning, and how their words are changed."""

from __future__ import annotations

from contramem.bank.bank import Add, Bank
from contramem.bank.card import Skill, SkillCard, SkillDelta
from contramem.build.learning import learning_cards, rewrite


def delta(title: str) -> SkillDelta:
    skill = Skill(core_rule=f"Do {title}.", completion=("done",))
    return SkillDelta(title=title, applies_when="Always.", solves="Nothing.", skill=skill, tags=("a",))


def bank_of(*titles: str) -> Bank:
    bank = Bank()
    for title in titles:
        bank = bank.apply(Add(delta_index=0, new_or_updated_card=delta(title), reason="New."), "desk")
    return bank


def test_cards_of_the_ability_learn_until_they_are_retired() -> None:
    bank = bank_of("first", "second", "third")
    by_title = {entry.card.title: entry for entry in bank.entries.values() if isinstance(entry.card, SkillCard)}
    statuses = {"first": "muted", "second": "retired", "third": "active"}
    entries = {
        entry.card.card_id: entry.model_copy(update={"status": statuses[title]}) for title, entry in by_title.items()
    }
    assert {card.card.title for card in learning_cards(Bank(entries), "desk")} == {"first", "third"}
    assert learning_cards(Bank(entries), "kitchen") == []


def test_rewriting_keeps_the_other_fields() -> None:
    (entry,) = bank_of("first").entries.values()
    assert isinstance(entry.card, SkillCard)
    changed = rewrite(entry.card, title="better")
    assert (changed.title, changed.tags, changed.skill) == ("better", ("a",), entry.card.skill)
