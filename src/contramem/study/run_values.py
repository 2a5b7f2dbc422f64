"""RunValues: which words of a card are values of the runs, and which could be anybody's words.

Conventions are allowed on a card: a value that passing runs of several tasks used although neither the request nor a
result had shown it belongs to the organization (`finance-lead`), and so do words in fields of several tasks
(`overdue`). Ordinary English and words of the interface are allowed too, whatever field contained them (`Refund`,
`Read`), unless they are somebody's name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from contramem.contrast.english import ORDINARY_STEMS, is_ordinary, stem
from contramem.contrast.ordinary import ORDINARY_WORDS
from contramem.contrast.values import is_time, kind_of_text
from contramem.guards.actions import Action
from contramem.guards.results import walk
from contramem.guards.values import plain_text
from contramem.study.atoms import is_word
from contramem.study.run_set import RunSet, StudyRun
from contramem.traces.effects import words

MAX_VALUE_WORDS, MAX_VALUE_CHARS = 4, 60
MAX_CATEGORIES = 6
MIN_TASKS_OF_CATEGORY = 3
_NAMING = frozenset("name names title subject label user owner sender author customer company street city".split())
"""Words of fields that say who or what something is."""
_TOKEN = re.compile(r"[\w@][\w@.'’\-]*")
_WORD = re.compile(r"[^\W\d_]+")
_ABBREVIATION = re.compile(r"(?<![\w@./\-])[A-Z]{2,5}(?![\w@/\-]|\.\w)")
_ENDS_SENTENCE = re.compile(r"[.!?:;“\"(]\s*$|(?<!\w)['‘]$")


class RunValues:
    """The values that runs passed and received, with the tasks they belong to."""

    def __init__(self, run_set: RunSet) -> None:
        self._run_set = run_set

    def find_private(self, text: str) -> Iterator[str]:
        """Each stretch of `text` that is a value of the runs and neither a convention nor an ordinary word."""
        tokens = list(_TOKEN.finditer(text))
        for start in range(len(tokens)):
            opens = _opens_sentence(text, tokens[start].start())
            for end in range(min(start + MAX_VALUE_WORDS, len(tokens)), start, -1):
                piece = text[tokens[start].start() : tokens[end - 1].end()].rstrip(".'’")
                if (_could_identify(piece, opens) and self._is_private(piece, opens)) or self._is_somebody(piece):
                    yield piece
                    break

    def is_in_name(self, word: str) -> bool:
        """Is the word part of a name or an address: `ada` of `Ada Byron` and of `ada.byron@home.example`?"""
        return hash(word) in self._contents.name_parts

    def _is_private(self, piece: str, opens: bool) -> bool:
        value = plain_text(piece)
        if hash(value) not in self._contents.seen or value in self.conventions:
            return False
        return hash(value) in self._contents.people or not self._is_only_a_word(piece, opens)

    def _is_somebody(self, piece: str) -> bool:
        """Is this, in lower case, the name of a person?"""
        if not piece.islower() or hash(piece) not in self._contents.single_names:
            return False
        return not self._is_only_a_word(piece, opens=True) and piece not in self.conventions

    def _is_only_a_word(self, piece: str, opens: bool) -> bool:
        """A word that reveals nothing about a task, although some field of a run contained it."""
        word = piece.lower()
        if not word.isalpha():
            return False
        if stem(word) in ORDINARY_STEMS or word in self._interface_words:
            return True
        return (opens and word in ORDINARY_WORDS) or piece in self._abbreviations

    @property
    def conventions(self) -> frozenset[str]:
        """Values that passing runs of several tasks made up, and words in fields of several tasks."""
        return self._contents.conventions

    @cached_property
    def convention_words(self) -> frozenset[str]:
        return frozenset(word for value in self.conventions for word in value.split())

    @cached_property
    def _contents(self) -> _RunContents:
        """Read once: runs of a large set are on disk."""
        seen, people, single, shared = set[int](), set[int](), set[int](), _SharedValues()
        categories, name_parts = _Categories(), set[int]()
        for run in self._run_set.runs:
            for call in run.recorded.calls:
                for role, value in texts_of_call(call):
                    text = plain_text(value)
                    seen.add(hash(text))
                    name_parts.update(map(hash, _parts_of_name(value)))
                    if value[:1].isupper() and kind_of_text(value, role) == "PERSON":
                        people.update(map(hash, (text, *text.split())))
                        single.update([hash(text)] if text.isalpha() else [])
                for value in _possible_conventions(call, run) if run.passed is not None else ():
                    shared.add(plain_text(value), run.task)
                categories.add(call, run.task)
        people -= set(map(hash, self._interface_words))
        conventions = frozenset(shared.values | categories.find())
        return _RunContents(frozenset(seen), frozenset(people), frozenset(single), conventions, frozenset(name_parts))

    @cached_property
    def _interface_words(self) -> frozenset[str]:
        return frozenset(word.lower() for name in self._run_set.functions for word in words(name))

    @cached_property
    def _abbreviations(self) -> frozenset[str]:
        """Short words in capitals that occur in requests of several tasks: `CRM`."""
        shared = _SharedValues()
        for profile in self._run_set.profiles:
            for word in _ABBREVIATION.findall(profile.text):
                shared.add(word, profile.task)
        return frozenset(shared.values)


class _RunContents(NamedTuple):
    """What all runs contain, as hashes: the values of a hundred thousand runs would take gigabytes."""

    seen: frozenset[int]
    """All short texts."""
    people: frozenset[int]
    """Names of people, from arguments and fields that contain them: `Mark Lee`, `Mark` and `Lee` from a `sender`."""
    single_names: frozenset[int]
    """Those that are a single word: `Mark` if a `sender` is called just that."""
    conventions: frozenset[str]
    name_parts: frozenset[int]


class _SharedValues:
    """Values that occur in several tasks."""

    def __init__(self) -> None:
        self._first_task: dict[str, str] = {}
        self.values = set[str]()

    def add(self, value: str, task: str) -> None:
        if len(value) <= MAX_VALUE_CHARS and self._first_task.setdefault(value, task) != task:
            self.values.add(value)


class _Categories:
    """Fields that hold one of a few words in every task: the `network` of a partner, not the `name`."""

    def __init__(self) -> None:
        self._tasks = defaultdict[tuple[str, str], dict[str, set[str]]](lambda: defaultdict(set))
        """By function and field, the values with some of their tasks."""

    def add(self, call: Action, task: str) -> None:
        for path, value in walk(call.result()):
            role = "_".join(path)
            if not is_word(value) or not str(value).istitle() or _NAMING.intersection(words(role)):
                continue
            values = self._tasks[call.function, role]
            if len(values) <= MAX_CATEGORIES and len(values[plain_text(value)]) < MIN_TASKS_OF_CATEGORY:
                values[plain_text(value)].add("" if kind_of_text(str(value), role) == "PERSON" else task)

    def find(self) -> set[str]:
        """The words of such fields that several tasks show."""
        closed = [values for values in self._tasks.values() if len(values) <= MAX_CATEGORIES]
        return {value for values in closed for value, tasks in values.items() if len(tasks) >= MIN_TASKS_OF_CATEGORY}


@lru_cache(maxsize=1)
def values_of(run_set: RunSet) -> RunValues:
    """The values of some runs. Cached: an author proposes one card after another, and reading all runs takes long."""
    return RunValues(run_set)


def texts_of_call(call: Action) -> Iterator[tuple[str, str]]:
    """The short texts in a call's arguments and result, each with the path of field names."""
    values: Iterable[tuple[tuple[str, ...], Any]] = (
        *(((name,), value) for name, value in call.arguments.items()),
        *walk(call.result()),
    )
    for path, value in values:
        if isinstance(value, str) and 2 < len(value) <= MAX_VALUE_CHARS:
            yield "_".join(path), value


