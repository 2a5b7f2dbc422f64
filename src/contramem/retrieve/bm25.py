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


class Bm25:
    """An index that does not change. Document numbers are positions in `documents`.

    The formula is Lucene's: sum over query terms of idf * tf / (tf + k1 * (1 - b + b * length / mean length)), with
    idf = ln(1 + (N - df + 0.5) / (df + 0.5)), so that no term counts against a document. A term that the query
    repeats counts as often as it is there.
    """

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        import bm25s  # type: ignore[import-untyped]
        import numpy

        _quiet_bm25s()
        self._numpy = numpy
        self._count = len(documents)
        # Sorted, so that the same documents give the same index in every process.
        self._terms = {term: number for number, term in enumerate(sorted({term for doc in documents for term in doc}))}
        if not self._terms:  # an empty bank, or cards without a single word: bm25s refuses to index nothing
            return
        engine = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64")
        numbers = [[self._terms[term] for term in document] for document in documents]
        engine.index((numbers, self._terms), create_empty_token=False, show_progress=False)
        self._weights: Floats = engine.scores["data"]
        self._documents: Integers = engine.scores["indices"]
        self._starts: list[int] = engine.scores["indptr"].tolist()

    def __len__(self) -> int:
        return self._count

    @property
    def unit(self) -> float:
        """The idf of a term that a single document has: the scale of scores in this index, whatever its size."""
        return math.log(1 + (self._count - 0.5) / 1.5) if self._count else 0.0

    def scores(self, query: Sequence[str]) -> Floats:
        """The score of every document, in one sum over all postings.

        bm25s' own loop over terms gives the same numbers; this takes 0.55 of its time at 256 cards, 0.72 at 9,000, and
        the same at 90,000 (AgentDojo tasks as queries), and counts a repeated word once with its weight.
        """
        numpy = self._numpy
        spans = self._spans(query)
        if not spans:
            none: Floats = numpy.zeros(self._count)
            return none
        documents = numpy.concatenate([self._documents[start:end] for _, start, end, _ in spans])
        all_weights = self._weights
        weights = numpy.concatenate(
            [all_weights[start:end] if times == 1 else all_weights[start:end] * times for _, start, end, times in spans]
        )
        summed: Floats = numpy.bincount(documents, weights, minlength=self._count)
        return summed

    def explain(self, query: Sequence[str], document: int) -> dict[str, float]:
        """What each term gave `document`, largest first. The parts add up to its score."""
        parts: dict[str, float] = {}
        for term, start, end, times in self._spans(query):
            place = start + int(self._numpy.searchsorted(self._documents[start:end], document))
            if place < end and self._documents[place] == document:
                parts[term] = float(self._weights[place]) * times
        return dict(sorted(parts.items(), key=lambda part: (-part[1], part[0])))

    def _spans(self, query: Sequence[str]) -> list[tuple[str, int, int, int]]:
        """Per known term of `query`: the term, its stretch of the postings, and how often the query has it."""
        terms, starts = self._terms, self._starts if self._terms else []
        return [
            (term, starts[number], starts[number + 1], times)
            for term, times in Counter(query).items()
            if (number := terms.get(term)) is not None
        ]


def _quiet_bm25s() -> None:
    """bm25s sets its logger to DEBUG on import; a user's log must not fill with "Building index from IDs"."""
    logger = logging.getLogger("bm25s")
    if logger.level == logging.DEBUG:
        logger.setLevel(logging.WARNING)
