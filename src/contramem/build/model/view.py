"""A packet as a construction model reads it: divergences in full, agreements folded, hints that may be refused.

Runs are aligned; what every run did alike is told once. Over its token budget the text says less in the order of
`DEGRADATIONS`. A divergence is never cut: a text that holds nothing else may be longer than its budget.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import NamedTuple, TypeAlias

import msgspec

from contramem.build.rules.mine import mine
from contramem.contrast.align import AlignedStep, align, reference_first
from contramem.contrast.conventions import SharedValue
from contramem.contrast.flow import NOWHERE
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.quotation import quote_if_long, quote_words
from contramem.contrast.signal import Signal
from contramem.counting import count_tokens
from contramem.monitor.packet_replay import GuardReplay

PACKET_BUDGET_TOKENS = 6_000
DEGRADATIONS = (
    "results of shared steps",
    "arguments of shared steps",
    "all but the three clearest hints",
    "messages, notifications and feedback beyond their first 160 characters",
)
"""What is left out, first to last, until the text fits."""
MAX_SIGNALS, MAX_GUARDS, FEW_HINTS = 6, 5, 3
MAX_TEXT_CHARS, SHORT_TEXT_CHARS = 600, 160
MAX_CONTENT_CHARS = 400
"""Of the contents of one result."""
NEARLY_EQUAL = 0.6
"""The share of words that two messages must have in common to be told as one."""
LUCKY = " (changed nothing, though other passing runs did)"
OUTCOMES = frozenset({"passed", "failed", "pass", "fail", "true", "false"})
"""Feedback that says no more than the outcome does."""
Outcomes: TypeAlias = Mapping[str, bool | None]
"""By run letter, in the order of the packet."""
_PLACEHOLDER = re.compile(r"<[A-Z]+(?:_\d+)?>")


@dataclass(frozen=True)
class PacketText:
    """What the Reflector reads about one task."""

    text: str
    hints: str
    """Signals and candidate guards, apart: they are suggestions, not evidence."""
    tokens: int
    left_out: tuple[str, ...]
    """Which of `DEGRADATIONS` it took."""


def packet_text(packet: Packet, budget_tokens: int = PACKET_BUDGET_TOKENS) -> PacketText:
    """The packet within its budget, or as short as it gets without cutting a divergence."""
    for level in range(len(DEGRADATIONS) + 1):
        text = _at_level(packet, level)
        if text.tokens <= budget_tokens:
            break
    return text


def _at_level(packet: Packet, level: int) -> PacketText:
    text = "\n".join(_lines(packet, level))
    hints = "\n".join(_hints(packet, few=level > 2))
    return PacketText(text, hints, count_tokens(text) + count_tokens(hints), DEGRADATIONS[:level])


def _lines(packet: Packet, level: int) -> Iterator[str]:
    runs = [run for run in packet.runs if run.counts] or list(packet.runs)
    shortened = partial(_cut, limit=SHORT_TEXT_CHARS if level > 3 else MAX_TEXT_CHARS)
    yield f"task: {quote_words(packet.task)}"
    lucky = passes_without_a_write(packet)
    yield f"runs: {', '.join(_outcome(run) + (LUCKY if run.letter in lucky else '') for run in packet.runs)}"
    feedback = defaultdict[str, list[str]](list)
    for run in runs:
        if run.feedback and run.feedback.lower() not in OUTCOMES:
            feedback[shortened(run.feedback)].append(run.letter)
    yield from (f"feedback on {' '.join(letters)}: {quote_words(text)}" for text, letters in feedback.items())
    yield "steps (RUN#EVENT; what is marked `all` every run did alike):"
    passed = {run.letter: run.passed for run in runs}
    yield from _rows(align(reference_first(runs)), passed, _Results(packet), level)
    yield from compare_forms(packet)
    yield from _same_calls(packet)
    yield from (_convention_text(convention) for convention in packet.conventions)
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


# Steps


def _rows(rows: Sequence[AlignedStep], passed: Outcomes, results: _Results, level: int) -> Iterator[str]:
    shared: list[AlignedStep] = []
    apart: list[_Line] = []
    for row in rows:
        if _is_shared(row, passed):
            yield from _fold_repeats(apart)
            apart = []
            shared.append(row)
            continue
        yield from _shared_lines(shared, list(passed), results, level)
        shared = []
        apart += _divergence(row, passed, results)
    yield from _fold_repeats(apart)
    yield from _shared_lines(shared, list(passed), results, level)


def _is_shared(row: AlignedStep, letters: Collection[str]) -> bool:
    first = next(iter(row.steps.values()))
    alike = all(_did(step) == _did(first) for step in row.steps.values())
    return alike and len(letters) > 1 and set(row.steps) == set(letters)


def _did(step: Step) -> bytes:
    """Alike in what was done and what came of it; the order in which arguments are written makes no difference."""
    contents = step.contents if step.effect == "read" else ()
    made = [step.label, step.arguments, step.origins, step.error or step.text, step.returned, contents]
    return msgspec.json.encode(made, order="deterministic")


def _shared_lines(rows: Sequence[AlignedStep], letters: Sequence[str], results: _Results, level: int) -> Iterator[str]:
    if level > 1 and len(rows) > 1:
        places = (
            " to ".join(f"{letter}#{row.steps[letter].position}" for row in (rows[0], rows[-1])) for letter in letters
        )
        yield f"  all [{', '.join(places)}] {len(rows)} steps alike: {', '.join(row.label for row in rows)}"
        return
    for row in rows:
        step = row.steps[letters[0]]
        what = row.label if level > 1 else call_text(step) if level else f"{call_text(step)}{results.text(step)}"
        yield f"  all [{_places(row, letters)}] {what}"


class _Line(NamedTuple):
    """What some runs did at one step."""

    letters: tuple[str, ...]
    places: str
    text: str


def _divergence(row: AlignedStep, passed: Outcomes, results: _Results) -> Iterator[_Line]:
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
    for group in groups:
        step = row.steps[group[0]]
        yield _Line(tuple(group), _places(row, group), f"{call_text(step)}{results.text(step)}")


def _is_alike(step: Step, other: Step, same_outcome: bool) -> bool:
    """The same, or messages of runs with the same outcome that say the same in nearly the same words."""
    if step.function or not same_outcome or step.label != other.label:
        return _did(step) == _did(other)
    words, others = set(step.text.lower().split()), set(other.text.lower().split())
    return len(words & others) >= NEARLY_EQUAL * len(words | others)


def _fold_repeats(lines: Sequence[_Line]) -> Iterator[str]:
    """A call that the same runs repeat at once stands on one line, with how often."""
    for (_, text), repeats in groupby(lines, key=lambda line: (line.letters, line.text)):
        repeated = list(repeats)
        until = f" to {repeated[-1].places} x{len(repeated)}" if len(repeated) > 1 else ""
        yield f"  {repeated[0].places}{until} {text}"


def _places(row: AlignedStep, letters: Sequence[str]) -> str:
    return " ".join(f"{letter}#{row.steps[letter].position}" for letter in letters)


def call_text(step: Step, *, origins: bool = True) -> str:
    """What the agent did, in one line, with where each value had been seen before."""
    if not step.function:
        return f"{step.label}: {quote_words(step.text)}"
    given = ", ".join(
        f"{name}={_value(value)}{_from(step, name) if origins else ''}" for name, value in step.arguments.items()
    )
    effect = f" [{step.effect}]" if step.effect not in ("read", "unknown") else ""
    return f"{step.function}({given}){effect}"


def _value(value: object) -> str:
    return quote_if_long(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def _from(step: Step, name: str) -> str:
    origin = step.origins.get(name, "").removeprefix(f"{step.function.partition('.')[0]}.")
    # Dates are worked out and words of the interface are known: that they had stood nowhere says nothing.
    readable = origin == NOWHERE and not _PLACEHOLDER.search(str(step.arguments.get(name)))
    return f" «{origin}»" if origin and origin != "task" and not readable else ""


def result_text(step: Step) -> str:
    """What came back, to follow the call; empty when the trace does not show it."""
    if step.error:
        return f" -> error: {quote_words(step.error)}"
    if step.form is not None and step.form.kind == "text" and step.returned != str(step.form):
        return f" -> {quote_words(step.returned)}"
    return f" -> {_flat(step.returned)}" if step.returned else ""


class _Results:
    """Results with the contents that can decide: readable values, and placeholders that some run uses elsewhere.

    What the call itself had given is not repeated, and fields and contents are told once.
    """

    def __init__(self, packet: Packet) -> None:
        steps = [step for run in packet.runs for step in run.steps]
        used = [packet.task, *(str(step.arguments) for step in steps), *(step.text for step in steps)]
        self._used = {name for text in used for name in _PLACEHOLDER.findall(text)}
        self._told: set[tuple[str, object]] = set()

    def text(self, step: Step) -> str:
        """What came back, to follow the call."""
        if step.error or step.form is None or step.form.kind not in ("list", "record", "map"):
            return result_text(step)
        columns = self._columns(step)
        form = step.form
        if self._is_told(step.function, form.fields):
            form = form._replace(fields=())
        elif columns:
            form = form._replace(fields=tuple(name for name in form.fields if name not in columns))
        rows = " | ".join(self._row(step, dict(item), columns) for item in step.contents)
        if not columns or len(rows) > MAX_CONTENT_CHARS:
            return f" -> {step.form if not form.fields and columns else form}"
        header = f"{', '.join(columns)}: " if any(columns) else ""
        return f" -> {form}; {header}{rows}"

    def _columns(self, step: Step) -> list[str]:
        """The fields that are worth showing; none where nothing but placeholders would stand there.

        What a write returns mostly repeats what it was given.
        """
        telling = [(name, value) for item in step.contents for name, value in item if self._tells(step, value)]
        readable = any(not _PLACEHOLDER.search(value) for _, value in telling)
        if step.effect == "write" or not readable or self._is_told(step.function, step.contents):
            return []
        return list(dict.fromkeys(name for name, _ in telling))

    def _row(self, step: Step, item: Mapping[str, str], columns: Sequence[str]) -> str:
        values = (item.get(name, "") for name in columns)
        return ", ".join(quote_if_long(_cut(value, 40)) if self._tells(step, value) else "-" for value in values)

    def _is_told(self, function: str, what: object) -> bool:
        """Was it told before? From now on it was."""
        repeated = (function, what) in self._told
        self._told.add((function, what))
        return repeated

    def _tells(self, step: Step, value: str) -> bool:
        given = value in map(str, step.arguments.values())
        return bool(value) and not given and (_PLACEHOLDER.fullmatch(value) is None or value in self._used)


# What is worth a line of its own


def passes_without_a_write(packet: Packet) -> set[str]:
    """Passing runs that changed nothing where another passing run did: perhaps lucky, and no example to follow."""
    idle = {run.letter for run in packet.passing if not _writes(run)}
    return idle if len(idle) < len(packet.passing) else set()


def _writes(run: PacketRun) -> bool:
    return any(step.effect == "write" and not step.error for step in run.actions)


def compare_forms(packet: Packet) -> Iterator[str]:
    """Arguments that passing runs write in another form than failing runs."""
    shapes: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for side, runs in enumerate((packet.passing, packet.failing)):
        for step in (step for run in runs for step in run.actions if step.function and not step.error):
            for name, shape in step.shapes.items():
                shapes.setdefault((step.function, name), ({}, {}))[side][shape] = None
    for (function, name), (passing, failing) in shapes.items():
        if passing and failing and not passing.keys() & failing.keys() and "" not in (*passing, *failing):
            right, wrong = " or ".join(passing), " or ".join(failing)
            yield f"form of {function}.{name}: {right} in passing runs, {wrong} in failing ones"


def _same_calls(packet: Packet) -> Iterator[str]:
    """Runs that made the same visible calls and ended differently."""
    groups = defaultdict[bytes, list[PacketRun]](list)
    for run in (*packet.passing, *packet.failing):
        calls = [(step.function, step.arguments) for step in run.actions if step.function]
        groups[msgspec.json.encode(calls, order="deterministic")].append(run)
    for runs in groups.values():
        letters = {outcome: " ".join(run.letter for run in runs if run.passed is outcome) for outcome in (True, False)}
        if all(letters.values()):
            yield f"same visible calls: {letters[True]} passed, {letters[False]} failed; calls do not tell them apart"


def _convention_text(convention: SharedValue) -> str:
    where = f"{convention.function}.{convention.argument}={convention.value}"
    return (
        f"convention: {where} (passing runs of {convention.tasks} tasks, {convention.sources} sources; shown nowhere)"
    )


def _meanwhile(packet: Packet, runs: Sequence[PacketRun], shortened: partial[str]) -> Iterator[str]:
    places_of = defaultdict[str, list[str]](list)
    for run in runs:
        for step in run.steps:
            if step.kind == "wait" and not step.function:
                places_of["waits"].append(f"{run.letter}#{step.position}")
            elif _reaches_the_agent(step) and not _flat(packet.task).startswith(_flat(step.text)):
                places_of[f"{step.actor}: {quote_words(shortened(step.text))}"].append(f"{run.letter}#{step.position}")
    yield from (f"  {' '.join(places)} {text}" for text, places in places_of.items())
    if tainted := [f"{run.letter}#{step.position}" for run in runs for step in run.steps if step.tainted]:
        yield f"  {' '.join(tainted)} calls that followed an instruction planted in a result: they teach nothing"


def _reaches_the_agent(step: Step) -> bool:
    return step.kind in ("message", "notification") and step.actor in ("user", "environment")


# Hints


def _hints(packet: Packet, *, few: bool) -> Iterator[str]:
    for signal in _drop_repeated(packet.signals)[: FEW_HINTS if few else MAX_SIGNALS]:
        cites = " ".join(f"{cite.run}#{cite.position}" for cite in signal.cites[:6])
        yield f"  signal ({signal.axis}): {_flat(signal.statement)}{f' [{cites}]' if cites else ''}"
    guards = mine(packet) if packet.is_contrastive else []
    for replay in guards[: FEW_HINTS if few else MAX_GUARDS]:
        yield f"  guard: {replay.guard} ({_replay_in_words(replay)})"


def _drop_repeated(signals: Sequence[Signal]) -> list[Signal]:
    """Without those that another one repeats at its end ("All 3 failing runs alike. ...")."""
    statements = {signal.statement for signal in signals}
    return [
        signal
        for signal in signals
        if not any(other != signal.statement and other.endswith(signal.statement) for other in statements)
    ]


def _replay_in_words(replay: GuardReplay) -> str:
    parts = [("passing runs that keep it", replay.held), ("failing runs that break it", replay.broken)]
    if replay.contradicted:
        parts.append(("passing runs that break it", replay.contradicted))
    return "; ".join(f"{who}: {' '.join(runs)}" for who, runs in parts)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, limit: int) -> str:
    flat = _flat(text)
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
