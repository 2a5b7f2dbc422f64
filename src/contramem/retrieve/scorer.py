"""Scorer: how well the words of a task fit each card. BM25 is one; another is a file beside
this one, given to `Retriever(make_scorer=...)` or named in `DEFAULT_SCORER`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from contramem.bank.card import Card, FunctionCard
from contramem.retrieve.bm25 import Bm25, Fields
from contramem.retrieve.families import acts_of, subjects_of
from contramem.retrieve.terms import term, terms_of
from contramem.retrieve.tokens import tokenize

if TYPE_CHECKING:
    from contramem.retrieve.bm25 import Floats

BACKGROUND = 30
WEIGHTS: Mapping[str, float] = {
    "title": 1.0,
    "applies_when": 1.0,
    "tags": 1.0,
    "core_rule": 0.5,
    "functions": 0.5,
    "requests": 1.0,
    "name": 1.0,
    "does": 1.0,
    "asked": 0.3,
    "subjects": 0.5,
    "acts": 0.25,
}
"""What a word counts in each field; Function Cards have the last five. Chosen by measurement (docs/retrieval.md).
Evidence and completion are read after a card is found, not searched."""

RequestWords: TypeAlias = Mapping[str, Sequence[str]]
"""By card id: the terms of each request that taught the card, or those that go with a function."""


class Scorer(Protocol):
    """Scores a fixed sequence of cards. It never changes after it was made, so threads share it."""

    @property
    def unit(self) -> float:
        """The scale of the scores: floors of profiles are in this unit, so that they hold for every scorer."""

    def scores(self, words: Sequence[str]) -> Floats:
        """The score of every card for a task with these words, by position. Zero: nothing in common."""

    def explain(self, words: Sequence[str], document: int) -> dict[str, float]:
        """What each word gave the card at this position, largest first. The parts add up to its score."""


ScorerMaker: TypeAlias = Callable[[Sequence[Card], RequestWords], Scorer]


def fields_of(card: Card) -> dict[str, str]:
    """What a card is found by, beside the requests that taught it."""
    if isinstance(card, FunctionCard):
        return {"name": card.tool, "does": card.what_it_does}
    return {
        "title": card.title,
        "applies_when": card.applies_when,
        "tags": " ".join(card.tags),
        "core_rule": card.skill.core_rule,
        "functions": " ".join(function.rpartition(".")[2] for function in card.functions_used),
    }


@dataclass(frozen=True)
class TermBm25:
    """BM25 over the terms of words. It explains itself in the words of the task."""

    index: Bm25

    @property
    def unit(self) -> float:
        return self.index.unit

    def scores(self, words: Sequence[str]) -> Floats:
        return self.index.scores([term(word) for word in words])

    def explain(self, words: Sequence[str], document: int) -> dict[str, float]:
        word_of = {term(word): word for word in reversed(words)}
        parts = self.index.explain([term(word) for word in words], document)
        return {word_of[found]: part for found, part in parts.items()}


def bm25(cards: Sequence[Card], requests: RequestWords) -> TermBm25:
    """Terms, with the fields of `WEIGHTS`: what contramem uses."""
    documents = [_terms(card, requests.get(card.card_id, ())) for card in cards]
    return TermBm25(Bm25.over_fields(documents, WEIGHTS, BACKGROUND))


def plain_bm25(cards: Sequence[Card], requests: RequestWords) -> Bm25:
    """The paper's: title, applies_when, tags and core_rule as one text. It finds the neighbours of a new card while a
    bank is built, where stems and requests have not been tried."""
    searched = ("title", "applies_when", "tags", "core_rule", "name", "does")
    texts = (" ".join(text for field, text in fields_of(card).items() if field in searched) for card in cards)
    return Bm25([tokenize(text) for text in texts], BACKGROUND)


def _terms(card: Card, requests: Sequence[str]) -> Fields:
    """Skills are in the words of people already; of a function there is often little more than its name, so that it is
    found by its families too."""
    own = {field: [term(word) for word in tokenize(text)] for field, text in fields_of(card).items()}
    asked = [found for request in requests for found in terms_of(request)]
    if not isinstance(card, FunctionCard):
        return own | {"requests": asked}
    name = tokenize(card.function)
    families = {"subjects": map(term, subjects_of(name)), "acts": map(term, acts_of(name))}
    return own | {"asked": asked} | {field: list(terms) for field, terms in families.items()}
