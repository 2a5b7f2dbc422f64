"""Renders a packet for a construction model: divergences in full, agreements condensed, and hints as suggestions.

Runs are aligned; steps that all runs share are shown once. If the text exceeds its token budget, details are left out
in the order of `DEGRADATIONS`. Divergences are never cut, so a text of divergences alone may exceed its budget.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import msgspec

from contramem.build.model.across_hints import NO_HINTS, AcrossHints
from contramem.build.model.conversation import (
    FoldedConversation,
    are_alike,
    questions_of,
    read_conversation,
    repeats_the_task,
)
from contramem.build.model.defaults import PACKET_BUDGET_TOKENS
from contramem.build.model.hint_lines import hint_lines, short_names
from contramem.build.model.remarks import passes_without_a_write, remarks
from contramem.build.model.step_clock import Clock
from contramem.build.model.step_text import (
    MAX_SAID_CHARS,
    PLACEHOLDER,
    ResultTexts,
    call_text,
    difference_text,
    flatten,
    shorten,
)
from contramem.contrast.align import AlignedStep, align, reference_first
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.quotation import quote_words
from contramem.contrast.step import ASK, FINAL, Step
from contramem.counting import count_tokens

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
