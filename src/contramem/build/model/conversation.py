"""What agents and users said to each other in the runs of a packet: each question with the answer that it got.

Where an agent serves a user, most of a run is talk, and most of the talk is courtesy and repetition. What decides is
what was asked for and what came back. So a question that several runs ask is shown once, and an answer that only
repeats the task is left out. If the talk still exceeds its budget, long messages are cut to their questions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from contramem.build.model.step_text import MAX_SAID_CHARS, flatten, shorten
from contramem.contrast.align import AlignedStep, nearest, reference_first
from contramem.contrast.english import FUNCTION_WORDS, stem
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.quotation import quote_words
from contramem.contrast.speech import asks
from contramem.contrast.step import ASK, Step
from contramem.counting import count_tokens

TALK_BUDGET_TOKENS = 1_500
"""Of all that is said in a packet before the final answers."""
LIMITS_CHARS = (MAX_SAID_CHARS, 160, 100)
"""Of one message: the next limit is tried while the talk exceeds its budget."""
MIN_ALIKE = 0.5
"""The share of telling words that two messages must have in common to be shown as one."""
MIN_BEGINNING_CHARS = 30
"""Of the part of a message that comes before its questions; less would say nothing."""
Place: TypeAlias = tuple[str, int]
"""A run letter and the position of an event."""


class Said(NamedTuple):
    """What some runs asked at one step, and what they were answered."""

    letters: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class FoldedConversation:
    """The talk of a packet, within its budget or as short as it gets."""

    limit_chars: int
    silent: tuple[str, ...]
    """Passing runs whose talk is left out, because a failing run is read beside another one."""
    lines: Mapping[Place, Sequence[Said]]

    def at(self, row: AlignedStep) -> Sequence[Said]:
        """What was asked and answered at a row of questions."""
        return self.lines[_place(row)]

    @property
    def note(self) -> str:
        """What was left out; empty if nothing was."""
        cut = f"; messages cut to {self.limit_chars} characters" if self.limit_chars < LIMITS_CHARS[0] else ""
        return f"{cut}, talk of {' '.join(self.silent)} left out" if self.silent else cut


def read_conversation(packet: Packet, runs: Sequence[PacketRun], rows: Sequence[AlignedStep]) -> FoldedConversation:
    """The talk at these rows, shortened until it fits its budget."""
    everybody = [run.letter for run in runs]
    heard = _compared_runs(runs)
    shorter = [(limit, everybody) for limit in LIMITS_CHARS] + [(LIMITS_CHARS[-1], heard)]
    asked = [row for row in rows if row.label == ASK]
    answers = {
        (run.letter, question.position): " ".join(step.text for step in replies)
        for run in runs
        for question, replies in questions_of(run)
        if not repeats_the_task(" ".join(step.text for step in replies), packet)
    }
    for limit, letters in shorter:
        silent = tuple(letter for letter in everybody if letter not in letters)
        lines = {_place(row): list(_fold(row, answers, letters, limit)) for row in asked}
        if sum(count_tokens(said.text) for row in lines.values() for said in row) <= TALK_BUDGET_TOKENS:
            break
    return FoldedConversation(limit, silent, lines)


def questions_of(run: PacketRun) -> Iterator[tuple[Step, list[Step]]]:
    """Each question of a run, with the messages of the user that answer it."""
    for place, step in enumerate(run.steps):
        if step.label == ASK:
            yield step, list(takewhile(lambda later: later.actor == "user", run.steps[place + 1 :]))


def repeats_the_task(text: str, packet: Packet) -> bool:
    """Does a message of the user say nothing that the task doesn't? To agree or to deny is always something new."""
    return telling_words(text) <= telling_words(packet.task) - {YES, NOT}


def are_alike(text: str, other: str) -> bool:
    """Do two messages say nearly the same? One that denies something is never like one that doesn't."""
    words, others = telling_words(text), telling_words(other)
    both = words & others
    return (NOT in both or NOT not in words | others) and len(both) >= MIN_ALIKE * len(words | others)


