"""Scorer: scores cards against the words of a task. BM25 is one implementation; to use another, pass it to
`Retriever(make_scorer=...)` or name it in `DEFAULT_SCORER`."""

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
"""The weight of a word in each field; Function Cards have the last five fields. Chosen by measurement
(docs/retrieval.md). Evidence and completion are not searched."""

RequestWords: TypeAlias = Mapping[str, Sequence[str]]
"""By card id: the terms of each request that taught the card, or that was solved with the function."""


class Scorer(Protocol):
    """Scores a fixed sequence of cards. Immutable, so threads can share it."""

    @property
    def unit(self) -> float:
        """The scale of the scores. Floors of profiles are in this unit, so that they suit every scorer."""

    def scores(self, words: Sequence[str]) -> Floats:
        """The score of every card for a task with these words, by position; zero if they share nothing."""

    def explain(self, words: Sequence[str], document: int) -> dict[str, float]:
        """The contribution of each word to the score of one card, largest first. They add up to the score."""


ScorerMaker: TypeAlias = Callable[[Sequence[Card], RequestWords], Scorer]


def fields_of(card: Card) -> dict[str, str]:
    """The searchable fields of a card, without the requests that taught it."""
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
    """BM25 over hashed terms. Explanations use the words of the task."""

    index: Bm25

    @property
    def unit(self) -> float:
        return self.index.unit

    def scores(self, words: Sequence[str]) -> Floats:
        return self.index.scores([term(word) for word in words])

    def explain(self, words: Sequence[str], document: int) -> dict[str, float]:
        word_of = {term(word): word for word in reversed(words)}
        parts = self.index.explain([term(word) for word in words], document)
        return {word_of[hashed]: part for hashed, part in parts.items()}


def bm25(cards: Sequence[Card], requests: RequestWords) -> TermBm25:
    """BM25F over terms, with the fields of `WEIGHTS`: the default."""
    documents = [_terms(card, requests.get(card.card_id, ())) for card in cards]
    return TermBm25(Bm25.over_fields(documents, WEIGHTS, BACKGROUND))


def plain_bm25(cards: Sequence[Card], requests: RequestWords) -> Bm25:
    """The paper's scorer: title, applies_when, tags and core_rule as one text. Builds use it to find the neighbours of
    a new card, where stems and requests have not been evaluated."""
    searched = ("title", "applies_when", "tags", "core_rule", "name", "does")
    texts = (" ".join(text for field, text in fields_of(card).items() if field in searched) for card in cards)
    return Bm25([tokenize(text) for text in texts], BACKGROUND)


def _terms(card: Card, requests: Sequence[str]) -> Fields:
    """The index terms of a card by field. Function Cards also get word families, because a function often has little
    text beyond its name."""
    own = {field: [term(word) for word in tokenize(text)] for field, text in fields_of(card).items()}
    asked = [request_term for request in requests for request_term in terms_of(request)]
    if not isinstance(card, FunctionCard):
        return own | {"requests": asked}
    name = tokenize(card.function)
    families = {"subjects": map(term, subjects_of(name)), "acts": map(term, acts_of(name))}
    return own | {"asked": asked} | {field: list(terms) for field, terms in families.items()}
