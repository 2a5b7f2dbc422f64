"""What one packet contains that texts are checked against: computed once, used for every text that comes from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from contramem.contrast.observation import Observation
from contramem.contrast.packet import Packet
from contramem.contrast.step import Step
from contramem.contrast.vocabulary import scalars
from contramem.guards.guard import Guard
from contramem.guards.packets import GuardReplay, replay
from contramem.privacy.instructions import fold_case
from contramem.traces.argument_parts import name_parts
from contramem.traces.effects import words
from contramem.validate.counts import Sides

MIN_VALUE_CHARS = 3
"""Shorter values occur in texts by chance."""
MIN_PIECE_CHARS = 20
MIN_PIECE_WORDS = 4
"""A sentence this long from a longer value is a copy, not a coincidence."""
QUOTED_WORDS = 6
"""This many words in a row are a quotation."""

_LOWER_WORD = re.compile(r"(?<!\w)[a-z]{3,}(?!\w)")
_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_|\d]*>")
# The name of a source is more than a word (`gpt-4o`, `agent_v2`): `careful` is just a word.
_TELLING_SOURCE = re.compile(r"\w[\-_./]+\w|\d")


class Names(NamedTuple):
    """Names of an interface, in lower case, and the words they consist of."""

    whole: frozenset[str]
    words: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> Names:
        """`Emails.send_email` is a name, and so are its two halves; `sendEmail` consists of two words."""
        parts = {part for name in set(names) for part in (name, *name.split("."))}
        return cls(frozenset(map(str.lower, parts)), frozenset(word for part in parts for word in words(part)))


class PacketContents:
    """Names, steps, values and quotable prose of one packet."""

    def __init__(self, packet: Packet) -> None:
        # Not the packet itself: the cache must not keep its own key alive.
        self._originals = packet.placeholders.originals()
        self._runs, self._passing, self._failing = packet.runs, packet.passing, packet.failing
        ran = sorted({provenance.source.lower() for provenance in packet.provenance.values()})
        self.sources = tuple(source for source in ran if _TELLING_SOURCE.search(source))
        self._replays: dict[Guard, GuardReplay] = {}
        self._task = packet.task

    @cached_property
    def steps(self) -> dict[tuple[str, int], Step]:
        return {(run.letter, step.position): step for run in self._runs for step in run.steps}

    @cached_property
    def called(self) -> dict[str, set[str]]:
        """What each run calls, by its agent or its user; not what planted text made it call."""
        return {
            run.letter: {step.function for step in run.steps if step.function and not step.tainted}
            for run in self._runs
        }

    @cached_property
    def sides(self) -> Sides:
        passing, failing = (tuple(run.letter for run in runs) for runs in (self._passing, self._failing))
        return Sides(passing, failing, self.called)

    @cached_property
    def shown_words(self) -> frozenset[str]:
        """Words that the redacted packet shows in lower case: to an author they are words, not values."""
        texts = {text for step in self.steps.values() for text in (step.text, step.returned, step.error) if text}
        return frozenset(word for text in (self._task, *texts) for word in _LOWER_WORD.findall(text))

    def replay(self, guard: Guard, packet: Packet) -> GuardReplay:
        """How the runs of `packet`, whose contents these are, follow and break a guard. Computed once."""
        if guard not in self._replays:
            self._replays[guard] = replay(guard, packet)
        return self._replays[guard]

    def arguments_of(self, function: str) -> set[str]:
        """The arguments that some call passes, and the parts of those that are objects."""
        calls = [step for step in self.steps.values() if step.function == function]
        return {name for step in calls for name in name_parts(step.arguments)}

    @cached_property
    def functions(self) -> frozenset[str]:
        return frozenset(step.function for step in self.steps.values() if step.function)

    @cached_property
    def names(self) -> Names:
        """Functions, arguments and fields: words of the interface, not of the task."""
        return Names.of(name for step in self.steps.values() for name in _names_of_step(step))

    @cached_property
    def closed(self) -> frozenset[str]:
        """Closed vocabularies in lower case: values that stay readable in arguments."""
        values = (str(value) for step in self.steps.values() for _, value in scalars(step.arguments))
        return frozenset(value.lower() for value in values if not _PLACEHOLDER.search(value))

    def find_copies(self, text: str) -> Iterator[tuple[str, str, int]]:
        """(placeholder, words, position) wherever `text` repeats a value of the traces, or a sentence of one.

        The text is in lower case, with single spaces between words.
        """
        matcher, placeholders = self._values
        for index, start, end in matcher.find_matches_as_indexes(text, overlapping=True):
            if _stands_alone(text, start, end):
                yield placeholders[index], text[start:end], start

    @cached_property
    def _values(self) -> tuple[AhoCorasick, list[str]]:
        patterns: dict[str, str] = {}
        for placeholder, value in self._originals.items():
            for pattern in _patterns(value):
                patterns.setdefault(pattern, placeholder)
        # It is searched only a few times, so the variant that is fastest to build is the fastest.
        matcher = AhoCorasick(
            list(patterns), matchkind=MatchKind.Standard, implementation=Implementation.NoncontiguousNFA
        )
        return matcher, list(patterns.values())

    @cached_property
    def judge_phrases(self) -> frozenset[tuple[str, ...]]:
        """Word sequences of the judge's prose."""
        return frozenset(quotable for run in self._runs for quotable in shingles(run.feedback))

    @cached_property
    def planted_phrases(self) -> frozenset[tuple[str, ...]]:
        """Word sequences of passages that instruct."""
        planted = (passage for run in self._runs for passage in run.planted)
        return frozenset(quotable for passage in planted for quotable in shingles(passage))