@lru_cache(maxsize=1 << 14)
def telling_words(text: str) -> frozenset[str]:
    """The words that distinguish a message from another one. All ways to agree are one word, and so are negations."""
    found = (word.lower().replace("’", "'") for word in _WORD.findall(text))
    named = (NOT if word in _NEGATIONS or word.endswith("n't") else word for word in found)
    return frozenset(
        YES if word in _AGREEMENT else stem(word)
        for word in named
        if word == NOT or word not in FUNCTION_WORDS | _COURTESY
    )


def cut_to_questions(text: str, limit: int) -> str:
    """A message of at most `limit` characters: its beginning and what it asks for."""
    flat, asked = flatten(text), questions_in(text)
    if len(flat) <= limit or not asked:
        return shorten(flat, limit)
    beginning = flat.partition(asked[0])[0]
    questions = " ".join(asked)
    room = limit - len(questions) - 1
    return f"{shorten(beginning, room)} {questions}" if room >= MIN_BEGINNING_CHARS else shorten(questions, limit)


def questions_in(text: str) -> list[str]:
    """The sentences of a message that ask for something, without offers of further help."""
    return [sentence for sentence in _SENTENCE.findall(flatten(text)) if asks(sentence)]


_WORD = re.compile(r"<[A-Z]+(?:_\d+)?>|[\w'’]+")
_SENTENCE = re.compile(r"[^.!?\s][^.!?]*(?:[.!?](?!\s|$)[^.!?]*)*[.!?]*")
YES, NOT = "yes", "not"
_NEGATIONS = frozenset("no not none nothing never cannot without".split())
_AGREEMENT = frozenset("yes yeah yep yup correct right ok okay sure proceed ahead confirmed".split())
_COURTESY = frozenset(
    """i'd i'll i'm i've it's let's that's you're you'd assist certainly could glad great happy hello help hey hi
    kindly know okay please provide sorry tell thank thanks understand welcome""".split()
)


def _fold(row: AlignedStep, answers: Mapping[Place, str], heard: Collection[str], limit: int) -> Iterator[Said]:
    """One line for runs that ask alike, with each answer that they got."""
    texts = {letter: row.steps[letter].text for letter in heard if letter in row.steps}
    for group in _group_alike({letter: " ".join(questions_in(text)) or text for letter, text in texts.items()}):
        given = {letter: answers.get((letter, row.steps[letter].position), "") for letter in group}
        replies = _group_alike({letter: text for letter, text in given.items() if text})
        told = "; ".join(
            f"{f'{chr(32).join(letters)} ' if len(letters) < len(group) else ''}"
            f"{quote_words(cut_to_questions(given[letters[0]], limit))}"
            for letters in replies
        )
        first = row.steps[group[0]]
        asked = f"{ASK} by {first.function}" if first.function else ASK
        question = quote_words(cut_to_questions(first.text, limit))
        yield Said(tuple(group), f"{asked}: {question}{f' -> {told}' if told else ''}")


def _group_alike(texts: Mapping[str, str]) -> list[list[str]]:
    groups: list[list[str]] = []
    for letter, text in texts.items():
        group = next((group for group in groups if are_alike(text, texts[group[0]])), None)
        if group is None:
            groups.append([letter])
        else:
            group.append(letter)
    return groups


def _compared_runs(runs: Sequence[PacketRun]) -> list[str]:
    """Failing runs, and the passing runs that are most like them; every run where all ended alike."""
    passing, failing = ([run for run in runs if run.passed is outcome] for outcome in (True, False))
    if not passing or not failing:
        return [run.letter for run in runs]
    beside = {reference_first(runs)[0].letter, *(nearest(run, passing).letter for run in failing)}
    return [run.letter for run in runs if run in failing or run.letter in beside]


def _place(row: AlignedStep) -> Place:
    letter, step = next(iter(row.steps.items()))
    return letter, step.position
