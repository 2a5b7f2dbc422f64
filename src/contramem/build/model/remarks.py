"""Remarks: lines after the steps of a packet that point out differences between its runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from contramem.build.model.choices import compare_choices, compare_numbers
from contramem.build.model.nearest import compare_writes, writes_of
from contramem.contrast.clock import durations_in
from contramem.contrast.conventions import SharedValue
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.quotation import quote_words
from contramem.contrast.step import Step, is_command

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
    yield from list_conventions(packet)
    yield from name_durations(packet)


def passes_without_a_write(packet: Packet) -> set[str]:
    """Passing runs that changed nothing although another passing run did: they may be lucky and no good example."""
    idle = {run.letter for run in packet.passing if not writes_of(run)}
    return idle if len(idle) < len(packet.passing) else set()


def _changes(step: Step) -> bool:
    return step.effect == "write" and not step.error and not step.speaks


def compare_forms(packet: Packet) -> Iterator[str]:
    """Arguments that passing and failing runs write in different forms: all failing runs, or some of them where every
    passing run writes a code of the same form."""
    shapes: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
    for run in (*packet.passing, *packet.failing):
        for step in (step for step in run.actions if step.function and not step.error):
            for name, shape in step.shapes.items():
                # An integer of more digits is a larger number, and not another form.
                written = "9" if step.forms.get(name) == "integer" else _form_of_words(shape)
                shapes.setdefault((step.function, name), {}).setdefault(run.letter, {})[written] = None
    passed = {run.letter for run in packet.passing}
    for (function, name), by_run in shapes.items():
        right = {shape: None for letter, own in by_run.items() if letter in passed for shape in own}
        failing = {letter: own for letter, own in by_run.items() if letter not in passed}
        others = [letter for letter, own in failing.items() if not right.keys() & own.keys()]
        wrong = dict.fromkeys(shape for letter in others for shape in failing[letter])
        if not right or not wrong or "" in (*right, *wrong):
            continue
        if len(others) == len(failing) or (len(right) == 1 and _is_code(next(iter(right)))):
            whose = "failing ones" if len(others) == len(failing) else " ".join(others)
            yield f"form of {function}.{name}: {' or '.join(right)} in passing runs, {' or '.join(wrong)} in {whose}"


def _form_of_words(shape: str) -> str:
    """The shape of several words with each kind of word once: a longer title has no other form."""
    return " ".join(dict.fromkeys(shape.split())) if set(shape) <= set("Aa ") else shape


def _is_code(shape: str) -> bool:
    return "9" in shape and not set(shape) <= set("9.,-")


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


def list_conventions(packet: Packet) -> Iterator[str]:
    """One line for all: what is the same in passing runs of several tasks though no request and no result says it."""
    if conventions := [shared for shared in packet.conventions if _is_telling(shared, packet)]:
        told = "; ".join(
            f"{shared.function}.{shared.argument}={shared.value} ({shared.tasks} tasks, {shared.sources} sources)"
            for shared in conventions
        )
        yield f"convention, shared by passing runs and shown by nothing: {told}"


def _is_telling(shared: SharedValue, packet: Packet) -> bool:
    """Whether passing and failing runs differ in it, or passing runs write nothing else there.

    Words to choose from, such as `all` and `free`, are shared as well, but are no custom.
    """
    passing, failing = (_values_given(shared, runs) for runs in (packet.passing, packet.failing))
    own = {str(shared.value)}
    if all(values == own for values in passing) and not all(own <= values for values in failing):
        return True
    steps = (step for run in packet.runs for step in run.actions if step.function == shared.function)
    rivals = [other for other in packet.conventions if other[:2] == shared[:2] and other != shared]
    return not rivals and any(step.effect == "write" for step in steps)


def _values_given(shared: SharedValue, runs: Sequence[PacketRun]) -> list[set[str]]:
    """For each run that calls the function: the values that it gives the argument."""
    by_run = ([step for step in run.actions if step.function == shared.function] for run in runs)
    return [{str(step.arguments.get(shared.argument)) for step in steps} for steps in by_run if steps]


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
                if not is_command(argument):  # the steps show it
                    yield (step.function, argument), str(step.arguments[argument]), text


def name_durations(packet: Packet) -> Iterator[str]:
    """The durations that the request names, in seconds like the times of the steps."""
    if not any(step.at_s is not None for run in packet.runs for step in run.steps):
        return
    if named := [f"{duration.text} is {duration.seconds:g} s" for duration in durations_in(packet.task)]:
        yield f"times that the request names: {', '.join(named)}"
