"""Scorer: how well the words of a task fit each card. BM25 is one; another is a file beside bm25.py and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from contramem.bank.card import Card, FunctionCard
from contramem.retrieve.bm25 import Bm25
from contramem.retrieve.tokens import tokenize

if TYPE_CHECKING:
    from contramem.retrieve.bm25 import Floats

BACKGROUND = 30
"""Chosen by measurement (docs/retrieval.md)."""


class Scorer(Protocol):
    """Scores a fixed sequence of cards. It never changes after it was made, so threads share it."""

    @property
    def unit(self) -> float:
        """The scale of the scores: floors of profiles are in this unit, so that they hold for every scorer."""

    def scores(self, words: Sequence[str]) -> Floats:
        """The score of every card for a task with these words, by position. Zero: nothing in common."""

    def explain(self, words: Sequence[str], document: int) -> dict[str, float]:
        """What each word gave the card at this position, largest first. The parts add up to its score."""


ScorerMaker: TypeAlias = Callable[[Sequence[Card]], Scorer]


def document(card: Card) -> str:
    """What a card is found by. Evidence and completion are read after it is found, not searched."""
    if isinstance(card, FunctionCard):
        return f"{card.tool} {card.what_it_does}"
    return f"{card.title} {card.applies_when} {' '.join(card.tags)} {card.skill.core_rule}"


def bm25(cards: Sequence[Card]) -> Scorer:
    return Bm25([tokenize(document(card)) for card in cards], BACKGROUND)


SCORERS: Mapping[str, ScorerMaker] = {"bm25": bm25}
"""By name."""
