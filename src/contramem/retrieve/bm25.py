"""BM25 over token lists: bm25s makes the index, a few lines sum it and say which term gave what.

bm25s and numpy are imported when the first index is made: whoever only looks up a card by name never waits for them.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy
    import numpy.typing as npt

    Floats = npt.NDArray[numpy.float64]
    Integers = npt.NDArray[numpy.int64]

K1 = 1.5
B = 0.75
_FREQUENT = 1 / 8  # of the documents: a term that more of them have is summed as a row over all documents


class Bm25:
    """An index that does not change. Document numbers are positions in `documents`.

    The formula is Lucene's: sum over query terms of idf * tf / (tf + k1 * (1 - b + b * length / mean length)), with
    idf = ln(1 + (N - df + 0.5) / (df + 0.5)), so that no term counts against a document. A term that the query
    repeats counts as often as it is there.

    N is the number of documents plus `background`: documents about other things, with none of these terms. In a small
    bank about one subject every card has the words of that subject, and by its own count they would be worth nothing.
    """

    def __init__(self, documents: Sequence[Sequence[str]], background: int = 0) -> None:
        import bm25s  # type: ignore[import-untyped]
        import numpy

        _quiet_bm25s()
        self._numpy = numpy
        self._count, self._background = len(documents), background
        self._postings: dict[str, tuple[Integers, Floats]] = {}
        self._rows: dict[str, Floats] = {}
        # Sorted, so that the same documents give the same index in every process.
        terms = {term: number for number, term in enumerate(sorted({term for doc in documents for term in doc}))}
        if not terms:  # an empty bank, or cards without a single word: bm25s refuses to index nothing
            return
        engine = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64")
        numbers = [[terms[term] for term in document] for document in documents]
        engine.index((numbers, terms), create_empty_token=False, show_progress=False)
        weights, bounds = engine.scores["data"], engine.scores["indptr"].tolist()
        documents_of = engine.scores["indices"].astype(numpy.int64)  # what bincount would make of them each time
        for term, number in terms.items():
            stretch = slice(bounds[number], bounds[number + 1])
            found = documents_of[stretch]
            worth = self._idf(len(found), background) / self._idf(len(found), 0) if background else 1.0
            self._postings[term] = found, weights[stretch] * worth

    def __len__(self) -> int:
        return self._count

    @property
    def unit(self) -> float:
        """The idf of a term that a single document has: the scale of scores in this index, whatever its size."""
        return self._idf(1, self._background) if self._count else 0.0

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
            if (found := postings.get(term)) is None:
                continue
            if len(found[0]) > many:
                rows.append(_times(self._row(term, *found), times))
            else:
                documents.append(found[0])
                weights.append(_times(found[1], times))
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


def _times(weights: Floats, times: int) -> Floats:
    return weights if times == 1 else weights * times


def _quiet_bm25s() -> None:
    """bm25s sets its logger to DEBUG on import; a user's log must not fill with "Building index from IDs"."""
    logger = logging.getLogger("bm25s")
    if logger.level == logging.DEBUG:
        logger.setLevel(logging.WARNING)
