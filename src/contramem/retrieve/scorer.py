"""Scorer: scores cards against the words of a task. BM25 is one implementation; to use another, pass it to
`Retriever(make_scorer=...)` or name it in `DEFAULT_SCORER`. The index of a large bank is kept in memory-mapped files
beside it.
"""

from __future__ import annotations

import hashlib
import logging
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from contramem.bank.card import Card, FunctionCard
from contramem.retrieve.bm25 import Bm25, Fields
from contramem.retrieve.intent import acts_of, subjects_of
from contramem.retrieve.tokens import term, terms_of, tokenize
from contramem.whole_file import replacing

if TYPE_CHECKING:
    from contramem.retrieve.bm25 import Floats, Integers

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


# Stored indexes


MIN_CARDS = 10_000
"""Smaller banks are indexed in under a second, so their index is not stored."""
VERSION = b"contramem index 1\n"
"""Must be raised whenever fields, weights, terms or the file format change."""
MAX_FOUND_TERMS = 1 << 16
"""For so many terms is kept where their postings lie: looking for them takes as long as adding their scores."""
_TERM_BYTES = 4
_HEADER = struct.Struct(f"<{len(VERSION)}s16sQQQ")
"""Version, digest of the cards, and the number of documents, terms and postings."""

_logger = logging.getLogger(__name__)


def keep_index(make_scorer: ScorerMaker, folder: Path, content_sha256: str) -> ScorerMaker:
    """`make_scorer`, but with the index of a large bank stored in `folder`. Only indexes of `bm25` can be stored."""
    return StoredScorers(folder, content_sha256) if make_scorer is bm25 else make_scorer


class StoredScorers:
    """Makes scorers as `bm25` does, and stores large indexes in a folder."""

    def __init__(self, folder: Path, content_sha256: str, min_cards: int = MIN_CARDS) -> None:
        self._folder, self._content, self._min_cards = folder, content_sha256, min_cards

    def __call__(self, cards: Sequence[Card], requests: RequestWords) -> TermBm25:
        if len(cards) < self._min_cards:
            return bm25(cards, requests)
        name = self._name(cards)
        path = self._folder / f"{self._content[:12]}-{name.hex()}.index"
        stored = open_index(path, name)
        if stored is not None:
            return TermBm25(stored)
        scorer = bm25(cards, requests)
        try:
            self._folder.mkdir(exist_ok=True)
            write_index(path, name, scorer.index)
            self._remove_other_banks()
        except OSError as error:  # the index in memory is used instead
            _logger.info("%s: the index is not kept (%s)", path, error.strerror)
        return scorer

    def _remove_other_banks(self) -> None:
        for path in self._folder.glob("*.index"):
            if not path.name.startswith(self._content[:12]):
                path.unlink(missing_ok=True)

    def _name(self, cards: Sequence[Card]) -> bytes:
        """A digest of the bank and of the cards that are ranked against each other."""
        hasher = hashlib.blake2b(VERSION + self._content.encode(), digest_size=16)
        for card in cards:
            hasher.update(card.card_id.encode() + b"\n")
        return hasher.digest()


def write_index(path: Path, name: bytes, index: Bm25) -> None:
    """Write all postings, sorted by term."""
    import numpy

    terms = sorted(index.postings)
    lengths = numpy.array([len(index.postings[term][0]) for term in terms], dtype="<i8")
    ends = numpy.cumsum(lengths, dtype="<i8")
    postings = int(ends[-1]) if terms else 0
    with replacing(path) as file:
        file.write(_HEADER.pack(VERSION, name, len(index), len(terms), postings))
        file.write(numpy.array(terms, dtype=f"S{_TERM_BYTES}").tobytes())
        file.write(b"\0" * _padding(len(terms)))
        file.write(ends.tobytes())
        for part in (1, 0):
            for term in terms:
                file.write(index.postings[term][part].astype("<f8" if part else "<i8").tobytes())


def open_index(path: Path, name: bytes) -> MappedBm25 | None:
    """The index in a file; None if it is missing, damaged, or for other cards."""
    import numpy

    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
    except OSError:
        return None
    if len(header) < _HEADER.size:
        return None
    version, of_cards, documents, terms, postings = _HEADER.unpack(header)
    first = _HEADER.size
    ends = first + terms * _TERM_BYTES + _padding(terms)
    weights = ends + 8 * terms
    if version != VERSION or of_cards != name or size != weights + 16 * postings:
        return None
    # A plain array over the mapped file: slices of a `memmap` take several times as long to make.
    mapped = numpy.asarray(numpy.memmap(path, dtype=numpy.uint8, mode="r"))
    return MappedBm25(
        documents,
        mapped[first : first + terms * _TERM_BYTES].view(f"S{_TERM_BYTES}"),
        mapped[ends:weights].view("<i8"),
        mapped[weights : weights + 8 * postings].view("<f8"),
        mapped[weights + 8 * postings :].view("<i8"),
    )


def _padding(terms: int) -> int:
    """Bytes to add after the terms so that the numbers are aligned to eight bytes."""
    return -(_HEADER.size + terms * _TERM_BYTES) % 8


class _MappedPostings:
    """A mapping from term to postings that reads from the file."""

    def __init__(self, count: int, terms: Integers, ends: Integers, weights: Floats, documents: Integers) -> None:
        self._count = count
        self._terms, self._ends, self._weights, self._documents = terms, ends, weights, documents
        self._find_once = lru_cache(MAX_FOUND_TERMS)(self._find)

    def get(self, term: str, default: object = None) -> object:
        postings = self._find_once(term)
        return default if postings is None else postings

    def _find(self, term: str) -> tuple[Integers, Floats] | None:
        wanted = term.encode()
        place = int(self._terms.searchsorted(wanted))
        if place >= len(self._terms) or self._terms[place] != wanted:
            return None
        start, end = int(self._ends[place - 1]) if place else 0, int(self._ends[place])
        documents = self._documents[start:end]
        if not len(documents) or documents[0] < 0 or documents[-1] >= self._count:
            return None  # damaged: treat the term as absent
        return documents, self._weights[start:end]


class MappedBm25(Bm25):
    """BM25 over postings in a memory-mapped file."""

    def __init__(self, count: int, terms: Integers, ends: Integers, weights: Floats, documents: Integers) -> None:
        import numpy

        self._numpy = numpy
        self._count, self._background = count, BACKGROUND
        self._rows = {}
        self._postings = _MappedPostings(count, terms, ends, weights, documents)  # type: ignore[assignment]
