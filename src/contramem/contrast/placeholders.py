"""Typed placeholders for the values of one task: `<EMAIL_1>`, `<ID_3>`, `<PERSON_2>`.

One value has one placeholder in all runs of the task, in arguments, observations, messages and feedback alike, so that
data flow and equality stay visible while the values themselves do not. Dates, times and closed vocabularies stay. The
mapping lives and dies with the packet: nothing here writes it anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from contramem.contrast.form import parse
from contramem.contrast.spans import Span, spans
from contramem.contrast.values import NUMERIC, PRIORITY, ValueKind, kind_of_number, kind_of_text
from contramem.contrast.vocabulary import Vocabulary, scalars
from contramem.traces.trajectory import Event, Trajectory

MIN_TEXT_CHARS = 3
"""Shorter values are replaced where they stand alone (an argument), not inside prose: `a` is also a word."""
MAX_SCANNED_CHARS = 20_000
"""Of a text without fields. What is longer is described by its form and never shown."""

_LOWER_WORD = re.compile(r"[a-z]+")
# Not the parts of an address: the name in `emma.stone@mail.org` is not a common word.
_LOWER_WORDS = re.compile(r"(?<![\w@./\-])[a-z]{3,}(?![\w@/\-]|\.\w)")


class _Key(NamedTuple):
    """A value as far as it is one value: case and spacing aside; numbers together with what they count."""

    text: str
    numeric: ValueKind | None


class Placeholders:
    """The placeholders of one task. Made from all its runs at once, in a fixed order, so numbers are reproducible."""

    def __init__(self, runs: Iterable[Trajectory], vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._kinds: dict[_Key, ValueKind] = {}
        self._originals: dict[_Key, str] = {}
        self._scanned: set[tuple[str, str]] = set()
        self._spans: dict[str, list[Span]] = {}
        # Proper nouns are not written in lower case; a capitalised word that also occurs so is none.
        self._lower_words: set[str] = set()
        self._fields: set[_Key] = set()
        for run in runs:
            self._see_text(run.task)
            for event in run.events:
                self._see_event(event)
            self._see_text(run.outcome.feedback)
        self._names = self._numbered()
        self._redacted: dict[str, str] = {}

    def value(self, function: str, role: str, value: Any) -> Any:
        """An argument with its values replaced; its shape stays."""
        if isinstance(value, dict):
            return {key: self.value(function, str(key), child) for key, child in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(function, role, child) for child in value]
        if self._vocabulary.keeps(function, role, value):
            return value
        key, kind = _classified(value, role)
        return value if key is None else self._names.get(key, f"<{kind}>")

    def arguments(self, event: Event) -> dict[str, Any]:
        """The arguments of a call, redacted."""
        function = event.function
        return {name: self.value(function, name, value) for name, value in event.arguments.items()}

    def text(self, text: str) -> str:
        """A text with every known value, and everything that looks like one, replaced."""
        known = self._redacted.get(text)
        if known is None:
            known = self._redacted[text] = self._redact(text)
        return known

    def originals(self) -> dict[str, str]:
        """Placeholder -> value. For validators that must prove a value absent; never for anything that is kept."""
        return {name: self._originals[key] for key, name in self._names.items()}

    # Seeing: what values are there?

    def _see_event(self, event: Event) -> None:
        for role, value in scalars(event.arguments) if event.arguments else ():
            self._see_value(event.function, role, value)
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
            # Runs of one task mostly see the same results; each is looked at once.
            if (event.function, content) in self._scanned:
                return
            self._scanned.add((event.function, content))
        parsed = parse(content)
        for field, value in parsed.leaves:
            # A single lower-case word in a result tells on nobody, and is too common in prose to replace.
            if not (isinstance(value, str) and _LOWER_WORD.fullmatch(value)):
                self._see_value(event.function, field, value)
        if not parsed.leaves and len(parsed.prose) <= MAX_SCANNED_CHARS:
            self._see_text(parsed.prose)

    def _see_value(self, function: str, role: str, value: object) -> None:
        if self._vocabulary.keeps(function, role, value):
            return
        key, kind = _classified(value, role)
        if key is not None:
            if role:
                self._fields.add(key)
            self._note(key, kind, str(value))

    def _see_text(self, text: str) -> None:
        if not text or text in self._spans:
            return
        self._lower_words.update(_LOWER_WORDS.findall(text))
        for span in self._spans_of(text):
            if span.kind != "TIME":
                found = text[span.start : span.end]
                kind: ValueKind = span.kind  # type: ignore[assignment]
                self._note(_span_key(found, kind), kind, found)

    def _spans_of(self, text: str) -> list[Span]:
        known = self._spans.get(text)
        if known is None:
            known = self._spans[text] = spans(text)
        return known

    def _note(self, key: _Key, kind: ValueKind, original: str) -> None:
        known = self._kinds.get(key)
        if known is None:
            self._originals[key] = original
        if known is None or PRIORITY.index(kind) < PRIORITY.index(known):
            self._kinds[key] = kind

    def _numbered(self) -> dict[_Key, str]:
        counts: dict[str, int] = {}
        names = {}
        for key, kind in self._kinds.items():  # in the order in which they were first seen
            if key not in self._fields and kind == "NAME" and self._lower_words.issuperset(key.text.split()):
                continue
            counts[kind] = counts.get(kind, 0) + 1
            names[key] = f"<{kind}_{counts[kind]}>"
        return names

    # Redacting: where do they stand?

    @cached_property
    def _matcher(self) -> tuple[AhoCorasick, list[str]]:
        # Numbers are not searched for: the pattern finds them, with their borders and their role.
        keys = [key for key in self._names if key.numeric is None and len(key.text) >= MIN_TEXT_CHARS]
        # Searched a few hundred times at most, so the kind that is quickest to build is the quickest.
        matcher = AhoCorasick(
            [key.text for key in keys],
            matchkind=MatchKind.LeftmostLongest,
            implementation=Implementation.NoncontiguousNFA,
        )
        return matcher, [self._names[key] for key in keys]

    def _redact(self, text: str) -> str:
        pieces: list[str] = []
        done = 0
        for start, end, replacement in self._replacements(text):
            pieces += (text[done:start], replacement)
            done = end
        pieces.append(text[done:])
        return "".join(pieces)

    def _replacements(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Non-overlapping, left to right; the longer of two that start at one place."""
        matcher, names = self._matcher
        found = [
            (start, end, names[index])
            for index, start, end in matcher.find_matches_as_indexes(_folded(text))
            if _stands_alone(text, start, end)
        ]
        found += [(span.start, span.end, self._name_of(text, span)) for span in self._spans_of(text)]
        found.sort(key=lambda item: (item[0], -item[1]))
        done = 0
        for start, end, replacement in found:
            if start >= done:
                done = end
                yield start, end, replacement

    def _name_of(self, text: str, span: Span) -> str:
        found = text[span.start : span.end]
        if span.kind == "TIME":
            return found
        kind: ValueKind = span.kind  # type: ignore[assignment]
        if kind in NUMERIC and (key := _number_key(found, "NUMBER")) is not None:
            return self._name_of_number(found, kind, key.text)
        named = self._names.get(_span_key(found, kind))
        return named or (found if kind == "NAME" else f"<{kind}>")

    def _name_of_number(self, found: str, kind: ValueKind, digits: str) -> str:
        if kind == "AMOUNT":  # a currency stands beside it
            named = self._names.get(_Key(digits, "AMOUNT"))
            if named is not None:
                return named
        roles = [name for role in sorted(NUMERIC) if (name := self._names.get(_Key(digits, role)))]
        # The structured roles say more than "a number in prose" does; two of them cannot be told apart in prose.
        sharper = [name for name in roles if not name.startswith("<NUMBER")] or roles
        if len(digits.strip("-")) < 2:
            return found
        if not sharper:
            return f"<{kind}>"
        return sharper[0] if len(sharper) == 1 else "<" + "|".join(name.strip("<>") for name in sharper) + ">"


