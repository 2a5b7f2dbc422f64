"""CopiedTexts: does a card repeat what a result, an argument or a message of the runs says in so many words?

An author may have been told to by it. What only a program would write may be repeated; an error that runs of several
tasks got may be quoted, in quotation marks.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from contramem.contrast.program_message import is_program_message
from contramem.contrast.taint import texts_shown
from contramem.contrast.vocabulary import scalars
from contramem.study.run_set import RunSet
from contramem.traces.trajectory import Trajectory

COPIED_WORDS = 9
"""In a row. Of six, which the checks of packets ask for, authors share some with any long answer of an agent."""
COPIED_FOREIGN_WORDS = 4
"""In texts with other letters than ASCII: cards are in English, and share words with nothing but what they copy."""
_WORD = re.compile(r"\w+")
_QUOTATION = re.compile(r"\"([^\"]+)\"|“([^“”]+)”|(?<!\w)'((?:[^']|(?<=\w)'(?=\w))+)'(?!\w)")


class CopiedTexts:
    """What the runs say, as hashes: the texts of a hundred thousand runs would take gigabytes."""

    def __init__(self, run_set: RunSet) -> None:
        self._run_set = run_set

    def is_in(self, text: str) -> bool:
        """Does `text` repeat what runs say, outside of errors that it quotes?"""
        pieces = self._cut_quoted_errors(text)
        return any(self._was_said(hash(stretch)) for piece in pieces for stretch in stretches(piece))

    def _was_said(self, stretch: int) -> bool:
        said = self._hashes[0]
        place = int(np.searchsorted(said, stretch))
        return place < len(said) and said[place] == stretch

    def _cut_quoted_errors(self, text: str) -> Iterator[str]:
        """The pieces of `text` between its quotations of errors."""
        start = 0
        for quotation in _QUOTATION.finditer(text):
            quoted = {hash(stretch) for stretch in stretches(quotation[0])}
            if quoted and quoted <= self._hashes[1]:
                yield text[start : quotation.start()]
                start = quotation.end()
        yield text[start:]

    @cached_property
    def _hashes(self) -> tuple[npt.NDArray[np.int64], frozenset[int]]:
        """Of what anybody said, and of errors that runs of several tasks got."""
        seen, said = set[int](), array("q")
        first_task, shared = dict[int, str](), set[int]()
        for run in self._run_set.runs:
            recorded = run.trajectory
            for text in _texts_of(recorded):
                if hash(text) not in seen:
                    seen.add(hash(text))
                    said.extend(map(hash, stretches(text)))
            for stretch in map(hash, _stretches_of_errors(recorded)):
                if first_task.setdefault(stretch, run.task) != run.task:
                    shared.add(stretch)
        return np.unique(np.frombuffer(said, dtype=np.int64)), frozenset(shared)


@lru_cache(maxsize=1)
def texts_of(run_set: RunSet) -> CopiedTexts:
    """What some runs say. An author proposes one card after another, and reading all runs takes long."""
    return CopiedTexts(run_set)


def stretches(text: str) -> Iterator[tuple[str, ...]]:
    """Every stretch of so many words that no two people write it alike by chance."""
    words = _WORD.findall(text.casefold())
    is_foreign = not text.isascii() and any(char.isalpha() and not char.isascii() for char in text)
    size = COPIED_FOREIGN_WORDS if is_foreign else COPIED_WORDS
    return (tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def _stretches_of_errors(run: Trajectory) -> Iterator[tuple[str, ...]]:
    errors = (event.result.error for event in run.events if event.result is not None and event.result.error)
    return (stretch for error in errors for stretch in stretches(error))


def _texts_of(run: Trajectory) -> Iterator[str]:
    """All that anybody said in a run, but for the request and for what programs say about calls."""
    for event in run.events:
        quotable = event.result.error if event.result is not None else None
        quotable = quotable if quotable and is_program_message(quotable) else None
        yield from (text for text in texts_shown(event) if text != quotable)
        yield from (value for _, value in scalars(event.arguments) if isinstance(value, str))
        if event.text and event.text != run.task:
            yield event.text
