"""Typed placeholders for the values of one task: `<EMAIL_1>`, `<ID_3>`, `<PERSON_2>`.

One value has one placeholder in all runs of the task, in arguments, observations, messages and feedback alike, so that
data flow and equality stay visible while the values themselves do not. Dates, times and closed vocabularies stay. The
mapping lives and dies with the packet: nothing here writes it anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, TypeAlias

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from contramem.contrast.form import is_field, parse
from contramem.contrast.ordinary import ORDINARY_WORDS
from contramem.contrast.spans import spans
from contramem.contrast.value_keys import (
    Key,
    classified,
    composed,
    digits_of,
    keys_of_number,
    plain_number,
    searchable,
    short_key,
    span_key,
    stands_alone,
)
from contramem.contrast.values import PRIORITY, ValueKind
from contramem.contrast.vocabulary import Vocabulary, scalars
from contramem.traces.effects import words
from contramem.traces.trajectory import Event, Trajectory

MIN_TEXT_CHARS = 3
"""Shorter values are replaced where they stand alone (an argument), not inside prose: `a` is also a word. Only codes in
capitals (`TX`) are."""
MAX_SCANNED_CHARS = 20_000
"""Of a text without fields. What is longer is described by its form and never shown."""

_PLAIN_WORD = re.compile(r"[a-z]+")
_PLAIN_PHRASE = re.compile(r"[a-z]+(?: [a-z]+){0,2}")
_WORDED = frozenset({"TEXT", "NAME", "ADDRESS", "FILE"})
_RANK = {kind: rank for rank, kind in enumerate(PRIORITY)}

_Found: TypeAlias = tuple[int, int, str, Key | None]
"""A span of a text with its key; None for dates and for what opens a sentence."""


class Placeholders:
    """The placeholders of one task. Made from all its runs at once, in a fixed order, so numbers are reproducible."""

    def __init__(self, runs: Iterable[Trajectory], vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._kinds: dict[Key, ValueKind] = {}
        self._originals: dict[Key, str] = {}
        self._fields: set[Key] = set()
        """Values that filled an argument or a field, and so are surely values."""
        self._openings: dict[str, None] = {}
        """Capitalised words that open a sentence; which of them are names is known when everything has been seen."""
        self._tokens: set[str] = set()
        """The words of all texts. Proper nouns are not written in lower case; a capitalised word that is, is none."""
        self._interface: set[str] = set()
        """Names of functions, arguments and fields."""
        self._scanned: set[tuple[str, ...]] = set()
        self._found: dict[str, list[_Found]] = {}
        self._redacted: dict[str, str] = {}
        for run in runs:
            self._see_text(run.task)
            for event in run.events:
                self._see_event(event)
            self._see_text(run.outcome.feedback)
        self._interface_words = {word for name in self._interface for word in words(name)}
        for name in self._openings:
            self._see_opening(name)
        self._names = self._numbered()

    def value(self, function: str, role: str, value: Any) -> Any:
        """An argument with its values replaced; its shape stays."""
        if isinstance(value, dict):
            return dict(self._entry(function, role, str(key), child) for key, child in value.items())
        if isinstance(value, (list, tuple)):
            return [self.value(function, role, child) for child in value]
        if self._vocabulary.keeps(function, role, value):
            return value
        key, kind = classified(value, role)
        return value if key is None else self._names.get(key, f"<{kind}>")

    def _entry(self, function: str, role: str, key: str, value: Any) -> tuple[str, Any]:
        if is_field(key):
            return key, self.value(function, key, value)
        return str(self.value(function, role, key)), self.value(function, role, value)

    def arguments(self, event: Event) -> dict[str, Any]:
        """The arguments of a call, redacted."""
        function = event.function
        return {name: self.value(function, name, value) for name, value in event.arguments.items()}

    def text(self, text: str) -> str:
        """A text with every known value, and everything that looks like one, replaced."""
        known = self._redacted.get(text)
        if known is None:
            known = self._redacted[text] = self._redact(composed(text))
        return known

    def originals(self) -> dict[str, str]:
        """Placeholder -> value. For validators that must prove a value absent; never for anything that is kept."""
        return {name: self._originals[key] for key, name in self._names.items()}

    # Seeing: what values are there?

    def _see_event(self, event: Event) -> None:
        function = event.function
        if function:
            self._interface.add(function)
            self._interface.update(event.arguments)
            for name, argument in event.arguments.items():
                for role, value in scalars(argument, name):
                    self._see_value(function, role, value)
        if event.text:
            self._see_text(event.text)
        if event.result is not None:
            self._see_result(event)

    def _see_result(self, event: Event) -> None:
        assert event.result is not None
        content, error = event.result.content, event.result.error
        if error:
            # A complaint is the tool's own wording, not a value of the task: only what it names is replaced.
            self._see_text(error)
            return
        if isinstance(content, str):
            if (event.function, content) in self._scanned:
                return
            self._scanned.add((event.function, content))
        parsed = parse(content)
        self._interface.update(parsed.form.fields)
        for field, value in parsed.leaves:
            self._see_value(event.function, field, value, returned=True)
        if not parsed.leaves and len(parsed.prose) <= MAX_SCANNED_CHARS:
            self._see_text(parsed.prose)

    def _see_value(self, function: str, role: str, value: object, returned: bool = False) -> None:
        if type(value) is str:  # runs of one task mostly see the same values; each is looked at once
            if (function, role, value) in self._scanned:
                return
            self._scanned.add((function, role, value))
        if self._vocabulary.keeps(function, role, value):
            return
        key, kind = classified(value, role)
        if key is None or (returned and kind in _WORDED and _PLAIN_PHRASE.fullmatch(str(value))):
            return  # plain words in a result tell on nobody, and are too common in prose to replace
        if role:
            self._fields.add(key)
        self._note(key, kind, str(value))

    def _see_text(self, text: str) -> None:
        text = composed(text)
        if not text or text in self._found:
            return
        self._tokens.update(text.split())
        for start, end, kind, key in self._found_in(text):
            if key is not None:
                self._note(key, kind, text[start:end])  # type: ignore[arg-type]
            elif kind == "OPENING":
                self._openings[text[start:end]] = None

    def _see_opening(self, name: str) -> None:
        rest = name[self._name_start(name) :]
        self._note(span_key(rest, "NAME"), "NAME", rest)

    def _name_start(self, opening: str) -> int:
        """`Invite Dora` is about Dora: where the first word only opens the sentence, the name begins after it."""
        first, _, rest = opening.partition(" ")
        follows = self._is_common(first.lower()) or span_key(rest, "NAME") in self._kinds
        return len(first) + 1 if follows else 0

    def _is_common(self, word: str) -> bool:
        tokens = self._tokens
        return (
            word in tokens
            or word in ORDINARY_WORDS
            or word in self._interface_words
            or f"{word}." in tokens
            or f"{word}," in tokens
        )

    def _found_in(self, text: str) -> list[_Found]:
        known = self._found.get(text)
        if known is None:
            known = self._found[text] = [
                (start, end, kind, None if kind in _KEYLESS else short_key(text[start:end], kind))
                for start, end, kind in spans(text)
            ]
        return known

    def _note(self, key: Key, kind: ValueKind, original: str) -> None:
        known = self._kinds.get(key)
        if known is None:
            self._originals[key] = original
            self._kinds[key] = kind
        elif _RANK[kind] < _RANK[known]:
            self._kinds[key] = kind

    def _numbered(self) -> dict[Key, str]:
        counts: dict[str, int] = {}
        names = {}
        for key, kind in self._kinds.items():  # in the order in which they were first seen
            if key not in self._fields and not self._is_surely_a_value(key, kind):
                continue
            kind = self._sharpened(key, kind)
            counts[kind] = counts.get(kind, 0) + 1
            names[key] = f"<{kind}_{counts[kind]}>"
        return names

    def _is_surely_a_value(self, key: Key, kind: ValueKind) -> bool:
        """Of what was only found in prose: not capitalised common words, nor a number that is known as more."""
        if kind == "NAME":
            return not all(map(self._is_common, key.text.split()))
        return kind != "NUMBER" or not any(
            sharper in self._kinds for sharper in keys_of_number(key.text) if sharper.numeric != "NUMBER"
        )

    def _sharpened(self, key: Key, kind: ValueKind) -> ValueKind:
        """A name made of the names of persons is a person's."""
        parts = key.text.split()
        if kind == "NAME" and len(parts) > 1 and all(self._kinds.get(Key(part, None)) == "PERSON" for part in parts):
            return "PERSON"
        return kind

    # Redacting: where do they stand?

    @cached_property
    def _matcher(self) -> tuple[AhoCorasick, list[tuple[Key, str]]]:
        # Numbers are not searched for: the pattern finds them, with their borders and their role.
        found = [
            (key, name)
            for key, name in self._names.items()
            if key.numeric is None and (len(key.text) >= MIN_TEXT_CHARS or _is_code(self._originals[key]))
        ]
        # Searched a few hundred times at most, so the kind that is quickest to build is the quickest.
        matcher = AhoCorasick(
            [key.text for key, _ in found],
            matchkind=MatchKind.Standard,
            implementation=Implementation.NoncontiguousNFA,
        )
        return matcher, found

    def _redact(self, text: str) -> str:
        """The longer of two stretches that overlap is replaced; what is left of the other is no value by itself."""
        found = dict(self._known_values(text))
        for span in self._found_in(text):
            if (replaced := self._replacement(text, span)) is not None:
                found[replaced[:2]] = replaced[2]
        taken = bytearray(len(text))
        chosen = []
        for start, end in sorted(found, key=_longest_first):
            if taken.find(1, start, end) < 0:
                taken[start:end] = b"\1" * (end - start)
                chosen.append((start, end))
        pieces: list[str] = []
        done = 0
        for start, end in sorted(chosen):
            pieces += (text[done:start], found[start, end])
            done = end
        pieces.append(text[done:])
        return "".join(pieces)

    def _known_values(self, text: str) -> Iterator[tuple[tuple[int, int], str]]:
        matcher, known = self._matcher
        for index, start, end in matcher.find_matches_as_indexes(searchable(text), overlapping=True):
            key, name = known[index]
            if stands_alone(text, start, end) and self._is_meant(text, start, end, key.text, name):
                yield (start, end), name

    def _is_meant(self, text: str, start: int, end: int, value: str, name: str) -> bool:
        """Is this the value, or only the same letters: a common word, a part of a function's name?"""
        if "_" in (text[start - 1 : start], text[end : end + 1]) and self._is_interface(text, start, end):
            return False
        if len(value) < MIN_TEXT_CHARS:
            return _is_code(text[start:end])
        if _PLAIN_WORD.fullmatch(value) is None or not text[start].islower():
            return True
        if name.startswith(("<TEXT", "<NAME")):  # a plain word is meant as a value where it is marked as one
            return text[start - 1 : start] in _MARKS and text[end : end + 1] in _MARKS
        return value not in ORDINARY_WORDS

    def _is_interface(self, text: str, start: int, end: int) -> bool:
        before = _IDENTIFIER_BEFORE.search(text, max(0, start - 80), start)
        after = _IDENTIFIER_AFTER.match(text, end)
        assert before is not None and after is not None, "both patterns match the empty text"
        identifier = text[before.start() : after.end()]
        return identifier in self._interface or any(name.endswith(f".{identifier}") for name in self._interface)

    def _replacement(self, text: str, span: _Found) -> tuple[int, int, str] | None:
        """What stands for a span. None: it is no value of this task, only capitalised."""
        start, end, kind, key = span
        if kind == "TIME":
            return start, end, text[start:end]
        if kind in _WITH_DIGITS and (digits := digits_of(text[start:end])):
            return start, end, self._name_of_number(text[start:end], kind, digits)
        if kind == "OPENING":
            start += self._name_start(text[start:end])
            kind, key = "NAME", short_key(text[start:end], "NAME")
        named = self._names.get(key)  # type: ignore[arg-type]
        if named is None:
            return None if kind == "NAME" else (start, end, f"<{kind}>")
        return start, end, named

    def _name_of_number(self, found: str, kind: str, digits: str) -> str:
        if len(digits.strip("-")) < 2 and kind != "AMOUNT":
            return found
        if kind == "AMOUNT" and (named := self._names.get(Key(plain_number(digits), "AMOUNT"))):
            return named  # a currency stands beside it
        # The structured roles say more than "a number in prose" does; two of them cannot be told apart in prose.
        known = [name for key in keys_of_number(digits) if (name := self._names.get(key))]
        known = [name for name in known if not name.startswith("<NUMBER")] or known
        if not known:
            return f"<{kind}>"
        return known[0] if len(known) == 1 else "<" + "|".join(name.strip("<>") for name in known) + ">"


_MARKS = frozenset("'\"`‘’“”*#«»")
_IDENTIFIER_BEFORE = re.compile(r"\w*\Z")
_IDENTIFIER_AFTER = re.compile(r"\w{0,80}")
_KEYLESS = frozenset({"TIME", "OPENING"})
_WITH_DIGITS = frozenset({"ID", "AMOUNT", "NUMBER", "PHONE", "ACCOUNT"})


def _is_code(text: str) -> bool:
    return len(text) == 2 and text.isupper() and text.lower() not in ORDINARY_WORDS


def _longest_first(found: tuple[int, int]) -> tuple[int, int]:
    return found[0] - found[1], found[0]
