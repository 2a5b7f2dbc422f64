"""BM25 over token lists, with fields: a sparse index, its sums, and which term gave what.

numpy is imported when the first index is made: whoever only looks up a card by name never waits for it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy
    import numpy.typing as npt

    Floats = npt.NDArray[numpy.float64]
    Integers = npt.NDArray[numpy.int64]

K1 = 1.5
B = 0.75
_FREQUENT = 1 / 8  # of the documents: a term that more of them have is summed as a row over all documents
_ONLY = "text"

Fields: TypeAlias = Mapping[str, Sequence[str]]
"""A document: the words of each of its fields."""


class Bm25:
    """An index that does not change. Document numbers are positions in `documents`.

    The formula is Lucene's: sum over query terms of idf * tf / (tf + k1), idf = ln(1 + (N - df + 0.5) / (df + 0.5)),
    so that no term counts against a document; tf = count / (1 - b + b * length / mean length). A term that the query
    repeats counts as often as it is there. With fields it is BM25F (Zaragoza et al. 2004): tf is the sum over fields of
    weight times the tf of that field, each with lengths of its own, so that a term in two fields saturates once.

    N is the number of documents plus `background`: documents about other things, with none of these terms. In a small
    bank about one subject every card has the words of that subject, and by its own count they would be worth nothing.
    """

    def __init__(self, documents: Sequence[Sequence[str]], background: int = 0) -> None:
        self._build([{_ONLY: document} for document in documents], {_ONLY: 1.0}, background)

    @classmethod
    def over_fields(cls, documents: Sequence[Fields], weights: Mapping[str, float], background: int = 0) -> Bm25:
        """Fields without a weight are not searched; a document without a field is not measured by its length."""
        index = cls.__new__(cls)
        index._build(documents, weights, background)
        return index

    def _build(self, documents: Sequence[Fields], weights: Mapping[str, float], background: int) -> None:
        import numpy

        self._numpy = numpy
        self._count, self._background = len(documents), background
        self._rows: dict[str, Floats] = {}
        self._postings: dict[str, tuple[Integers, Floats]] = {}
        for term, frequencies in _frequencies(documents, weights).items():
            idf = self._idf(len(frequencies), background)
            having = numpy.fromiter(frequencies, dtype=numpy.int64)
            frequency = numpy.fromiter(frequencies.values(), dtype=numpy.float64)
            self._postings[term] = having, idf * frequency / (frequency + K1)

    def __len__(self) -> int:
        return self._count

    @property
    def unit(self) -> float:
        """The idf of a term that a single document has: the scale of scores in this index, whatever its size."""
        return self._idf(1, self._background) if self._count else 0.0

    @property
    def postings(self) -> Mapping[str, tuple[Integers, Floats]]:
        """By term: the numbers of the documents that have it, and what it gives each."""
        return self._postings

    def _idf(self, having: int, background: int) -> float:
        return math.log(1 + (self._count + background - having + 0.5) / (having + 0.5))

    def scores(self, query: Sequence[str]) -> Floats:
        """The score of every document.

        Most postings of a query are those of its few frequent words. Adding a whole row for each of these is many
        times faster than adding posting by posting, which is left for the rare ones: all in all a third of the time
        of bm25s' own loop over terms, which gives the same numbers (benchmarks/recall).
        """
        numpy, postings, many = self._numpy, self._postings, self._count * _FREQUENT
        documents: list[Integers] = []
        weights: list[Floats] = []
        rows: list[Floats] = []
        for term, times in Counter(query).items():
            if (posting := postings.get(term)) is None:
                continue
            if len(posting[0]) > many:
                rows.append(_times(self._row(term, *posting), times))
            else:
                documents.append(posting[0])
                weights.append(_times(posting[1], times))
        summed: Floats = (
            numpy.bincount(numpy.concatenate(documents), numpy.concatenate(weights), minlength=self._count)
            if documents
            else numpy.zeros(self._count)
        )
        for row in rows:
            summed += row
        return summed

    def _row(self, term: str, documents: Integers, weights: Floats) -> Floats:
        """The weights of a frequent term by document. Kept: such terms are few, and asked for often."""
        row = self._rows.get(term)
        if row is None:
            row = self._numpy.zeros(self._count)
            row[documents] = weights
            self._rows[term] = row
        return row

    def explain(self, query: Sequence[str], document: int) -> dict[str, float]:
        """What each term gave `document`, largest first. The parts add up to its score."""
        parts: dict[str, float] = {}
        for term, times in Counter(query).items():
            documents, weights = self._postings.get(term, ((), ()))
            place = int(self._numpy.searchsorted(documents, document))
            if place < len(documents) and documents[place] == document:
                parts[term] = float(weights[place]) * times
        return dict(sorted(parts.items(), key=lambda part: (-part[1], part[0])))


def _frequencies(documents: Sequence[Fields], weights: Mapping[str, float]) -> dict[str, dict[int, float]]:
    """By term and document number, in order: how often the term stands there, weighed by field and length."""
    lengths = {field: [len(document[field]) for document in documents if document.get(field)] for field in weights}
    mean = {field: sum(own) / len(own) for field, own in lengths.items() if own}
    frequencies = defaultdict[str, dict[int, float]](dict)
    for number, document in enumerate(documents):
        for field in mean:
            words = document.get(field, ())
            norm = 1 - B + B * len(words) / mean[field]
            for term, count in Counter(words).items():
                of_term = frequencies[term]
                of_term[number] = of_term.get(number, 0.0) + weights[field] * count / norm
    return frequencies


def _times(weights: Floats, times: int) -> Floats:
    return weights if times == 1 else weights * times
