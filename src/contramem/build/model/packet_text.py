"""A packet as text for a construction model: divergences in full, agreements condensed, and hints as suggestions.

Runs are aligned; steps that all runs share are shown once. If the text exceeds its token budget, details are left out
in the order of `DEGRADATIONS`. Divergences are never cut, so a text of divergences alone may exceed its budget.

Where an agent serves a user, most of a run is talk, and most of the talk is courtesy and repetition. What decides is
what was asked for and what came back. So a question that several runs ask is shown once, and an answer that only
repeats the task is left out. If the talk still exceeds its budget, long messages are cut to their questions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import takewhile
from typing import NamedTuple, TypeAlias

import msgspec

from contramem.build.model.hints import NO_HINTS, AcrossHints, hint_lines, passes_without_a_write, remarks, short_names
from contramem.build.model.step_text import (
    MAX_SAID_CHARS,
    PLACEHOLDER,
    ResultTexts,
    call_text,
    difference_text,
    flatten,
    shorten,
)
from contramem.contrast.align import AlignedStep, align, nearest, reference_first
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.quotation import quote_words
from contramem.contrast.speech import asks
from contramem.contrast.step import ASK, FINAL, Step
from contramem.counting import count_tokens
from contramem.privacy.language import FUNCTION_WORDS, stem

PACKET_BUDGET_TOKENS = 6_000
DEGRADATIONS = (
    "results of shared steps",
    "arguments of shared steps",
    "all but the two clearest hints",
    "messages, notifications and feedback beyond their first 160 characters",
)
"""What is left out, in this order, until the text fits."""
MAX_TEXT_CHARS, SHORT_TEXT_CHARS = 600, 160
MAX_CYCLE = 3
"""How many calls in turn are recognised as repeated."""
NEARLY_EQUAL = 0.6
"""The share of words that two messages must have in common to be shown as one."""
LUCKY = " (changed nothing, though other passing runs did)"
OUTCOMES = frozenset({"passed", "failed", "pass", "fail", "true", "false"})
"""Feedback that only repeats the outcome."""
Outcomes: TypeAlias = Mapping[str, bool | None]
"""By run letter, in the order of the packet."""


@dataclass(frozen=True)
class PacketText:
    """What the Reflector reads about one task."""

    text: str
    hints: str
    """Signals and candidate guards, kept separate because they are suggestions and not evidence."""
    tokens: int
    left_out: tuple[str, ...]
    """The `DEGRADATIONS` that were applied."""


def packet_text(
    packet: Packet, budget_tokens: int = PACKET_BUDGET_TOKENS, across: AcrossHints = NO_HINTS
) -> PacketText:
    """The packet within its budget, or as short as it gets without cutting a divergence."""
    for level in range(len(DEGRADATIONS) + 1):
        text = _at_level(packet, level, across)
        if text.tokens <= budget_tokens:
            break
    return text


def _at_level(packet: Packet, level: int, across: AcrossHints) -> PacketText:
    text = "\n".join(_lines(packet, level))
    hints = "\n".join(hint_lines(packet, across, few=level > 2))
    return PacketText(text, hints, count_tokens(text) + count_tokens(hints), DEGRADATIONS[:level])


def _lines(packet: Packet, level: int) -> Iterator[str]:
    runs = [run for run in packet.runs if run.counts] or list(packet.runs)
    shortened = partial(shorten, limit=SHORT_TEXT_CHARS if level > 3 else MAX_TEXT_CHARS)
    if facts := _telling_facts(packet):
        yield f"told beforehand: {quote_words(' '.join(facts))}"
    yield f"task: {quote_words(packet.task)}"
    lucky = passes_without_a_write(packet)
    yield f"runs: {', '.join(_outcome(run) + (LUCKY if run.letter in lucky else '') for run in packet.runs)}"
    yield from _feedback(runs, shortened)
    clock, rows = Clock(runs), align(reference_first(runs))
    talk = read_conversation(packet, runs, rows)
    timed = "; at: seconds since the request" if clock.runs else ""
    yield f"steps (RUN#EVENT; `all`: every run alike, two of them named{timed}{talk.note}):"
    passed = {run.letter: run.passed for run in runs}
    yield from _rows(rows, passed, _StepTexts(ResultTexts(packet), clock, talk), level)
    yield from map(short_names(packet), remarks(packet))
    if level:
        yield f"left out for length: {'; '.join(DEGRADATIONS[:level])}"
    if meanwhile := list(_meanwhile(packet, runs, shortened)):
        yield "meanwhile (RUN#EVENT; waits, and what reached the agent beside the results of its calls):"
        yield from meanwhile


def _telling_facts(packet: Packet) -> list[str]:
    """What the system prompt says, without sentences about values that no run has to do with."""
    steps = [step for run in packet.runs for step in run.steps]
    used = set(PLACEHOLDER.findall(" ".join([packet.task, *(f"{step.arguments} {step.text}" for step in steps)])))
    named = ((fact, set(PLACEHOLDER.findall(fact))) for fact in packet.system_facts)
    return [fact for fact, values in named if not values or values & used]


def _feedback(runs: Sequence[PacketRun], shortened: partial[str]) -> Iterator[str]:
    """What the judge said, unless it only says how the run ended: the same about every passing run."""
    letters_of = defaultdict[str, list[str]](list)
    praised = {run.feedback for run in runs if run.passed}
    for run in runs:
        only_outcome = run.feedback.lower() in OUTCOMES or (run.passed and len(praised) == 1)
        if run.feedback and not only_outcome:
            letters_of[shortened(run.feedback)].append(run.letter)
    yield from (f"feedback on {' '.join(letters)}: {quote_words(text)}" for text, letters in letters_of.items())


def _outcome(run: PacketRun) -> str:
    if not run.counts:
        return f"{run.letter} cut off or without a known outcome (no evidence)"
    ended = "" if run.ended == "complete" else f", ended by {run.ended}"
    return f"{run.letter} {'passed' if run.passed else 'failed'}{ended}"


# Steps


class _StepTexts(NamedTuple):
    """What is said about steps: results, times and talk."""

    results: ResultTexts
    clock: Clock
    talk: FoldedConversation


def _rows(rows: Sequence[AlignedStep], passed: Outcomes, texts: _StepTexts, level: int) -> Iterator[str]:
    shared: list[AlignedStep] = []
    apart: list[_Line] = []
    for row in rows:
        if row.label != ASK and _is_shared(row, passed):
            yield from _fold_repeats(apart)
            apart = []
            shared.append(row)
            continue
        yield from _write_shared_lines(shared, passed, texts, level)
        shared = []
        apart += _talk(row, texts) if row.label == ASK else _divergence(row, passed, texts)
    yield from _fold_repeats(apart)
    yield from _write_shared_lines(shared, passed, texts, level)


def _is_shared(row: AlignedStep, letters: Collection[str]) -> bool:
    first = next(iter(row.steps.values()))
    alike = all(_did(step) == _did(first) for step in row.steps.values())
    return alike and len(letters) > 1 and set(row.steps) == set(letters)


def _did(step: Step) -> bytes:
    """A key that is equal for steps with the same action and result, whatever the order of their arguments."""
    contents = step.contents if step.effect == "read" else ()
    parts = [step.label, step.arguments, step.origins, step.error or step.text, step.returned, contents]
    return msgspec.json.encode(parts, order="deterministic")


def _write_shared_lines(rows: Sequence[AlignedStep], passed: Outcomes, texts: _StepTexts, level: int) -> Iterator[str]:
    """Every run is alike, so the first passing and the first failing one are enough to cite, or the first two."""
    first: dict[bool | None, str] = {}
    for letter, outcome in passed.items():
        first.setdefault(outcome, letter)
    letters = list(first.values()) if len(first) > 1 else list(passed)[:2]
    if level > 1 and len(rows) > 1:
        places = (
            " to ".join(f"{letter}#{row.steps[letter].position}" for row in (rows[0], rows[-1])) for letter in letters
        )
        yield f"  all [{', '.join(places)}] {len(rows)} steps alike: {', '.join(row.label for row in rows)}"
        return
    for row in rows:
        step = row.steps[letters[0]]
        what = row.label if level > 1 else call_text(step) if level else f"{call_text(step)}{texts.results.text(step)}"
        yield f"  all [{_places(row, letters)}] {what}{texts.clock.text(row, list(passed))}"


class _Line(NamedTuple):
    """What some of the runs did at one step."""

    letters: tuple[str, ...]
    places: str
    text: str
    when: str = ""


def _talk(row: AlignedStep, texts: _StepTexts) -> Iterator[_Line]:
    for letters, text in texts.talk.at(row):
        yield _Line(letters, _places(row, letters), text, texts.clock.text(row, letters))


def _divergence(row: AlignedStep, passed: Outcomes, texts: _StepTexts) -> Iterator[_Line]:
    """Runs that did the same share a line; if the function is the same, later lines only show the differences."""
    groups: list[list[str]] = []
    for letter in passed:
        if letter not in row.steps:
            continue
        step = row.steps[letter]
        alike = (group for group in groups if _is_alike(step, row.steps[group[0]], passed[letter] == passed[group[0]]))
        if (group := next(alike, None)) is None:
            groups.append([letter])
        else:
            group.append(letter)
    first = row.steps[groups[0][0]]
    example = _shortest_passing(row, groups, passed)
    for group in groups:
        step = row.steps[group[0]]
        said_chars = SHORT_TEXT_CHARS if example and passed[group[0]] and group is not example else MAX_SAID_CHARS
        called = difference_text(step, first) if step is not first else ""
        called = called or call_text(step, said_chars=said_chars)
        text = f"{called}{texts.results.text(step)}"
        yield _Line(tuple(group), _places(row, group), text, texts.clock.text(row, group))


def _shortest_passing(row: AlignedStep, groups: Sequence[list[str]], passed: Outcomes) -> list[str] | None:
    """Of several final answers that passed, those whose words are shown whole: the others say the same at length."""
    passing = [group for group in groups if row.label == FINAL and passed[group[0]]]
    return min(passing, key=lambda group: len(row.steps[group[0]].text), default=None)


def _is_alike(step: Step, other: Step, same_outcome: bool) -> bool:
    """Whether two steps are the same, or messages of runs with the same outcome in nearly the same words."""
    if (step.function and not step.speaks) or not same_outcome or step.label != other.label:
        return _did(step) == _did(other)
    words, others = set(step.text.lower().split()), set(other.text.lower().split())
    return len(words & others) >= NEARLY_EQUAL * len(words | others)


def _fold_repeats(lines: Sequence[_Line]) -> Iterator[str]:
    """Show what the same runs repeat immediately once, with the number of repetitions: a call, or a few in turn."""
    place = 0
    while place < len(lines):
        length, times = _find_cycle(lines[place:])
        block, last = lines[place : place + length], lines[place + length * times - 1]
        until = f" to {last.places} x{times}" if times > 1 and length == 1 else ""
        yield from (f"  {line.places}{until} {line.text}{line.when}" for line in block)
        if times > 1 and length > 1:
            yield f"  {lines[place + length].places} to {last.places} these {length} steps again, x{times - 1}"
        place += length * times


def _find_cycle(lines: Sequence[_Line]) -> tuple[int, int]:
    """How many of the first lines come back in the same order, and how often they are there."""
    done = [(line.letters, line.text) for line in lines]
    for length in range(1, MAX_CYCLE + 1):
        times = 1
        while done[length * times : length * (times + 1)] == done[:length]:
            times += 1
        if times > (1 if length == 1 else 2):
            return length, times
    return 1, 1


def _places(row: AlignedStep, letters: Sequence[str]) -> str:
    return " ".join(f"{letter}#{row.steps[letter].position}" for letter in letters)


# What reached the agent


def _meanwhile(packet: Packet, runs: Sequence[PacketRun], shortened: partial[str]) -> Iterator[str]:
    places_of = defaultdict[str, list[str]](list)
    for run in runs:
        answers = {answer.position for _, answered in questions_of(run) for answer in answered}
        for step in run.steps:
            if step.kind == "wait" and not step.function:
                places_of["waits"].append(f"{run.letter}#{step.position}")
            elif step.position not in answers and _reaches_the_agent(step) and not _is_known(step, packet):
                text = f"{step.actor}: {quote_words(shortened(step.text))}"
                said_before = (other for other in places_of if step.actor == "user" and are_alike(other, text))
                places_of[next(said_before, text)].append(f"{run.letter}#{step.position}")
    yield from (f"  {' '.join(places)} {text}" for text, places in places_of.items())
    if tainted := [f"{run.letter}#{step.position}" for run in runs for step in run.steps if step.tainted]:
        yield f"  {' '.join(tainted)} calls that followed an instruction planted in a result: they teach nothing"


def _reaches_the_agent(step: Step) -> bool:
    return step.kind in ("message", "notification") and step.actor in ("user", "environment")


def _is_known(step: Step, packet: Packet) -> bool:
    repeated = flatten(packet.task).startswith(flatten(step.text))
    return repeated or (step.actor == "user" and repeats_the_task(step.text, packet))


# What was said

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


# When steps happened

SAME_TIME_S = 5.0
"""Steps of several runs that are at most this far apart are shown with one time."""


class Clock:
    """The times of the runs of one packet. Renders nothing if the packet has no times."""

    def __init__(self, runs: Sequence[PacketRun]) -> None:
        self.runs = any(step.at_s is not None for run in runs for step in run.steps)
        """Whether there are any times."""
        self._waited = {
            (run.letter, step.position): later.at_s - step.at_s
            for run in runs
            for step, later in zip(run.steps, run.steps[1:], strict=False)
            if step.effect == "wait" and step.at_s is not None and later.at_s is not None
        }

    def text(self, row: AlignedStep, letters: Sequence[str]) -> str:
        """The times to append to a line about what these runs did."""
        texts = {letter: self._of_step(letter, row.steps[letter]) for letter in letters}
        if not all(texts.values()):
            return ""
        times = [row.steps[letter].at_s or 0.0 for letter in letters]
        waits = [self._waited.get((letter, row.steps[letter].position), 0.0) for letter in letters]
        if max(times) - min(times) <= SAME_TIME_S and max(waits) - min(waits) <= SAME_TIME_S:
            return f" ({texts[letters[0]]})"
        return f" ({'; '.join(f'{letter} {text}' for letter, text in texts.items())})"

    def _of_step(self, letter: str, step: Step) -> str:
        if step.at_s is None or not (step.speaks or step.effect in ("write", "wait", "finalize") or not step.function):
            return ""
        waited = self._waited.get((letter, step.position))
        return f"at {step.at_s:.0f} s" + (f", waited {waited:.0f} s" if waited is not None else "")
