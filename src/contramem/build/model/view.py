"""A packet as a construction model reads it: divergences in full, agreements folded, hints that may be refused.

Runs are aligned; what every run did alike is told once. Over its token budget the text says less in the order of
`DEGRADATIONS`. A divergence is never cut: a text that holds nothing else may be longer than its budget.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from contramem.build.rules.mine import mine
from contramem.contrast.align import AlignedStep, align, reference_first
from contramem.contrast.packet import Packet, PacketRun, Step
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
MAX_SIGNALS, MAX_GUARDS, FEW_HINTS = 8, 5, 3
MAX_TEXT_CHARS, SHORT_TEXT_CHARS = 600, 160


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
        found = _at_level(packet, level)
        if found.tokens <= budget_tokens:
            break
    return found


def _at_level(packet: Packet, level: int) -> PacketText:
    text = "\n".join(_lines(packet, level))
    hints = "\n".join(_hints(packet, few=level > 2))
    return PacketText(text, hints, count_tokens(text) + count_tokens(hints), DEGRADATIONS[:level])


def _lines(packet: Packet, level: int) -> Iterator[str]:
    runs = [run for run in packet.runs if run.counts] or list(packet.runs)
    shortened = partial(_cut, limit=SHORT_TEXT_CHARS if level > 3 else MAX_TEXT_CHARS)
    yield f"task: {_flat(packet.task)}"
    yield f"runs: {', '.join(_outcome(run) for run in packet.runs)}"
    feedback = defaultdict[str, list[str]](list)
    for run in runs:
        if run.feedback:
            feedback[shortened(run.feedback)].append(run.letter)
    yield from (f"feedback on {' '.join(letters)}: {text}" for text, letters in feedback.items())
    yield "steps (RUN#EVENT; what is marked `all` every run did alike):"
    yield from _rows(align(reference_first(runs)), [run.letter for run in runs], level)
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


def _rows(rows: Sequence[AlignedStep], letters: Sequence[str], level: int) -> Iterator[str]:
    shared: list[AlignedStep] = []
    for row in rows:
        if _is_shared(row, letters):
            shared.append(row)
            continue
        yield from _shared(shared, letters, level)
        shared = []
        yield from _divergence(row, letters)
    yield from _shared(shared, letters, level)


def _is_shared(row: AlignedStep, letters: Sequence[str]) -> bool:
    first = next(iter(row.steps.values()))
    alike = all(_did(step) == _did(first) for step in row.steps.values())
    return alike and len(letters) > 1 and set(row.steps) == set(letters)


def _did(step: Step) -> bytes:
    """Alike in what was done and what came of it; the order in which arguments are written makes no difference."""
    made = [step.label, step.arguments, step.origins, step.error or step.text, step.returned]
    return msgspec.json.encode(made, order="deterministic")


def _shared(rows: Sequence[AlignedStep], letters: Sequence[str], level: int) -> Iterator[str]:
    if level > 1 and len(rows) > 1:
        places = (
            " to ".join(f"{letter}#{row.steps[letter].position}" for row in (rows[0], rows[-1])) for letter in letters
        )
        yield f"  all [{', '.join(places)}] {len(rows)} steps alike: {', '.join(row.label for row in rows)}"
        return
    for row in rows:
        step = row.steps[letters[0]]
        what = row.label if level > 1 else call_text(step) if level else f"{call_text(step)}{result_text(step)}"
        yield f"  all [{_places(row, letters)}] {what}"


def _divergence(row: AlignedStep, letters: Sequence[str]) -> Iterator[str]:
    groups = defaultdict[bytes, list[str]](list)
    for letter in letters:
        if letter in row.steps:
            groups[_did(row.steps[letter])].append(letter)
    for group in groups.values():
        step = row.steps[group[0]]
        yield f"  {_places(row, group)} {call_text(step)}{result_text(step)}"


def _places(row: AlignedStep, letters: Sequence[str]) -> str:
    return " ".join(f"{letter}#{row.steps[letter].position}" for letter in letters)


def call_text(step: Step, *, origins: bool = True) -> str:
    """What the agent did, in one line, with where each value had been seen before."""
    if not step.function:
        return f"{step.label}: {_flat(step.text)}"
    given = ", ".join(
        f"{name}={_value(value)}{_from(step, name) if origins else ''}" for name, value in step.arguments.items()
    )
    effect = f" [{step.effect}]" if step.effect not in ("read", "unknown") else ""
    return f"{step.function}({given}){effect}"


def _value(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _from(step: Step, name: str) -> str:
    origin = step.origins.get(name, "")
    return f" «{origin}»" if origin and origin != "task" else ""


def result_text(step: Step) -> str:
    """What came back, to follow the call; empty when the trace does not show it."""
    if step.error:
        return f" -> error: {_flat(step.error)}"
    return f" -> {_flat(step.returned)}" if step.returned else ""


def _meanwhile(packet: Packet, runs: Sequence[PacketRun], shortened: partial[str]) -> Iterator[str]:
    told = defaultdict[str, list[str]](list)
    for run in runs:
        for step in run.steps:
            if step.kind == "wait" and not step.function:
                told["waits"].append(f"{run.letter}#{step.position}")
            elif _reaches_the_agent(step) and not _flat(packet.task).startswith(_flat(step.text)):
                told[f"{step.actor}: {shortened(step.text)}"].append(f"{run.letter}#{step.position}")
    yield from (f"  {' '.join(places)} {text}" for text, places in told.items())
    if tainted := [f"{run.letter}#{step.position}" for run in runs for step in run.steps if step.tainted]:
        yield f"  {' '.join(tainted)} calls that followed an instruction planted in a result: they teach nothing"


def _reaches_the_agent(step: Step) -> bool:
    return step.kind in ("message", "notification") and step.actor in ("user", "environment")


# Hints


def _hints(packet: Packet, *, few: bool) -> Iterator[str]:
    for signal in _said_once(packet.signals)[: FEW_HINTS if few else MAX_SIGNALS]:
        cites = " ".join(f"{cite.run}#{cite.position}" for cite in signal.cites[:6])
        yield f"  signal ({signal.axis}): {_flat(signal.statement)}{f' [{cites}]' if cites else ''}"
    guards = mine(packet) if packet.is_contrastive else []
    for found in guards[: FEW_HINTS if few else MAX_GUARDS]:
        yield f"  guard: {found.guard} ({_fared(found)})"


def _said_once(signals: Sequence[Signal]) -> list[Signal]:
    """Without those that another one repeats at its end ("All 3 failing runs alike. ...")."""
    statements = {signal.statement for signal in signals}
    return [
        signal
        for signal in signals
        if not any(other != signal.statement and other.endswith(signal.statement) for other in statements)
    ]


def _fared(found: GuardReplay) -> str:
    shown = [("passing runs that keep it", found.held), ("failing runs that break it", found.broken)]
    if found.contradicted:
        shown.append(("passing runs that break it", found.contradicted))
    return "; ".join(f"{who}: {' '.join(runs)}" for who, runs in shown)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, limit: int) -> str:
    flat = _flat(text)
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
