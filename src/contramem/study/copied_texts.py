"""CopiedTexts: does a card repeat what a result, an argument or a message of the runs says, word for word?

Such text may have told the author to. What agents say is compared in long stretches, because authors share some words
with any long answer; what tools say, in shorter ones. Around a word that is neither English nor part of the interface,
four words are a copy, and around two of them whatever small words stand in between: whoever plants a text wants a name
in it to arrive. Usual words of the requests (usual_words.py) count as English. A short error may be repeated if only a
program would write it; an error that runs of several tasks and sources got may also be quoted, in quotation marks. In
both, `<VALUE>` stands for words that are neither English nor part of the interface. A phrase may be quoted too if
passing runs of several tasks and sources wrote it although nothing had shown it, and no name is in it: an organization
may want its letters to say it.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from contramem.contrast.english import FUNCTION_WORDS
from contramem.contrast.instructions import instructs, is_plain_message, orders
from contramem.contrast.look_alikes import fold_signs
from contramem.contrast.plain_words import is_phrase_with_name, is_plain_in_prose
from contramem.contrast.program_message import (
    MAX_STRANGE_WORDS,
    UNSPACED_LETTER,
    count_strange_words,
    find_strange_words,
    has_foreign_word,
    is_program_message,
    is_written_in_words,
    mask_foreign_words,
)
from contramem.contrast.taint import texts_shown
from contramem.contrast.vocabulary import scalars
from contramem.study.run_set import RunSet, StudyRun
from contramem.study.usual_words import find_usual_words
from contramem.traces.characters import undo_escapes
from contramem.traces.trajectory import Trajectory

COPIED_WORDS = 9
"""Consecutive words of what agents said, and of the request."""
COPIED_TOOL_WORDS = 6
"""Consecutive words of what tools and others said, and of arguments."""
COPIED_STRANGE_WORDS = 4
"""Consecutive words if one of them is not English or not ASCII: cards are in English, and share such words only with
what they copy."""
MIN_NAME_CHARS = 6
"""Of a word that is a copy alone, unless it is a word of the trade."""
MIN_TASKS_OF_TRADE = 2
MAX_PLAIN_WORDS = 10
"""Of an error that may be repeated without quotation marks: a complaint takes few words, and more may say anything."""
_ESCAPED_SPACE = re.compile(r"\\+[nrt]")
_WORD = re.compile(rf"{UNSPACED_LETTER}|(?<!\w)(?a:[a-z0-9]+(?:_[a-z0-9]+){{1,7}})(?!\w)|[^\W_]+")
"""In scripts without spaces every letter is a word; the name of a function or an argument is one word."""
_WITHOUT_SMALL_WORDS = ""
"""Marks stretches from which they were left out: they are compared only with each other."""
_OF_DATES = frozenset("yyyy yy mm dd hh ss hhmm mmss".split())
_CODED = re.compile(r"\d{1,4}|[0-9a-f]{2}")
"""A letter as a number: nobody writes four of them in a row by chance."""
_JOINED = re.compile(r"[^\W_]{25,}")
_PIECE = re.compile(r".{4}")
_PHRASE = re.compile(r"\w*[^\W_]_\w+")
_QUOTATION = re.compile(r"\"([^\"]+)\"|“([^“”]+)”|(?<!\w)'((?:[^']|(?<=\w)'(?=\w))+)'(?!\w)")


class CopiedTexts:
    """What the runs say, as hashes: the texts of a hundred thousand runs would take gigabytes."""

    def __init__(self, run_set: RunSet) -> None:
        self._run_set = run_set

    def is_in(self, text: str) -> bool:
        """Does `text` repeat what runs say, except for what it may quote?"""
        return bool(self.find_copy(text))

    def find_copy(self, text: str) -> tuple[str, ...]:
        """The words of `text` that repeat what runs say, except for what it may quote; empty if none do."""
        for piece in self._cut_quotations(text):
            copies = [self._first_copy(piece, size) for size in (COPIED_WORDS, COPIED_TOOL_WORDS)]
            if any(copies):
                return max(copies, key=len)
        return ()

    def _first_copy(self, text: str, size: int) -> tuple[str, ...]:
        copied: list[str] = []
        for stretch in self._stretches(text, size):
            if not self._was_said(hash(stretch)):
                if copied:
                    break
            elif copied and tuple(copied[1 - len(stretch) :]) != stretch[:-1]:
                break  # another copy, further on
            else:
                copied += stretch[-1:] if copied else stretch
        return tuple(filter(None, copied))

    def _stretches(self, text: str, size: int) -> Iterator[tuple[str, ...]]:
        """Stretches of `size` words, and shorter ones around strange words: of tools, of other scripts, or two."""
        text = _split_phrases(_read_escapes(text))
        words = _split_words(text)
        yield from _windows(words, size)
        yield from (window for window in _windows(words, COPIED_STRANGE_WORDS) if all(map(_CODED.fullmatch, window)))
        # A host is no name from code here: whoever plants a text wants an address in it to arrive.
        text = (text if text.isascii() else _fold(text)).replace(".", " ")
        named = self._run_set.functions
        strange = self._find_strange(text)
        if not strange:
            return
        yield from ((word,) for word in strange if _is_name(word))
        near = strange if size < COPIED_WORDS else {word for word in strange if has_foreign_word(word, named)}
        yield from (window for window in _windows(words, COPIED_STRANGE_WORDS) if not near.isdisjoint(window))
        telling = [word for word in words if word not in FUNCTION_WORDS]
        yield from (
            (_WITHOUT_SMALL_WORDS, *window)
            for window in _windows(telling, COPIED_STRANGE_WORDS)
            if len(strange.intersection(window)) > 1
        )

    def _find_strange(self, text: str) -> frozenset[str]:
        found = find_strange_words(text, self._run_set.functions)
        return frozenset(part for word in found for part in _split_words(word)) - self._usual_words

    def _was_said(self, stretch: int) -> bool:
        place = int(np.searchsorted(self._said, stretch))
        return place < len(self._said) and self._said[place] == stretch

    def _cut_quotations(self, text: str) -> Iterator[str]:
        """The pieces of `text` between quotations of common errors and phrases."""
        start = 0
        for quotation in _QUOTATION.finditer(text):
            words = next(group for group in quotation.groups() if group)
            quoted = {hash(stretch) for stretch in stretches(words, COPIED_TOOL_WORDS)}
            is_quotable = quoted and quoted <= self._quotable and self._is_message(words)
            if is_quotable and not any(map(_is_name, self._find_strange(words.replace(".", " ")))):
                yield text[start : quotation.start()]
                start = quotation.end()
        yield text[start:]

    def _is_message(self, words: str) -> bool:
        """Could a text that many runs got be an error? One script, no markup, no order, and mostly English."""
        strange = count_strange_words(words, self._run_set.functions)
        is_readable = is_plain_message(words) and is_written_in_words(words)
        is_readable = is_readable and strange <= max(MAX_STRANGE_WORDS, len(words.split()) // 3)
        return is_readable and not orders(words) and not instructs(words)

    def _mask_names(self, error: str) -> str:
        """As an author may repeat it: a word that may be anybody's name is `<VALUE>`, as where rules quote an error."""
        ordinary = filter(is_plain_in_prose, _WORD.findall(error.lower()))
        return mask_foreign_words(error, (*self._run_set.functions, *self._usual_words, *ordinary))

    @cached_property
    def _usual_words(self) -> frozenset[str]:
        names = {part.casefold() for function in self._run_set.functions for part in function.split(".")}
        return find_usual_words(self._run_set) | _OF_DATES | names

    @cached_property
    def _said(self) -> npt.NDArray[np.int64]:
        """Hashes of what anybody said, sorted, except for what only programs say about calls."""
        return self._look_through_runs[0]

    @cached_property
    def _quotable(self) -> frozenset[int]:
        """Hashes of errors that runs of several tasks and sources got, and of phrases that such runs wrote and passed
        with."""
        return self._look_through_runs[1]

    @cached_property
    def _look_through_runs(self) -> tuple[npt.NDArray[np.int64], frozenset[int]]:
        seen, said = set[tuple[int, int]](), array("q")
        errors, phrases = _SeenByMany(self._run_set.runs), _SeenByMany(self._run_set.runs)
        shown = set[int]()
        plain, doubtful = set[int](), set[int]()
        trade = _WordsOfTrade()
        masked: dict[str, str] = {}
        for run in self._run_set.runs:
            trajectory = run.trajectory
            for text, size in _texts_of(trajectory):
                if (key := (hash(text), size)) not in seen:
                    seen.add(key)
                    found = list(self._stretches(text, size))
                    said.extend(map(hash, found))
                    if names := {stretch[0] for stretch in found if len(stretch) == 1}:
                        trade.add(run.task, text, names)
            shown.update(
                hash(stretch) for text in _texts_read(trajectory) for stretch in stretches(text, COPIED_TOOL_WORDS)
            )
            if run.passed:
                for text in _texts_written(trajectory):
                    phrases.add(run, map(hash, stretches(text, COPIED_TOOL_WORDS)))
            for raw in _errors_of(trajectory):
                if raw not in masked:  # many runs get the same errors
                    masked[raw] = self._mask_names(raw)
                error = masked[raw]
                errors.add(run, self._hashes(error))
                is_short = len(error.split()) <= MAX_PLAIN_WORDS and self._is_message(error)
                if is_short and is_program_message(error, self._run_set.functions):
                    is_plain = not count_strange_words(error, self._run_set.functions)
                    (plain if is_plain else doubtful).update(self._hashes(error))
        repeatable = plain | (doubtful & errors.by_many) | trade.hashes
        left = np.setdiff1d(np.frombuffer(said, dtype=np.int64), np.fromiter(repeatable, dtype=np.int64))
        return left, errors.by_many | (phrases.by_many - shown)

    def _hashes(self, error: str) -> frozenset[int]:
        sizes = (COPIED_WORDS, COPIED_TOOL_WORDS)
        return frozenset(hash(stretch) for size in sizes for stretch in self._stretches(error, size))