def stands_in(value: str, text: str) -> bool:
    """Does `text` contain `value`, other than inside a longer word?"""
    return any(_stands_alone(text, match.start(), match.end()) for match in re.finditer(re.escape(value), text))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Is it more than part of a word? `Ann` does not stand alone in `Annual`."""
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    after = end < len(text) and text[end].isalnum() and text[end - 1].isalnum()
    return not before and not after


def contents_of(packet: Packet) -> PacketContents:
    """Computed at the first question about a packet."""
    return packet.memo.get("contents", lambda: PacketContents(packet))


def names_of_observations(observations: Iterable[Observation]) -> Iterator[str]:
    """Functions, arguments and fields."""
    for observation in observations:
        yield observation.function
        yield from observation.arguments
        if observation.form is not None:
            yield from observation.form.fields


def _names_of_step(step: Step) -> Iterator[str]:
    yield step.function
    yield from _keys(step.arguments)
    if step.form is not None:
        yield from step.form.fields


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield str(key)
            yield from _keys(child)
    elif isinstance(value, list):
        for child in value:
            yield from _keys(child)


_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n+|\\n")
_DIGITS = re.compile(r"[$€£¥]?\s?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def _patterns(value: str) -> Iterator[str]:
    """The ways in which a card would write a value."""
    whole = fold_case(" ".join(value.split())).strip(" .,;:!?'\"")
    if len(whole) >= MIN_VALUE_CHARS:
        yield whole
    if _DIGITS.fullmatch(whole):
        yield whole.replace(",", "")
    if len(whole) > 2 * MIN_PIECE_CHARS:
        for piece in _SENTENCE_END.split(fold_case(value)):
            piece = " ".join(piece.split()).strip(" .,;:!?'\"")
            if len(piece) >= MIN_PIECE_CHARS and piece.count(" ") >= MIN_PIECE_WORDS - 1:
                yield piece


_COUNT = re.compile(r"(?<![\w.])(\d+)\s+(?:out\s+)?of\s+(?:the\s+|all\s+)?(\d+)(?![\w.])")


def counts_in(text: str) -> list[tuple[int, int]]:
    """The counts in a text: `3 of 5 runs` is (3, 5)."""
    return [(int(some), int(whole)) for some, whole in _COUNT.findall(text)]


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def shingles(text: str) -> Iterator[tuple[str, ...]]:
    """Every sequence of QUOTED_WORDS words. Placeholders and punctuation do not count."""
    sequence = _WORD.findall(_PLACEHOLDER.sub(" ", text).lower())
    return (tuple(sequence[i : i + QUOTED_WORDS]) for i in range(len(sequence) - QUOTED_WORDS + 1))
