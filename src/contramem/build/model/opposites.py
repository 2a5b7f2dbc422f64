"""Tasks of one kind in which opposite actions were right, side by side: what one needs, the other forbids.

From one packet an author learns "hold the order first" and from the next "do not hold it". What decides is in what the
two tasks do not have in common; so each packet says what was otherwise in the task most like it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from contramem.build.model.nearest import writes_of
from contramem.build.model.remarks import passes_without_a_write
from contramem.build.model.step_text import PLACEHOLDER
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.quotation import OPENING, quote_words
from contramem.monitor.comparison import take_number, write_number
from contramem.retrieve.tokens import tokenize
from contramem.study.atoms import find_boundary

MIN_WORDS_SHARED, MIN_WORDS_BESIDE_WRITE = 0.3, 0.15
"""Of two requests of one kind: by their words alone, and where a write that was right is common to both."""
MAX_FIELDS = 3
MAX_TASK_CHARS = 160
MIN_TASKS_APART = 3
"""On each side of a boundary between numbers, before it is named."""
_NUMBERED = re.compile(r"_\d+(?=>)")
_DATE = re.compile(r"\d{4}-\d{2}")

Fields = dict[tuple[str, str], frozenset[str]]
"""By function and field of a result: the readable values that it had."""


class _Profile(NamedTuple):
    """What was right in a task, and what it could depend on."""

    packet: Packet
    needed: frozenset[str]
    """Writes that every passing run makes and some failing run does not."""
    forbidden: frozenset[str]
    """Writes that some failing run makes and no passing run does."""
    right: frozenset[str]
    """Writes that every passing run makes."""
    words: frozenset[str]
    fields: Fields
    numbers: dict[str, float]
    """What a passing run gave its writes, by function and argument."""


def find_opposites(packets: Iterable[Packet]) -> dict[str, str]:
    """By task key: a line about the task of the same kind in which the opposite was right. Most tasks have none."""
    profiles = [_profile(packet) for packet in packets if packet.is_contrastive]
    by_write = defaultdict[str, list[_Profile]](list)
    for profile in profiles:
        for function in profile.needed | profile.forbidden:
            by_write[function].append(profile)
    lines = ((profile.packet.task_key, _line(profile, by_write)) for profile in profiles)
    return {key: line for key, line in lines if line}


def _profile(packet: Packet) -> _Profile:
    lucky = passes_without_a_write(packet)
    examples = [run for run in packet.passing if run.letter not in lucky]
    passing = [_functions(run) for run in examples]
    failing = [_functions(run) for run in packet.failing]
    right, tried = frozenset.intersection(*passing), frozenset.union(*passing)
    return _Profile(
        packet,
        needed=frozenset(function for function in right if any(function not in made for made in failing)),
        forbidden=frozenset.union(*failing) - tried,
        right=right,
        words=frozenset(tokenize(PLACEHOLDER.sub(" ", packet.task))),
        fields=_readable_fields(examples),
        numbers=_numbers_written(packet, examples[0]),
    )


def _functions(run: PacketRun) -> frozenset[str]:
    return frozenset(step.function for step in writes_of(run))


def _readable_fields(runs: Sequence[PacketRun]) -> Fields:
    """Words of the interface that results had; dates, texts and placeholders are particular to a task."""
    values = defaultdict[tuple[str, str], set[str]](set)
    for step in (step for run in runs for step in run.actions if step.effect == "read"):
        for name, value in (field for item in step.contents for field in item):
            if name and not PLACEHOLDER.search(value) and not _DATE.match(value) and not value.startswith(OPENING):
                values[step.function, name].add(value)
    return {slot: frozenset(slot_values) for slot, slot_values in values.items()}


def _numbers_written(packet: Packet, run: PacketRun) -> dict[str, float]:
    recorded = {event.position: event for event in packet.recorded[run.letter].events}
    return {
        f"{step.function.rpartition('.')[2]}.{name}": number
        for step in writes_of(run)
        for name, value in recorded[step.position].arguments.items()
        if (number := take_number(value)) is not None
    }


def _line(own: _Profile, by_write: Mapping[str, Sequence[_Profile]]) -> str:
    """About the other task that has fewest readable fields apart from this one's, but at least one where possible."""
    pairs = [
        (function, other)
        for function in sorted(own.needed | own.forbidden)
        for other in by_write[function]
        if function in (other.forbidden if function in own.needed else other.needed) and _is_one_kind(own, other)
    ]
    if not pairs:
        return ""
    function, other = min(pairs, key=lambda pair: _distance(own, pair[1]))
    there = "was wrong" if function in own.needed else "was needed"
    boundaries = _find_boundaries(function, by_write[function])
    numbers = [boundaries.get(name) or difference for name, difference in _numbers_apart(own, other).items()]
    apart = "; ".join([*_fields_apart(own.fields, other.fields), *numbers][:MAX_FIELDS])
    task = quote_words(_NUMBERED.sub("", other.packet.task)[:MAX_TASK_CHARS])
    return f"beside a task of this kind where {function} {there}, {task}{f': {apart}' if apart else ''}"


def _is_one_kind(own: _Profile, other: _Profile) -> bool:
    words = own.words | other.words
    least = MIN_WORDS_BESIDE_WRITE if own.right & other.right else MIN_WORDS_SHARED
    return bool(words) and len(own.words & other.words) >= least * len(words)


def _distance(own: _Profile, other: _Profile) -> tuple[bool, int, int, str]:
    apart = len(list(_fields_apart(own.fields, other.fields)))
    return not apart, apart, -len(own.words & other.words), other.packet.task_key


def _fields_apart(here: Fields, there: Fields) -> Iterator[str]:
    for (function, name), values in here.items():
        others = there.get((function, name), frozenset())
        field = f"{function.rpartition('.')[2]}.{name}"
        if others and values.isdisjoint(others):
            yield f"{field} {_join(others)} there, {_join(values)} here"
        elif others and values > others:
            yield f"{field} {_join(values - others)} only here"
        elif values < others:
            yield f"{field} {_join(others - values)} only there"


def _numbers_apart(own: _Profile, other: _Profile) -> dict[str, str]:
    return {
        name: f"{name} {'larger' if number > other.numbers[name] else 'smaller'} here"
        for name, number in own.numbers.items()
        if name in other.numbers and number != other.numbers[name]
    }


def _find_boundaries(function: str, profiles: Sequence[_Profile]) -> dict[str, str]:
    """By number that other writes were given: the boundary between tasks that need this write and tasks that forbid it.

    Whatever their words: that they make the same other write is what they have in common."""
    found = {}
    for name in {name for profile in profiles for name in profile.numbers}:
        yes = [each.numbers[name] for each in profiles if name in each.numbers and function in each.needed]
        no = [each.numbers[name] for each in profiles if name in each.numbers and function in each.forbidden]
        if min(len(yes), len(no)) < MIN_TASKS_APART:
            continue
        if max(no) < min(yes):
            side, boundary = "above", find_boundary(max(no), min(yes))
        elif max(yes) < min(no):
            side, boundary = "up to", find_boundary(max(yes), min(no))
        else:
            continue
        found[name] = (
            f"{name} {side} {write_number(boundary)} in all {len(yes)} tasks that need it, "
            f"in none of {len(no)} where it is wrong"
        )
    return found


def _join(values: Iterable[str]) -> str:
    return "/".join(sorted(values))