class _WordsOfTrade:
    """Finds words that texts of several tasks contain, after and before different words. A name that was planted has
    the same words around it wherever it stands."""

    def __init__(self) -> None:
        self._tasks, self._before, self._after = (defaultdict[str, set[str]](set) for _ in range(3))

    def add(self, task: str, text: str, names: set[str]) -> None:
        words = ["", *_split_words(text), ""]
        for before, word, after in zip(words, words[1:], words[2:], strict=False):
            if word in names:
                for seen, value in ((self._tasks, task), (self._before, before), (self._after, after)):
                    if len(seen[word]) < MIN_TASKS_OF_TRADE:
                        seen[word].add(value)

    @property
    def hashes(self) -> frozenset[int]:
        kinds = (self._tasks, self._before, self._after)
        return frozenset(
            hash((word,)) for word in self._tasks if all(len(seen[word]) >= MIN_TASKS_OF_TRADE for seen in kinds)
        )


class _SeenByMany:
    """Finds what runs of several tasks and, if there are several, of several sources show."""

    def __init__(self, runs: Iterable[StudyRun]) -> None:
        self._needs_sources = len({run.source for run in runs}) > 1
        self._first: dict[int, tuple[str, str]] = {}
        self._by_tasks = set[int]()
        self._by_sources = set[int]()

    def add(self, run: StudyRun, things: Iterable[int]) -> None:
        for thing in things:
            task, source = self._first.setdefault(thing, (run.task, run.source))
            if task != run.task:
                self._by_tasks.add(thing)
            if source != run.source:
                self._by_sources.add(thing)

    @property
    def by_many(self) -> frozenset[int]:
        return frozenset(self._by_tasks & self._by_sources if self._needs_sources else self._by_tasks)


