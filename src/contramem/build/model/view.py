"""Renders a packet for a construction model: divergences in full, agreements condensed, and hints as suggestions.

Runs are aligned; steps that all runs share are shown once. If the text exceeds its token budget, details are left out
in the order of `DEGRADATIONS`. Divergences are never cut, so a text of divergences alone may exceed its budget.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import NamedTuple, TypeAlias

import msgspec

from contramem.build.model.across_hints import NO_HINTS, AcrossHints
from contramem.build.model.conversation import (
    Conversation,
    are_alike,
    questions_of,
    read_conversation,
    repeats_the_task,
)
from contramem.build.model.nearest import pair_with_nearest
from contramem.build.model.remarks import passes_without_a_write, remarks
from contramem.build.model.step_clock import Clock
from contramem.build.model.step_text import MAX_SAID_CHARS, ResultTexts, call_text, difference_text, flatten, shorten
from contramem.build.rules.mine import mine
from contramem.contrast.align import AlignedStep, align, reference_first
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.quotation import quote_words, shorten_quotations
from contramem.contrast.signal import Signal
from contramem.contrast.signals import ALIKE
from contramem.contrast.step import ASK, FINAL, Step
from contramem.counting import count_tokens
from contramem.monitor.packet_replay import GuardReplay

PACKET_BUDGET_TOKENS = 6_000
DEGRADATIONS = (
    "results of shared steps",
    "arguments of shared steps",
    "all but the two clearest hints",
    "messages, notifications and feedback beyond their first 160 characters",
)
"""What is left out, in this order, until the text fits."""
MAX_SHARED, MAX_SIGNALS, MAX_GUARDS, FEW_HINTS = 3, 4, 3, 2
MAX_CITES = 3
"""Of one signal: enough to find its place among the steps."""
MAX_TEXT_CHARS, SHORT_TEXT_CHARS = 600, 160
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
    hints = "\n".join(_hints(packet, across, few=level > 2))
    return PacketText(text, hints, count_tokens(text) + count_tokens(hints), DEGRADATIONS[:level])


def _lines(packet: Packet, level: int) -> Iterator[str]:
    runs = [run for run in packet.runs if run.counts] or list(packet.runs)
    shortened = partial(shorten, limit=SHORT_TEXT_CHARS if level > 3 else MAX_TEXT_CHARS)
    if packet.system_facts:
        yield f"told beforehand: {quote_words(' '.join(packet.system_facts))}"
    yield f"task: {quote_words(packet.task)}"
    lucky = passes_without_a_write(packet)
    yield f"runs: {', '.join(_outcome(run) + (LUCKY if run.letter in lucky else '') for run in packet.runs)}"
    feedback = defaultdict[str, list[str]](list)
    for run in runs:
        if run.feedback and run.feedback.lower() not in OUTCOMES:
            feedback[shortened(run.feedback)].append(run.letter)
    yield from (f"feedback on {' '.join(letters)}: {quote_words(text)}" for text, letters in feedback.items())
    clock, rows = Clock(runs), align(reference_first(runs))
    talk = read_conversation(packet, runs, rows)
    timed = "; at: seconds since the request" if clock.runs else ""
    yield f"steps (RUN#EVENT; `all`: every run alike, two of them named{timed}{talk.note}):"
    passed = {run.letter: run.passed for run in runs}
    yield from _rows(rows, passed, _StepTexts(ResultTexts(packet), clock, talk), level)
    yield from map(_short_names(packet), remarks(packet))
    if level:
        yield f"left out for length: {'; '.join(DEGRADATIONS[:level])}"
    if meanwhile := list(_meanwhile(packet, runs, shortened)):
        yield "meanwhile (RUN#EVENT; waits, and what reached the agent beside the results of its calls):"
        yield from meanwhile


def _outcome(run: PacketRun) -> str:
    if not run.counts:
        return f"{run.letter} cut off or without a known outcome (no evidence)"
    ended = "" if run.ended == "complete" else f", ended by {run.ended}"
    return f"{run.letter} {'passed' if run.passed else 'failed'}{ended}"


def _short_names(packet: Packet) -> Callable[[str], str]:
    """Takes the app off the names of functions where there is only one: steps and guards show them in full."""
    called = sorted(filter(None, packet.called))
    apps = {function.partition(".")[0] for function in called}
    if len(apps) != 1:
        return lambda text: text
    full = re.compile("|".join(rf"\b{re.escape(function)}\b" for function in reversed(called)))
    return lambda text: full.sub(lambda found: found[0].partition(".")[2], text)


# Steps


class _StepTexts(NamedTuple):
    """What is said about steps: results, times and talk."""

    results: ResultTexts
    clock: Clock
    talk: Conversation


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
    """Show a call that the same runs repeat immediately on one line, with the number of repetitions."""
    for (_, text), repeats in groupby(lines, key=lambda line: (line.letters, line.text)):
        repeated = list(repeats)
        until = f" to {repeated[-1].places} x{len(repeated)}" if len(repeated) > 1 else ""
        yield f"  {repeated[0].places}{until} {text}{repeated[0].when}"


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


# Hints


def _hints(packet: Packet, across: AcrossHints, *, few: bool) -> Iterator[str]:
    short_names = _short_names(packet)
    if opposite := across.opposites.get(packet.task_key):
        yield f"  {short_names(opposite)}"
    for hint in [hint for hint in across.shared if hint.concerns(packet)][:MAX_SHARED]:
        yield f"  across tasks: {hint}"
    signals = _drop_told(_drop_repeated(packet.signals), packet)
    for signal in signals[: FEW_HINTS if few else MAX_SIGNALS]:
        cites = " ".join(f"{cite.run}#{cite.position}" for cite in signal.cites[:MAX_CITES])
        statement = short_names(shorten_quotations(flatten(signal.statement)))
        yield f"  signal ({signal.axis}): {statement}{f' [{cites}]' if cites else ''}"
    guards = mine(packet) if packet.is_contrastive else []
    for replay in guards[: FEW_HINTS if few else MAX_GUARDS]:
        yield f"  guard: {replay.guard} ({_replay_in_words(replay)})"


def _drop_told(signals: Sequence[Signal], packet: Packet) -> list[Signal]:
    """Drop signals that decide nothing or that the comparison with the nearest passing run states, also where they
    come back as what all failing runs have in common."""
    told = _told_by_nearest(packet)
    dropped = {
        (_evidence(signal), kind)
        for signal in packet.signals
        if not told.isdisjoint(_subjects(signal)) or _is_detour(signal, packet)
        for kind in (signal.kind, ALIKE)
    }
    return [signal for signal in signals if (_evidence(signal), signal.kind) not in dropped]


def _is_detour(signal: Signal, packet: Packet) -> bool:
    """Whether failing runs only looked something up before they did the same, or the passing run's call had failed."""
    if signal.kind != "first divergence":
        return False
    steps = {(run.letter, step.position): step for run in packet.runs for step in run.actions}
    if any(steps[cite].error for cite in signal.cites if cite.run in signal.passing and cite in steps):
        return True
    looked = [steps[cite].effect == "read" for cite in signal.cites if cite.run in signal.failing and cite in steps]
    failing = [run for run in packet.failing if run.letter in signal.failing]
    return (
        len(signal.functions) > 1
        and all(looked)
        and all(any(step.function == signal.functions[0] for step in run.actions) for run in failing)
    )


