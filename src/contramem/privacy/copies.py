"""Copies: does a text repeat what a tool, a request or a page said, eight words in a row, that is not public?

Such words may have told the author of a card to write them. Values count as one and the same word, whatever they are.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

import numpy as np

from contramem.collection.slots import leaves_of
from contramem.privacy.language import word_test
from contramem.privacy.public import Public, error_form
from contramem.traces.trajectory import Event, Trajectory

COPIED_WORDS = 8
MIN_ORDINARY_WORDS = 5
"""Of those in a row: a list of values is no sentence."""
MAX_CHARS = 200_000
_PIECE = re.compile(r"\w+(?:['’]\w+)*")


class Copies:
    """What runs were told, as sorted hashes: the texts of a hundred thousand runs would take gigabytes."""

    def __init__(self, runs: Iterable[Trajectory], public: Public) -> None:
        self._is_word = word_test(public.language)
        said, shared, read = array("q"), array("q"), set[str]()
        for text in (*public.sentences, *public.long_values):
            shared.extend(row for row, _ in rows_of_words(text, self._is_word))
        for run in runs:
            for text, is_shared in texts_told(run, public):
                if text not in read:
                    read.add(text)
                    (shared if is_shared else said).extend(row for row, _ in rows_of_words(text, self._is_word))
        left = np.setdiff1d(np.frombuffer(said, dtype=np.int64), np.frombuffer(shared, dtype=np.int64))
        self._said = frozenset(left.tolist()) if len(left) < 1 << 20 else left

    def find(self, text: str) -> str:
        """The first eight words that are a copy; empty if there are none."""
        return next((words for row, words in rows_of_words(text, self._is_word) if self._was_said(row)), "")

    def _was_said(self, row: int) -> bool:
        if isinstance(self._said, frozenset):
            return row in self._said
        place = int(np.searchsorted(self._said, row))
        return place < len(self._said) and int(self._said[place]) == row


def texts_told(run: Trajectory, public: Public) -> Iterator[tuple[str, bool]]:
    """What a run was told, and whether it is public: the request, what it was told before, results, messages of others
    and of the judge."""
    yield from ((text, False) for text in (run.task, run.system, run.outcome.feedback) if text)
    yield from ((shown.text, False) for shown in run.guidance)
    for event in run.events:
        if event.actor != "agent" and event.text and event.text != run.task:
            yield event.text, False
        yield from _results(event, public)


def _results(event: Event, public: Public) -> Iterator[tuple[str, bool]]:
    if event.result is None:
        return
    if error := event.result.error:
        yield error, (event.function, error_form(error)) in public.errors
    else:
        yield from ((value, False) for _, _, value in leaves_of(event.result.content) if isinstance(value, str))


def rows_of_words(text: str, is_word: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
    """Eight words in a row as a hash, and as they stand in the text."""
    found = _PIECE.findall(text[:MAX_CHARS])
    folded = [piece.casefold() if is_word(piece.casefold()) else "#" for piece in found]
    for start in range(len(found) - COPIED_WORDS + 1):
        row = folded[start : start + COPIED_WORDS]
        if COPIED_WORDS - row.count("#") >= MIN_ORDINARY_WORDS:
            digest = blake2b(" ".join(row).encode("utf-8", "replace"), digest_size=8).digest()
            yield int.from_bytes(digest, "little", signed=True), " ".join(found[start : start + COPIED_WORDS])