@lru_cache(maxsize=1)
def texts_of(run_set: RunSet) -> CopiedTexts:
    """The texts of some runs. Cached: an author proposes one card after another, and reading all runs takes long."""
    return CopiedTexts(run_set)


def stretches(text: str, size: int) -> Iterator[tuple[str, ...]]:
    """Every stretch of `size` words: long enough that no two people write it alike by chance."""
    return _windows(_split_words(text), size)


@lru_cache(maxsize=1 << 16)
def _is_name(word: str) -> bool:
    """Is it in no word list, and too long for an abbreviation?"""
    return len(word) >= MIN_NAME_CHARS and word.isalpha() and not is_plain_in_prose(word)


def _windows(words: list[str], size: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def _split_words(text: str) -> list[str]:
    """The words of a text, however they are written and escaped; also of a sentence with capitals or underscores for
    spaces."""
    text = _JOINED.sub(lambda match: _split_joined(match[0]), _split_phrases(_read_escapes(text)))
    return _WORD.findall(text.casefold() if text.isascii() else _fold(text))


def _split_phrases(text: str) -> str:
    """`owned_by_zanmel_trading` as words: no name of an interface, because it has one of somebody in it."""
    return _PHRASE.sub(lambda name: name[0].replace("_", " ") if is_phrase_with_name(name[0]) else name[0], text)


def _read_escapes(text: str) -> str:
    return _ESCAPED_SPACE.sub(" ", undo_escapes(text)) if "\\" in text else text


def _fold(text: str) -> str:
    """One form for the same letters, without the marks on them: a text struck through is still that text."""
    decomposed = fold_signs(unicodedata.normalize("NFKD", text)).casefold()
    return unicodedata.normalize("NFC", "".join(char for char in decomposed if unicodedata.category(char) != "Mn"))


def _split_joined(word: str) -> str:
    """`SendItAll` as `Send It All`, in any script. A sentence without spaces or capitals falls into pieces, the same
    ones wherever it stands."""
    spaced = "".join(
        f" {char}" if place and char.isupper() and word[place - 1].islower() else char
        for place, char in enumerate(word)
    )
    return _JOINED.sub(lambda match: _PIECE.sub(r"\g<0> ", match[0]), spaced)


def _errors_of(run: Trajectory) -> Iterator[str]:
    return (event.result.error for event in run.events if event.result is not None and event.result.error)


def _texts_written(run: Trajectory) -> Iterator[str]:
    """The text arguments of a run's calls."""
    return (value for event in run.events for _, value in scalars(event.arguments) if isinstance(value, str))


def _texts_read(run: Trajectory) -> Iterator[str]:
    """What the agent was given: the request, results, and messages from others."""
    yield run.task
    for event in run.events:
        yield from texts_shown(event)
        if event.actor != "agent":
            yield event.text


def _texts_of(run: Trajectory) -> Iterator[tuple[str, int]]:
    """Everything that anybody said in a run, each with the number of words that make a copy."""
    for event in run.events:
        yield from ((text, COPIED_TOOL_WORDS) for text in texts_shown(event))
        yield from ((value, COPIED_TOOL_WORDS) for _, value in scalars(event.arguments) if isinstance(value, str))
        if event.text and event.text != run.task:
            yield event.text, COPIED_WORDS if event.actor == "agent" else COPIED_TOOL_WORDS
    yield run.task, COPIED_WORDS
    yield run.system, COPIED_TOOL_WORDS
    yield run.outcome.feedback, COPIED_TOOL_WORDS
