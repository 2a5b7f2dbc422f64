"""Stored index: the postings of a large bank in memory-mapped files beside it, so that processes share one copy.

The name of a file depends on the cards it indexes and on the version of this code, so that no other bank uses it. Files
are written atomically, and a damaged one is rebuilt. Small banks are indexed in memory, which takes only a moment.
"""

from __future__ import annotations

import hashlib
import logging
import struct
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from contramem.bank.card import Card
from contramem.retrieve.bm25 import Bm25
from contramem.retrieve.scorer import BACKGROUND, RequestWords, ScorerMaker, TermBm25, bm25
from contramem.whole_file import replacing

if TYPE_CHECKING:
    from contramem.retrieve.bm25 import Floats, Integers

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