def _drop_repeated(signals: Sequence[Signal]) -> list[Signal]:
    """Drop signals that another one repeats ("All 3 failing runs alike. ...") or states more precisely: a missing write
    instead of a call of passing runs, a differing argument instead of a divergence."""
    alike = {_evidence(signal) for signal in signals if signal.kind == ALIKE}
    sharper = {(signal.functions, kind) for signal in signals for kind in _SHARPER.get(signal.kind, ())}
    of_one_side = {name for signal in signals if signal.kind in _CALLED for name in signal.functions}
    return [
        signal
        for signal in signals
        if (signal.functions, signal.kind) not in sharper
        and not (signal.kind == "first divergence" and not of_one_side.isdisjoint(signal.functions))
        and (signal.kind == ALIKE or _evidence(signal) not in alike)
    ]


def _evidence(signal: Signal) -> tuple[object, ...]:
    return signal.functions, signal.passing, signal.failing, signal.cites, signal.strength


def _told_by_nearest(packet: Packet) -> set[tuple[str, str]]:
    """Kinds of signals, with a function, that the comparison with the nearest passing run says already."""
    pairs = pair_with_nearest(packet, passes_without_a_write(packet))
    return {
        (kind, difference.function)
        for _, _, differences in pairs
        for difference in differences
        for kind in (_ABOUT_ARGUMENTS if difference.argument else _ABOUT_WRITES)
    }


def _subjects(signal: Signal) -> set[tuple[str, str]]:
    return {(signal.kind, function) for function in signal.functions}


_ABOUT_WRITES = ("missing write", "extra write", "first divergence")
_ABOUT_ARGUMENTS = ("differing argument", "first divergence")


_CALLED = ("calls of passing runs", "calls of failing runs")
_OF_ONE_SIDE = (*_CALLED, "first divergence")
_SHARPER = {"missing write": _OF_ONE_SIDE, "extra write": _OF_ONE_SIDE, "differing argument": ("first divergence",)}
"""By kind of signal: the kinds it makes redundant for the same functions."""


def _replay_in_words(replay: GuardReplay) -> str:
    parts = [("kept by passing", replay.held), ("broken by failing", replay.broken)]
    if replay.contradicted:
        parts.append(("broken by passing", replay.contradicted))
    return "; ".join(f"{how} {' '.join(runs)}" for how, runs in parts)
