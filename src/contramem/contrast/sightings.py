"""The values of one task as its runs show them, and the placeholder of each.

Whatever fills an argument or a field is a value. Something found only in prose may be a common word with a capital
letter; that is decided after everything has been seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from contramem.contrast.form import parse_recorded
from contramem.contrast.placeholder_types import TYPES, ValueKind, names_where
from contramem.contrast.spans import spans
from contramem.contrast.speech import speech_of
from contramem.contrast.value_keys import Key, classify_value, compose_accents, keys_of_number, short_key, span_key
from contramem.contrast.vocabulary import Vocabulary, scalars
from contramem.privacy.language import is_common, is_ordinary
from contramem.traces.effects import words
from contramem.traces.trajectory import Event, Trajectory

MAX_SCANNED_CHARS = 20_000
"""Maximum length of a text without fields. Longer texts are described by their form and never shown."""

MIN_NAME_CHARS = 2
"""A single letter names nobody."""
_PLAIN_PHRASE = re.compile(r"[a-z]+(?: [a-z]+){0,2}")
_WORDED = names_where(lambda type_: type_.is_written_in_words)
_RANK = {type_.name: rank for rank, type_ in enumerate(TYPES)}
_KEYLESS = frozenset({"TIME", "OPENING"})
_CAPITALISED = frozenset({"NAME", "OPENING"})
_BEFORE_HEADING = re.compile(r"(?:^|\n)[\s\d.()>•-]*(?:#+|\*\*|__)[\s\d.():]*(?:[A-Z][a-z]+ ){0,2}\Z")
_AFTER_HEADING = re.compile(r"[^\n*_]{0,80}(?:\*\*|__|\n|\Z)")
_BEFORE_LABEL = re.compile(r"(?:^|\n)[\s\d.()>•*|-]*\Z")
_AFTER_LABEL = re.compile(r"\**(?::|[ \t]*(?:\n|\Z))")
MAX_BEFORE_HEADING = 60
_MARKS_AFTER = ".,;?!)"
_MAY_BE_PLAIN = names_where(lambda type_: type_.is_written_in_words and type_.name != "ADDRESS")
"""Types of which an ordinary word reveals nothing. A place, a person or an identifier may have any name."""

Span: TypeAlias = tuple[int, int, str, Key | None]
"""A stretch of a text with its kind and key; None for dates and for words that only open a sentence."""


class Sightings:
    """What the runs of one task show, processed in a fixed order so that placeholder numbers are reproducible."""

    def __init__(self, runs: Iterable[Trajectory], vocabulary: Vocabulary) -> None:
        self._kinds: dict[Key, ValueKind] = {}
        self.originals: dict[Key, str] = {}
        """Each value as first written."""
        self._fields: set[Key] = set()
        """Values that filled an argument or a field, and so are certainly values."""
        self._listed = vocabulary.listed_words
        """Words that tools list as permitted."""
        self._plain: set[Key] = set()
        """Ordinary words that filled an argument or a field."""
        self._kept: set[Key] = set()
        """Words of a closed vocabulary that filled an argument or a field (`XL`): readable there, so in prose too."""
        self._openings: dict[str, None] = {}
        """Capitalised words that open a sentence; which of them are names is decided once everything has been seen."""
        self._tokens: set[str] = set()
        """The words of all texts. A capitalised word that also occurs in lower case is not a proper noun."""
        self.interface: set[str] = set()
        """Names of functions, arguments and fields."""
        self._found: dict[str, list[Span]] = {}
        # Needed only while the runs are read; not kept.
        self._vocabulary, self._scanned = vocabulary, set[tuple[str, ...]]()
        for run in runs:
            self._see_text(run.task)
            for event in run.events:
                self._see_event(event)
            self._see_text(run.outcome.feedback)
        del self._vocabulary, self._scanned
        self._interface_words = {word for name in self.interface for word in words(name)}
        for name in self._openings:
            self._see_opening(name)
        self.names: dict[Key, str] = self._number_names()
        """The placeholder of each value."""

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_found": {}}

    def find_spans(self, text: str) -> list[Span]:
        """Everything in a text that looks like a value, whether or not it is one."""
        cached = self._found.get(text)
        if cached is None:
            cached = self._found[text] = [
                (start, end, kind, None if kind in _KEYLESS else short_key(text[start:end], kind))
                for start, end, kind in spans(text)
            ]
        return cached

    def add_text(self, text: str) -> None:
        """Add a text after everything else has been seen. Known values keep their placeholders."""
        for start, end, kind, key in self.find_spans(compose_accents(text)):
            original = text[start:end]
            if kind == "OPENING":
                original = original[self.name_start(original) :]
                kind, key = "NAME", span_key(original, "NAME")
            if key is not None and key not in self._kinds and original:
                self._note(key, kind, original)  # type: ignore[arg-type]
                if self._is_surely_a_value(key, kind):  # type: ignore[arg-type]
                    number = 1 + sum(name.startswith(f"<{kind}_") for name in self.names.values())
                    self.names[key] = f"<{kind}_{number}>"

    def is_plain(self, key: Key) -> bool:
        """Does this word stay readable: permitted by a tool, or ordinary? Not if it is capitalised and also filled a
        person's field."""
        if key.numeric is None and (key.text in self._listed or (key in self._kept and key not in self._fields)):
            return True
        return key in self._plain and (key not in self._fields or self.originals[key].islower())

    def name_start(self, opening: str) -> int:
        """`Invite Dora` is about Dora: if the first word only opens the sentence, the name begins after it."""
        first, _, rest = opening.partition(" ")
        follows = self._is_common(first.lower()) or span_key(rest, "NAME") in self._kinds
        return len(first) + 1 if follows else 0

    def _see_event(self, event: Event) -> None:
        function = event.function
        if function:
            self.interface.add(function)
            self.interface.update(event.arguments)
            self._see_arguments(event)
        if event.text:
            self._see_text(event.text)
        if event.result is not None:
            self._see_result(event)

    def _see_arguments(self, event: Event) -> None:
        if speech := speech_of(event):  # an agent's speech is not a value
            self._see_text(speech)
            return
        for name, argument in event.arguments.items():
            for role, value in scalars(argument, name):
                self._see_value(event.function, role, value)

    def _see_result(self, event: Event) -> None:
        assert event.result is not None
        content, error = event.result.content, event.result.error
        if error:
            # An error is the tool's own wording, not a value of the task: only the values it names are replaced.
            self._see_text(error)
            return
        if isinstance(content, str):
            if (event.function, content) in self._scanned:
                return
            self._scanned.add((event.function, content))
        parsed = parse_recorded(content)
        self.interface.update(parsed.form.fields)
        for field, value in parsed.leaves:
            self._see_value(event.function, field, value, returned=True)
        if not parsed.leaves and len(parsed.prose) <= MAX_SCANNED_CHARS:
            self._see_text(parsed.prose)

    def _see_value(self, function: str, role: str, value: object, returned: bool = False) -> None:
        if type(value) is str:  # runs of one task mostly see the same values; each is looked at once
            if (function, role, value) in self._scanned:
                return
            self._scanned.add((function, role, value))
        key, kind = classify_value(value, role)
        if self._vocabulary.keeps(function, role, value):
            if key is not None and is_ordinary(str(value)):
                self._plain.add(key)
            elif key is not None and kind in _MAY_BE_PLAIN:
                self._kept.add(key)
            return
        if key is not None and kind in _MAY_BE_PLAIN and _is_plain(str(value)):
            self._plain.add(key)
            return
        if key is None or (returned and kind in _WORDED and _PLAIN_PHRASE.fullmatch(str(value))):
            return  # plain words in a result reveal nobody, and are too common in prose to replace
        if role:
            self._fields.add(key)
        self._note(key, kind, str(value))

    def _see_text(self, text: str) -> None:
        text = compose_accents(text)
        if not text or text in self._found:
            return
        self._tokens.update(text.split())
        for start, end, kind, key in self.find_spans(text):
            if kind in _CAPITALISED and _is_heading(text, start, end):
                continue
            if key is not None:
                self._note(key, kind, text[start:end])  # type: ignore[arg-type]
            elif kind == "OPENING":
                self._openings[text[start:end]] = None

    def _see_opening(self, name: str) -> None:
        rest = name[self.name_start(name) :]
        self._note(span_key(rest, "NAME"), "NAME", rest)

    def _is_common(self, word: str) -> bool:
        return is_ordinary(word) or self._is_met(word)

    def _is_met(self, word: str) -> bool:
        """Is it a word of the interface, or met in lower case? With a capital alone, it may be a name."""
        marked = [word, *(word + mark for mark in _MARKS_AFTER)]
        return word in self._interface_words or not self._tokens.isdisjoint(marked)

    def _note(self, key: Key, kind: ValueKind, original: str) -> None:
        earlier = self._kinds.get(key)
        if earlier is None:
            self.originals[key] = original
            self._kinds[key] = kind
        elif _RANK[kind] < _RANK[earlier]:
            self._kinds[key] = kind

    def _number_names(self) -> dict[Key, str]:
        counts: dict[str, int] = {}
        names = {}
        for key, kind in self._kinds.items():  # in the order of first sighting
            if self.is_plain(key) or (key not in self._fields and not self._is_surely_a_value(key, kind)):
                continue
            kind = self._sharpen(key, kind)
            counts[kind] = counts.get(kind, 0) + 1
            names[key] = f"<{kind}_{counts[kind]}>"
        return names

    def _is_surely_a_value(self, key: Key, kind: ValueKind) -> bool:
        """Of values found only in prose: not capitalised common words (`Read-only`, `NOT FOUND`), nor a number also
        known under a more specific type."""
        if kind == "NAME":
            if len(key.text.strip(". ")) < MIN_NAME_CHARS:
                return False
            original = self.originals[key]
            if is_ordinary(original) and (original.isupper() or is_common(original, sizes=2)):
                return False
            parts = key.text.replace("-", " ").split()
            return not all(map(self._is_met if len(parts) == 1 else self._is_common, parts))
        return kind != "NUMBER" or not any(
            sharper in self._kinds for sharper in keys_of_number(key.text) if sharper.numeric != "NUMBER"
        )

    def _sharpen(self, key: Key, kind: ValueKind) -> ValueKind:
        """A name made of names of persons is a person's name."""
        parts = key.text.split()
        if kind == "NAME" and len(parts) > 1 and all(self._kinds.get(Key(part, None)) == "PERSON" for part in parts):
            return "PERSON"
        return kind


def _is_plain(value: str) -> bool:
    """Ordinary words in lower case, or one that is common."""
    return is_ordinary(value) and (value.islower() or (" " not in value and is_common(value, sizes=2)))


def _is_heading(text: str, start: int, end: int) -> bool:
    """Is it a heading of ordinary words (`## Execution Rules`, `**Missing Data**:`, `- Total Price:`), whose capitals
    name nothing?"""
    if " " not in text[start:end] or not is_ordinary(text[start:end]):
        return False
    before = text[max(0, start - MAX_BEFORE_HEADING) : start]
    if _AFTER_LABEL.match(text, end) and _BEFORE_LABEL.search(before):
        return True
    return bool(_AFTER_HEADING.match(text, end) and _BEFORE_HEADING.search(before))
