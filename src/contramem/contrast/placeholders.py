"""Typed placeholders for the values of one task: `<EMAIL_1>`, `<ID_3>`, `<PERSON_2>`.

Each value has one placeholder across all runs of the task, in arguments, observations, messages and feedback, so that
data flow and equality stay visible while the values do not. Dates, times and closed vocabularies stay readable. The
mapping lives and dies with the packet: nothing here writes it anywhere.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from contramem.contrast.form import is_field
from contramem.contrast.placeholder_types import names_where
from contramem.contrast.sightings import MAX_SCANNED_CHARS, Sightings, Span
from contramem.contrast.value_keys import (
    Key,
    classify_value,
    compose_accents,
    digits_of,
    keys_of_number,
    plain_number,
    searchable,
    short_key,
    stands_alone,
)
from contramem.contrast.vocabulary import Vocabulary
from contramem.privacy.language import is_ordinary
from contramem.traces.trajectory import Event, Trajectory

MIN_TEXT_CHARS = 3
"""Shorter values are replaced only where they stand alone (in an argument), not inside prose: `a` is also a word. Codes
in capitals (`TX`) are the exception."""

MIN_PROSE_WORDS = 4
"""A text with fewer words may be just a value."""
_PLAIN_WORD = re.compile(r"[a-z]+")
_MARKS = frozenset("'\"`‘’“”*#«»")
_IDENTIFIER_BEFORE = re.compile(r"\w*\Z")
_IDENTIFIER_AFTER = re.compile(r"\w{0,80}")
_READ_AS_NUMBER = names_where(lambda type_: type_.is_read_as_number)
_NO_VOCABULARY = Vocabulary()


class Placeholders:
    """The placeholders of one task, made from all its runs at once."""

    def __init__(self, runs: Iterable[Trajectory], vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._seen = Sightings(runs, vocabulary)
        self._redacted: dict[str, str] = {}
        self._originals: dict[str, str] | None = None

    def value(self, function: str, role: str, value: Any) -> Any:
        """An argument with its values replaced; its structure stays."""
        if isinstance(value, dict):
            return dict(self._entry(function, role, str(key), child) for key, child in value.items())
        if isinstance(value, (list, tuple)):
            return [self.value(function, role, child) for child in value]
        if self._vocabulary.keeps(function, role, value):
            return value
        key, kind = classify_value(value, role)
        if key is None or self._seen.is_plain(key):
            return value
        return self._seen.names.get(key, f"<{kind}>")

    def _entry(self, function: str, role: str, key: str, value: Any) -> tuple[str, Any]:
        if is_field(key):
            return key, self.value(function, key, value)
        return str(self.value(function, role, key)), self.value(function, role, value)

    def arguments(self, event: Event) -> dict[str, Any]:
        """The arguments of a call, redacted."""
        function = event.function
        return {name: self.value(function, name, value) for name, value in event.arguments.items()}

    def text(self, text: str) -> str:
        """A text with every known value, and everything that looks like a value, replaced."""
        redacted = self._redacted.get(text)
        if redacted is None:
            redacted = self._redacted[text] = self._redact(compose_accents(text))
        return redacted

    def prose(self, text: str) -> str:
        """A text argument with the values in it replaced. Its own words stay if there are several."""
        composed = compose_accents(text)
        # A text that was too long to scan was recorded only as a whole, not by the values in it.
        if len(composed) > MAX_SCANNED_CHARS or len(composed.split()) < MIN_PROSE_WORDS:
            return self.text(text)
        return self._redact(composed, whole=False)

    def received(self, text: str) -> str:
        """A text that reached the agent, with the values in it replaced; sentences that some field contains stay."""
        composed = compose_accents(text)
        return self.text(text) if len(composed) > MAX_SCANNED_CHARS else self._redact(composed, texts=False)

    def add_text(self, text: str) -> str:
        """Redact a text that accompanies the runs. Values that occur only in it get the next free placeholders."""
        known = len(self._seen.names)
        self._seen.add_text(text)
        if len(self._seen.names) > known:
            self.__dict__.pop("_matcher", None)
            self._originals = None
        return self._redact(compose_accents(text), whole=False)

    def originals(self) -> dict[str, str]:
        """Placeholder -> value. Only for validators that must prove a value absent; never store it."""
        if self._originals is None:
            self._originals = {name: self._seen.originals[key] for key, name in self._seen.names.items()}
        return self._originals

    @property
    def vocabulary(self) -> Vocabulary:
        return self._vocabulary

    def use(self, vocabulary: Vocabulary) -> None:
        """Attach the vocabulary that these placeholders were made with: it is not sent along with every task."""
        self._vocabulary = vocabulary

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the values without what can be recomputed: text arguments are redacted when a model's prompt is
        written."""
        is_loaded = "_seen" in self.__dict__
        return {"_encoded": pickle.dumps(self._seen, pickle.HIGHEST_PROTOCOL) if is_loaded else self._encoded}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._encoded: bytes = state["_encoded"]
        self._redacted, self._originals = {}, None
        self._vocabulary = _NO_VOCABULARY

    @cached_property
    def _seen(self) -> Sightings:
        """Unpickled when somebody asks: of most packets that a build loads, nobody does."""
        seen: Sightings = pickle.loads(self._encoded)
        return seen

    @cached_property
    def _matcher(self) -> tuple[AhoCorasick, list[tuple[Key, str]]]:
        # Numbers are excluded: a pattern finds them with their boundaries and their role.
        entries = [
            (key, name)
            for key, name in self._seen.names.items()
            if key.numeric is None and (len(key.text) >= MIN_TEXT_CHARS or _is_code(self._seen.originals[key]))
        ]
        # It is searched a few hundred times at most, so the variant that is fastest to build is the fastest.
        matcher = AhoCorasick(
            [key.text for key, _ in entries],
            matchkind=MatchKind.Standard,
            implementation=Implementation.NoncontiguousNFA,
        )
        return matcher, entries

    def _redact(self, text: str, *, whole: bool = True, texts: bool = True) -> str:
        """Replace the longer of two overlapping stretches; the rest of the shorter one is not a value by itself.

        Without `whole`, the text as a whole is not treated as a value; without `texts`, nor is any known text.
        """
        replacements = dict(self._find_known_values(text))
        if not texts:
            replacements = {span: name for span, name in replacements.items() if not name.startswith("<TEXT")}
        if not whole:
            bare = text.strip().rstrip(".!?")
            replacements = {span: name for span, name in replacements.items() if span[1] - span[0] < len(bare)}
        for span in self._seen.find_spans(text):
            if (replaced := self._replacement(text, span)) is not None:
                replacements[replaced[:2]] = replaced[2]
        taken = bytearray(len(text))
        chosen = []
        for start, end in sorted(replacements, key=_longest_first):
            if taken.find(1, start, end) < 0:
                taken[start:end] = b"\1" * (end - start)
                chosen.append((start, end))
        pieces: list[str] = []
        done = 0
        for start, end in sorted(chosen):
            pieces += (text[done:start], replacements[start, end])
            done = end
        pieces.append(text[done:])
        return "".join(pieces)

    def _find_known_values(self, text: str) -> Iterator[tuple[tuple[int, int], str]]:
        matcher, entries = self._matcher
        for index, start, end in matcher.find_matches_as_indexes(searchable(text), overlapping=True):
            key, name = entries[index]
            if stands_alone(text, start, end) and self._is_meant(text, start, end, key.text, name):
                yield (start, end), name

    def _is_meant(self, text: str, start: int, end: int, value: str, name: str) -> bool:
        """Is this the value, or just the same letters: a common word, part of a function's name?"""
        if "_" in (text[start - 1 : start], text[end : end + 1]) and self._is_interface(text, start, end):
            return False
        if len(value) < MIN_TEXT_CHARS:
            return _is_code(text[start:end])
        if _PLAIN_WORD.fullmatch(value) is None or not text[start].islower():
            return True
        if name.startswith(("<TEXT", "<NAME")):  # a plain word counts as the value only where it is marked as one
            return text[start - 1 : start] in _MARKS and text[end : end + 1] in _MARKS
        return not is_ordinary(value)

    def _is_interface(self, text: str, start: int, end: int) -> bool:
        before = _IDENTIFIER_BEFORE.search(text, max(0, start - 80), start)
        after = _IDENTIFIER_AFTER.match(text, end)
        assert before is not None and after is not None, "both patterns match the empty text"
        identifier = text[before.start() : after.end()]
        return identifier in self._seen.interface or any(
            name.endswith(f".{identifier}") for name in self._seen.interface
        )

    def _replacement(self, text: str, span: Span) -> tuple[int, int, str] | None:
        """The replacement for a span. None: it is not a value of this task, only capitalised."""
        start, end, kind, key = span
        if kind == "TIME":
            return start, end, text[start:end]
        if kind in _READ_AS_NUMBER and (digits := digits_of(text[start:end])):
            return start, end, self._name_of_number(text[start:end], kind, digits)
        if kind == "OPENING":
            start += self._seen.name_start(text[start:end])
            kind, key = "NAME", short_key(text[start:end], "NAME")
        named = self._seen.names.get(key)  # type: ignore[arg-type]
        if named is None:
            return None if kind == "NAME" else (start, end, f"<{kind}>")
        return start, end, named

    def _name_of_number(self, text: str, kind: str, digits: str) -> str:
        if len(digits.strip("-")) < 2 and kind != "AMOUNT":
            return text
        if kind == "AMOUNT" and (named := self._seen.names.get(Key(plain_number(digits), "AMOUNT"))):
            return named  # a currency stands beside it
        # Structured roles say more than "a number in prose" does; if there are two, prose cannot tell them apart.
        names = [name for key in keys_of_number(digits) if (name := self._seen.names.get(key))]
        names = [name for name in names if not name.startswith("<NUMBER")] or names
        if not names:
            return f"<{kind}>"
        return names[0] if len(names) == 1 else "<" + "|".join(name.strip("<>") for name in names) + ">"


def _is_code(text: str) -> bool:
    return len(text) == 2 and text.isupper() and not is_ordinary(text)


def _longest_first(span: tuple[int, int]) -> tuple[int, int]:
    return span[0] - span[1], span[0]
