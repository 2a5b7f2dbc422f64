"""Banks of any size that read like a real one, for the benchmarks of retrieval and of the server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import Card, FunctionCard, SkillCard
from contramem.retrieve.scorer import fields_of


def bank_of(size: int, cards: Sequence[Card], rng: Random) -> Bank:
    """`size` cards, a third of them functions, that read like `cards` with some of their words replaced."""
    words = Words(cards, size, rng)
    functions = [card for card in cards if isinstance(card, FunctionCard)]
    skills = [card for card in cards if isinstance(card, SkillCard)]
    made: list[Card] = []
    for number in range(size):
        if number % 3 == 0:
            made.append(function_like(rng.choice(functions), number, words))
        else:
            made.append(skill_like(rng.choice(skills), number, words))
    return Bank({card.card_id: BankEntry(card=card) for card in made})


def function_like(card: FunctionCard, number: int, words: Words) -> FunctionCard:
    app, function = f"{card.app}{number % 40}", f"{card.function}_{number}"
    fields = {"tool": f"{app}.{function}", "app": app, "function": function, "card_id": f"function::{app}.{function}"}
    return card.model_copy(update=fields | {"what_it_does": words.mix(card.what_it_does)})


def skill_like(card: SkillCard, number: int, words: Words) -> SkillCard:
    rule = card.skill.model_copy(update={"core_rule": words.mix(card.skill.core_rule)})
    fields = {"title": words.mix(card.title)[:120], "applies_when": words.mix(card.applies_when), "skill": rule}
    return card.model_copy(update={"card_id": f"skill::{number:07}", **fields})


class Words:
    """Words of the real cards, drawn as often as they stand there, and made-up ones so that rare words stay rare."""

    def __init__(self, cards: Iterable[Card], size: int, rng: Random) -> None:
        self._real = [word for card in cards for word in " ".join(fields_of(card).values()).split()]
        self._made = [f"{rng.choice(self._real).strip('.,:`')}{number}x" for number in range(size // 2)]
        self._rng = rng

    def mix(self, text: str) -> str:
        drawn = (self._draw(word) for word in text.split())
        return " ".join(drawn)[:600]

    def _draw(self, word: str) -> str:
        lot = self._rng.random()
        if lot < 0.6:
            return word
        return self._rng.choice(self._real) if lot < 0.85 or not self._made else self._rng.choice(self._made)