def _classified(value: object, role: str) -> tuple[_Key | None, ValueKind]:
    """Without a key the value stays as it is: a date, a time, an empty text, something that is no scalar."""
    if isinstance(value, str):
        return _classified_text(value, role) if len(value) <= 200 else _classify_text(value, role)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        kind = kind_of_number(role)
        return _number_key(str(value), kind), kind
    return None, "TEXT"


def _classify_text(value: str, role: str) -> tuple[_Key | None, ValueKind]:
    kind = kind_of_text(value, role)
    if kind is None:
        return None, "TEXT"
    number = _number_key(value, kind) if kind in NUMERIC else None
    return number or _Key(_folded(" ".join(value.split())), None), kind


_classified_text = lru_cache(maxsize=1 << 14)(_classify_text)  # runs of one task share most of their values


def _span_key(found: str, kind: ValueKind) -> _Key:
    number = _number_key(found, kind) if kind in NUMERIC else None
    return number or _Key(_folded(" ".join(found.split())), None)


_PLAIN_NUMBER = re.compile(r"[$€£¥]?\s?(-?\d[\d,]*(?:\.\d+)?)(?:e[+-]?\d+)?(?:\s?[A-Za-z]+)?", re.IGNORECASE)


def _number_key(text: str, kind: ValueKind) -> _Key | None:
    """`1,200`, `1200.0` and `$1200` are one number; an identifier keeps its leading zeros."""
    match = _PLAIN_NUMBER.fullmatch(text.strip())
    if match is None or (kind == "ID" and not text.strip().lstrip("-").replace(".", "").isdigit()):
        return None
    digits = match.group(1).replace(",", "")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return _Key(digits if kind == "ID" else digits.lstrip("0") or "0", kind)


_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def _folded(text: str) -> str:
    """Lower case, without changing the length: positions found in it must hold in the original."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_ASCII_LOWER)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Not inside a longer word: `Ann` is not in `Annual`."""
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    after = end < len(text) and text[end].isalnum() and text[end - 1].isalnum()
    return not before and not after