@lru_cache(maxsize=4096)
def _parts_of_name(value: str) -> tuple[str, ...]:
    """The words in it that may belong to a name: those with a capital, and those that are joined to others."""
    is_joined = " " not in value and not value.isalpha()
    return tuple(word.lower() for word in _WORD.findall(value) if is_joined or not word.islower())


def _possible_conventions(call: Action, run: StudyRun) -> Iterator[Any]:
    """What a passing run made up, and words in fields. Capitalised words only if they are ordinary and nobody's
    name."""
    for name, value in call.arguments.items() if run.passed and call.worked else ():
        if call.origin(name) in ("nowhere", None):
            yield value
    for path, value in walk(call.result()):
        if is_word(value) and (not str(value).istitle() or _is_category(str(value), "_".join(path))):
            yield value


def _is_category(value: str, role: str) -> bool:
    """`Completed` of a `status` is one; `Mark` of a `sender` is not."""
    return is_ordinary(value) and kind_of_text(value, role) != "PERSON"


def _opens_sentence(text: str, start: int) -> bool:
    return start == 0 or _ENDS_SENTENCE.search(text[:start]) is not None


def _could_identify(piece: str, opens: bool) -> bool:
    """Capitals inside a sentence, digits and symbols may identify something; plain words, dates and times do not."""
    if is_time(piece):
        return False
    if re.search(r"[\d@]", piece):
        return True
    capitals = [word for word in piece.split() if word[:1].isupper()]
    return len(capitals) > (1 if opens else 0) or (opens and len(capitals) == 1 and " " not in piece)
