"""Remarks: lines after the steps of a packet that point out differences between its runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from contramem.build.model.choices import compare_choices, compare_numbers
from contramem.build.model.nearest import compare_writes, writes_of
from contramem.contrast.clock import durations_in
from contramem.contrast.conventions import SharedValue
from contramem.contrast.packet import Packet, PacketRun, Step
from contramem.contrast.quotation import quote_words

MAX_TEXTS = 2
"""How many arguments are shown with their texts."""


def remarks(packet: Packet) -> Iterator[str]:
    """All remarks about a packet."""
    yield from compare_writes(packet, passes_without_a_write(packet))
    yield from compare_forms(packet)
    yield from compare_texts(packet)
    yield from compare_counts(packet)
    yield from compare_choices(packet)
    yield from compare_numbers(packet)
    yield from find_same_calls(packet)
    yield from list_conventions(packet.conventions)
    yield from name_durations(packet)


def passes_without_a_write(packet: Packet) -> set[str]:
    """Passing runs that changed nothing although another passing run did: they may be lucky and no good example."""
    idle = {run.letter for run in packet.passing if not writes_of(run)}
    return idle if len(idle) < len(packet.passing) else set()


def _changes(step: Step) -> bool:
    return step.effect == "write" and not step.error and not step.speaks


def compare_forms(packet: Packet) -> Iterator[str]:
    """Arguments that passing and failing runs write in different forms."""
    shapes: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for side, runs in enumerate((packet.passing, packet.failing)):
        for step in (step for run in runs for step in run.actions if step.function and not step.error):
            for name, shape in step.shapes.items():
                shapes.setdefault((step.function, name), ({}, {}))[side][shape] = None
    for (function, name), (passing, failing) in shapes.items():
        if passing and failing and not passing.keys() & failing.keys() and "" not in (*passing, *failing):
            right, wrong = " or ".join(passing), " or ".join(failing)
            yield f"form of {function}.{name}: {right} in passing runs, {wrong} in failing ones"


def compare_counts(packet: Packet) -> Iterator[str]:
    """Writes that all passing runs make equally often and some failing runs make more often."""
    counts = {run.letter: Counter(step.function for step in run.actions if _changes(step)) for run in packet.runs}
    for function in sorted({function for counted in counts.values() for function in counted}):
        often = {counts[run.letter][function] for run in packet.passing}
        more = [run.letter for run in packet.failing if often and counts[run.letter][function] > max(often)]
        if len(often) == 1 and min(often) and more:
            yield f"times: {function} {min(often)} in every passing run, more in {' '.join(more)}"


def find_same_calls(packet: Packet) -> Iterator[str]:
    """Runs with the same visible calls and different outcomes."""
    groups = defaultdict[bytes, list[PacketRun]](list)
    for run in (*packet.passing, *packet.failing):
        calls = [(step.function, step.arguments) for step in run.actions if step.function]
        groups[msgspec.json.encode(calls, order="deterministic")].append(run)
    for runs in groups.values():
        letters = {outcome: " ".join(run.letter for run in runs if run.passed is outcome) for outcome in (True, False)}
        if all(letters.values()):
            yield f"same visible calls: {letters[True]} passed, {letters[False]} failed; calls do not tell them apart"


def list_conventions(conventions: Sequence[SharedValue]) -> Iterator[str]:
    """One line for all: what is the same in passing runs of several tasks though no request and no result says it."""
    if conventions:
        told = "; ".join(
            f"{shared.function}.{shared.argument}={shared.value} ({shared.tasks} tasks, {shared.sources} sources)"
            for shared in conventions
        )
        yield f"convention, shared by passing runs and shown by nothing: {told}"


def compare_texts(packet: Packet) -> Iterator[str]:
    """Texts that agents wrote, if no passing and no failing run wrote the same."""
    written: dict[tuple[str, str], tuple[dict[str, str], dict[str, str]]] = {}
    for side, runs in enumerate((packet.passing, packet.failing)):
        for run in runs:
            for slot, name, text in _texts_written(run):
                written.setdefault(slot, ({}, {}))[side].setdefault(name, text)
    decisive = [
        (slot, passing, failing)
        for slot, (passing, failing) in written.items()
        if passing and failing and not passing.keys() & failing.keys()
    ]
    for (function, argument), passing, failing in decisive[:MAX_TEXTS]:
        right, wrong = next(iter(passing.values())), next(iter(failing.values()))
        if right != wrong:
            compared = f"{quote_words(right)} in a passing run, {quote_words(wrong)} in a failing one"
            yield f"text of {function}.{argument}: {compared}"


def _texts_written(run: PacketRun) -> Iterator[tuple[tuple[str, str], str, str]]:
    """(function and argument, placeholder, masked text) of each text that the run wrote."""
    for step in run.actions:
        if not step.error:
            for argument, text in step.prose.items():
                yield (step.function, argument), str(step.arguments[argument]), text


def name_durations(packet: Packet) -> Iterator[str]:
    """The durations that the request names, in seconds like the times of the steps."""
    if not any(step.at_s is not None for run in packet.runs for step in run.steps):
        return
    if named := [f"{duration.text} is {duration.seconds:g} s" for duration in durations_in(packet.task)]:
        yield f"times that the request names: {', '.join(named)}"
