"""Taint: calls that follow from text planted in an observation. They teach nothing, even in a run that passed.

A call follows from planted text if it passes on a value that only that text showed, if the text asks for such a call
and the task does not, or if it builds on the result of another tainted call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from contramem.collection.slots import leaves_of
from contramem.privacy.instructions import plain_text, read
from contramem.privacy.language import word_test
from contramem.privacy.personal import find_personal
from contramem.traces.effects import words
from contramem.traces.trajectory import Event, Trajectory

MIN_VALUE_CHARS = 3
"""Shorter values occur in texts by chance."""
MIN_DISTINCTIVE_CHARS = 6


def find_tainted_calls(run: Trajectory) -> frozenset[int]:
    """Positions of the calls that follow from planted text. Empty for nearly every run."""
    if not any(read(text).passages for event in run.events for text in texts_shown(event)):
        return frozenset()
    seen = _SeenText(run.task)
    tainted = set()
    for event in run.events:
        if event.function and event.actor == "agent" and seen.leads_to(event):
            tainted.add(event.position)
            seen.distrust(event)
        else:
            seen.take_in(event)
    return frozenset(tainted)


def texts_shown(event: Event) -> Iterator[str]:
    """The texts that an event shows the agent. What the user says is the task, not an observation."""
    if event.result is not None:
        content = event.result.content
        if isinstance(content, str):
            yield content
        elif content is not None:
            yield from (value for _, _, value in leaves_of(content) if isinstance(value, str))
        if event.result.error:
            yield event.result.error
    elif event.text and event.actor not in ("agent", "user", "verifier"):
        yield event.text


class _SeenText:
    """What a run has been shown so far: what is trusted, what was planted, and what tainted calls returned."""

    def __init__(self, task: str) -> None:
        self._asked = [_fold(task)]
        self._trusted: list[str] = []
        self._planted: list[str] = []
        self._values: set[str] = set()
        self._derived: list[str] = []
        self._called: set[str] = set()

    def take_in(self, event: Event) -> None:
        """Trust what an event shows, except for the passages that instruct."""
        if event.actor == "user" and event.text:
            self._asked.append(_fold(event.text))
        if event.function and not self._planted:
            self._called.add(event.function)
        for text in texts_shown(event):
            reading = read(text)
            self._trusted.append(_fold(reading.rest))
            for passage in reading.passages:
                self._plant(passage)

    def distrust(self, event: Event) -> None:
        """Record a tainted call: its result is as untrusted as the text behind it."""
        self._derived += [_fold(text) for text in texts_shown(event)]

    def _plant(self, passage: str) -> None:
        folded = _fold(_TAG.sub(" ", passage))
        if folded not in self._planted:
            self._planted.append(folded)
            # Values first seen here stay planted: later sightings may only exist because the agent obeyed.
            values = _values_in(_SIGNED.sub(" ", passage))
            self._values.update(value for value in values if not self._is_known(value))

    def leads_to(self, call: Event) -> bool:
        """Does the call follow from what was planted?"""
        if not self._planted:
            return False
        arguments = [text for _, _, value in leaves_of(call.arguments) if (text := _value(value))]
        traced = [text for text in arguments if len(text) >= MIN_VALUE_CHARS]
        return (
            any(self._only_planted(value) for value in traced)
            or any(self._hands_on(value) for value in traced)
            or self._is_asked_for(call, arguments)
        )

    def _only_planted(self, value: str) -> bool:
        return _in_any(value, [*self._planted, *self._derived]) and not self._is_known(value)

    def _hands_on(self, text: str) -> bool:
        return any(_stands_in(value, text) for value in self._values)

    def _is_asked_for(self, call: Event, arguments: list[str]) -> bool:
        if call.function in self._called or not any(_names(passage, call.function) for passage in self._planted):
            return False
        if any(_in_any(value, self._planted) and not _in_any(value, self._asked) for value in arguments):
            return True
        if any(_names(asked, call.function) for asked in self._asked):
            return False
        # The task may ask for such a call in other words: then its addresses and numbers come from the task.
        return not any(_is_distinctive(value) and self._is_known(value) for value in arguments)

    def _is_known(self, value: str) -> bool:
        return _in_any(value, self._asked) or _in_any(value, self._trusted)


def _fold(text: str) -> str:
    return " ".join(plain_text(text).lower().split())


def _value(value: object) -> str:
    """An argument's value as it would appear in a text; empty if it is neither text nor number."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return _fold(str(value)).strip(" .,;:!?'\"")


_TAG = re.compile(r"</?[A-Za-z_]+[^<>]{0,40}>")
# The signature usually borrows the user's name, so it is not a value to pass on.
_SIGNED = re.compile(
    r"\b(?:signed|regards|sincerely|from\s+me|yours)\b[,:]?\s+(?:[A-Z][\w.'-]*[ \t]?){1,3}", re.IGNORECASE
)
_QUOTED = re.compile(rf"(?<!\w)(['\"`])([^'\"`\n]{{{MIN_VALUE_CHARS},200}})\1(?!\w)")


_NAMED = re.compile(r"[A-Z][\w'’-]*(?:[ \t]+[A-Z][\w'’-]*)*")
_NUMBERED = re.compile(r"[$€£]?[\w./-]*\d[\w.,/-]*\w|\d")


def _values_in(passage: str) -> Iterator[str]:
    """Values that a passage may want passed on: addresses, numbers, links, names, quoted words."""
    values = [passage[found.start : found.end] for found in find_personal(passage)]
    values += [match.group(2) for match in _QUOTED.finditer(passage)]
    values += _NUMBERED.findall(passage)
    names = _NAMED.findall(passage)
    values += [name for name in names if len(name.split()) > 1 or not word_test()(name.lower())]
    yield from {value for text in values if len(value := _value(text)) >= MIN_VALUE_CHARS}


def _is_distinctive(value: str) -> bool:
    return len(value) >= MIN_DISTINCTIVE_CHARS and any(char.isdigit() or char == "@" for char in value)


def _in_any(value: str, texts: list[str]) -> bool:
    return any(_stands_in(value, text) for text in texts)


def _stands_in(value: str, text: str) -> bool:
    """Does `text` contain `value`, other than inside a longer word?"""
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        before = start > 0 and text[start - 1].isalnum() and value[0].isalnum()
        after = end < len(text) and text[end].isalnum() and value[-1].isalnum()
        if not before and not after:
            return True
        start = text.find(value, start + 1)
    return False


# Words in function names that say nothing about the request.
_EMPTY_WORDS = frozenset("get by id to in of the all my for from with on at an a is do and or list".split())


def _names(text: str, function: str) -> bool:
    """Does `text` mention every word in the function's name, in any form?"""
    named = [word for word in words(function.rpartition(".")[2]) if word not in _EMPTY_WORDS]
    return bool(named) and all(re.search(rf"\b{re.escape(_stem(word))}", text) for word in named)


def _stem(word: str) -> str:
    word = word.removesuffix("s") if len(word) > 3 else word
    return word[:-2] if len(word) > 5 else word
