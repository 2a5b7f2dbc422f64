"""Task words: words of requests, as conditions under which a function is needed or not wanted.

The words of a request tell which function it needs: "largest files" needs `list_files`, and a channel of which only the
beginning is named needs `get_channels`. A request has many words, and any of them can tell a few tasks apart, so only
words that name something about the function count, alone or beside another. Values and names are left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from contramem.guards.values import write_value
from contramem.retrieve.tokens import singular, stem
from contramem.study.atoms import Atom
from contramem.study.kinds import wording_of
from contramem.study.masks import Mask
from contramem.study.run_set import StudyRun
from contramem.traces.effects import words as words_of_name

MIN_LETTERS = 4
_EMPTY = frozenset(
    """also another based because been being below both come could does done down each even ever every find first
    following from given going great have help here hello however into just know last least less like list look made
    make many mind more most much must name need needed next only other over perform please possible provide really
    right same should since some soon sure take task tasks tell than thank thanks that their them then there these they
    thing this those through today together tomorrow until very want wants were what when where whether which while will
    wish with would year your""".split()
)
"""Words common to all sorts of requests."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_GENERIC = frozenset("get list search find read check show view fetch by in to for all id of the from with and".split())


class TaskWords:
    """The words and adjacent pairs of words of some requests, by the words of the interface that they contain."""

    def __init__(self, runs: Sequence[StudyRun]) -> None:
        self._every = (1 << len(runs)) - 1
        self._texts: dict[str, str] = {}
        self._places = defaultdict[str, Mask](int)
        self._by_stem = defaultdict[str, set[str]](set)
        for place, run in enumerate(runs):
            self._places[run.task] |= 1 << place
        for run in {run.task: run for run in runs}.values():
            text = run.trajectory.task
            self._texts[run.task] = text.casefold()
            for phrase in _phrases(text):
                for word in phrase.split(" "):
                    self._by_stem[stem(singular(word))].add(phrase)

    def about(self, function: str, *, max_words: int = 2) -> list[Atom]:
        """The conditions on the request that name something about the function, fewest words first."""
        phrases = {
            phrase
            for word in _name_words(function)
            for phrase in self._by_stem.get(stem(singular(word)), ())
            if phrase.count(" ") < max_words
        }
        by_mask: dict[Mask, str] = {}
        for phrase in sorted(phrases, key=lambda phrase: (phrase.count(" "), len(phrase), phrase)):
            mask = sum(self._places[task] for task, text in self._texts.items() if phrase in text)
            if 0 < mask < self._every:
                by_mask.setdefault(mask, phrase)
        return [Atom(f"task contains {write_value(phrase)}", mask, len(by_mask)) for mask, phrase in by_mask.items()]

    def not_naming(self, function: str) -> list[Atom]:
        """The conditions that the request lacks a word of the function's name: nothing asks for the call."""
        atoms = []
        for word in _name_words(function):
            mask = sum(self._places[task] for task, text in self._texts.items() if word not in text)
            if 0 < mask < self._every:
                atoms.append(Atom(f"task lacks {write_value(word)}", mask, 1))
        return atoms


def _name_words(function: str) -> list[str]:
    return [word for word in words_of_name(function.rpartition(".")[2]) if word not in _GENERIC]


@lru_cache(maxsize=4096)  # asked again for each kind of task
def _phrases(text: str) -> tuple[str, ...]:
    """Ordinary words, and adjacent pairs of them, as the request writes them."""
    wording = wording_of(text)
    plain = [match for match in _WORD.finditer(text) if _is_plain(match[0], wording)]
    pairs = [pair for pair in pairwise(plain) if text[pair[0].end() : pair[1].start()] == " "]
    return *(match[0] for match in plain), *(f"{first[0]} {second[0]}" for first, second in pairs)


def _is_plain(word: str, wording: frozenset[str]) -> bool:
    """Lower case, so not a name; not common to all requests; and not part of a quoted value."""
    if not word.islower() or len(word) < MIN_LETTERS or word in _EMPTY:
        return False
    return word in wording or word.removesuffix("s") in wording or word.removesuffix("es") in wording
