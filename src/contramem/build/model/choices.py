"""Compares which record of a list passing and failing runs chose, and how they computed their numbers.

A packet shows lists by their form and identifiers as placeholders, which hides that the right invoice was the oldest.
These lines say it without values: position in the list, lowest and highest fields, words of the interface.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from contramem.collection.results import decode_result
from contramem.contrast.form import is_field
from contramem.contrast.packet import Packet
from contramem.contrast.placeholder_types import ROLES
from contramem.contrast.placeholders import Placeholders
from contramem.contrast.speech import speech_of
from contramem.contrast.values import is_time
from contramem.guards.choices import rank_key
from contramem.guards.results import list_records
from contramem.guards.values import is_same, read_number, take_number
from contramem.traces.effects import words
from contramem.traces.trajectory import Event, Trajectory

MAX_LINES, MAX_TRAITS = 3, 4
MIN_NAME_CHARS = 3
MAX_RECORDS = 500
"""Longer lists are ignored: no rule that a card could state picks the right record of so many."""
MAX_TRIVIAL = 9
"""Numbers up to this are often equal by chance."""
FACTORS = {100: "100 times", 0.01: "a hundredth of", 1000: "1000 times", 0.001: "a thousandth of", -1: "minus",
           60: "60 times", 1 / 60: "a sixtieth of"}  # fmt: skip
"""How two amounts relate if only their unit or sign differs."""
ANSWER = "the final answer"
_IDENTIFIERS = ROLES["ID"] | {"item", "notes"}
"""Fields whose lowest or highest value is never chosen on purpose."""

Record: TypeAlias = dict[str, Any]
Sides: TypeAlias = tuple[list[Any], list[Any]]
"""For passing runs, and for failing runs."""


class _Listing(NamedTuple):
    """A list that a call returned."""

    function: str
    records: Sequence[Record]


def compare_choices(packet: Packet) -> Iterator[str]:
    """A line for each list from which passing and failing runs chose different records."""
    chosen = defaultdict[tuple[str, str], Sides](lambda: ([], []))
    for side, runs in enumerate((packet.passing, packet.failing)):
        for run in runs:
            first: dict[tuple[str, str], dict[str, None]] = {}
            for slot, traits in _choices(packet.recorded[run.letter], packet.placeholders):
                first.setdefault(slot, traits)  # if a run uses several records in turn, the first one counts
            for slot, traits in first.items():
                chosen[slot][side].append(traits)
    lines = (_choice_line(slot, *sides) for slot, sides in chosen.items() if all(sides))
    yield from list(filter(None, lines))[:MAX_LINES]


def _choice_line(slot: tuple[str, str], passing: Sequence[dict[str, None]], failing: Sequence[dict[str, None]]) -> str:
    common, others = _select_common(passing), _select_common(failing)
    right = [trait for trait in common if trait not in others]
    wrong = [trait for trait in others if trait not in common]
    if not right or not any(trait not in traits for trait in right for traits in failing):
        return ""
    listed, used = slot
    against = f", failing ones {'; '.join(wrong[:MAX_TRAITS])}" if wrong else ""
    return f"chosen from {listed} for {used}: passing runs {'; '.join(right[:MAX_TRAITS])}{against}"


def _select_common(sides: Sequence[dict[str, None]]) -> list[str]:
    return [trait for trait in sides[0] if all(trait in other for other in sides[1:])]


def _choices(run: Trajectory, placeholders: Placeholders) -> Iterator[tuple[tuple[str, str], dict[str, None]]]:
    """For each list and use of one of its records: what distinguishes the record from the others."""
    listings: dict[str, _Listing] = {}
    for event in run.events:
        if event.actor != "agent":
            continue
        for used, values in _values_used(event, run.task.casefold()):
            for listing in listings.values():
                if record := _named(listing.records, values, event):
                    yield (listing.function, used), dict.fromkeys(_traits(record, listing, placeholders))
        if event.result is not None and not event.result.error:
            records = _records(decode_result(event.result.content))
            if 2 <= len(records) <= MAX_RECORDS:
                listings[event.function] = _Listing(event.function, records)


def _records(result: Any) -> Sequence[Record]:
    """The records an agent chooses from, or the entries of a map from an item to its description."""
    if isinstance(result, dict) and _is_map_of_things(result):
        return [{"item": key, **_numbers(value)} for key, value in result.items()]
    return list_records(result)


def _is_map_of_things(result: Mapping[Any, Any]) -> bool:
    nested = any(isinstance(value, (dict, list)) for value in result.values())
    return len(result) > 1 and not nested and not any(is_field(str(key)) for key in result)


def _numbers(value: Any) -> dict[str, float]:
    """The numbers in the description of an item: a number, or text such as `Rating: 4.5`."""
    if (number := read_number(value)) is not None:
        return {"value": number}
    return {name.strip().lower(): float(number) for name, number in reversed(_NUMBER_OF.findall(str(value)))}


_NUMBER_OF = re.compile(r"([A-Za-z][A-Za-z ]{1,30}): ?(-?\d+(?:\.\d+)?)(?![\w:/-])")


def _values_used(event: Event, task: str) -> Iterator[tuple[str, list[Any]]]:
    """The values that the agent chose itself: neither values of the request nor times."""
    if event.kind == "final" and not event.function:
        yield ANSWER, [event.text]
    elif event.function and not speech_of(event):
        scalars = {
            name: value
            for name, value in event.arguments.items()
            if isinstance(value, (str, int)) and str(value).casefold() not in task and not is_time(str(value))
        }
        yield from ((f"{event.function}.{name}", [value]) for name, value in scalars.items())


def _named(records: Sequence[Record], values: Sequence[Any], event: Event) -> Record | None:
    """The only record that has one of these values; None if there is none or several."""
    if event.kind == "final" and not event.function:
        text = event.text.casefold()
        named = [record for record in records if any(_is_told(value, text) for value in _own_values(record, records))]
    else:
        named = [
            record
            for record in records
            if any(is_same(own, value) for own in _scalars(record).values() for value in values if _identifies(value))
        ]
    return named[0] if len(named) == 1 else None


def _scalars(record: Record) -> dict[str, Any]:
    return {str(name): value for name, value in record.items() if isinstance(value, (str, int, float))}


def _identifies(value: Any) -> bool:
    return len(str(value)) >= MIN_NAME_CHARS and not isinstance(value, bool)


def _own_values(record: Record, records: Sequence[Record]) -> Iterator[str]:
    for name, value in _scalars(record).items():
        if isinstance(value, str) and sum(other.get(name) == value for other in records) == 1:
            yield value


def _is_told(value: str, text: str) -> bool:
    return len(value) > MIN_NAME_CHARS and value.casefold() in text


def _traits(record: Record, listing: _Listing, placeholders: Placeholders) -> Iterator[str]:
    yield from _extremes(record, listing.records)
    for name, word in _readable(record, listing.function, placeholders).items():
        yield f"{name}={word}"
        alike = [other for other in listing.records if other.get(name) == record[name]]
        if 1 < len(alike) < len(listing.records):
            yield from (f"{extreme} where {name}={word}" for extreme in _extremes(record, alike))


def _extremes(record: Record, records: Sequence[Record]) -> Iterator[str]:
    for name in (name for name in _scalars(record) if not _IDENTIFIERS.intersection(words(name)[-1:])):
        keys = [key for other in records if (key := rank_key(other, name)) is not None]
        own = rank_key(record, name)
        if own is not None and len(keys) == len(records) and _is_ordered(record[name]) and min(keys) != max(keys):
            if own == min(keys):
                yield f"lowest {name}"
            elif own == max(keys):
                yield f"highest {name}"
    yield from (way for way, place in (("first", 0), ("last", -1)) if record is records[place])


def _readable(record: Record, function: str, placeholders: Placeholders) -> dict[str, str]:
    """The fields of the record whose value is a word of the interface."""
    masked = {name: placeholders.value(function, name, value) for name, value in _scalars(record).items()}
    return {
        name: value
        for name, value in masked.items()
        if isinstance(value, str) and value.isascii() and value.replace(" ", "").isalpha()
    }


def _is_ordered(value: Any) -> bool:
    """Whether the value is a number or a date with the year first."""
    return read_number(value) is not None or str(value)[:4].isdigit()


# Numbers


def compare_numbers(packet: Packet) -> Iterator[str]:
    """A line for each number that passing and failing runs computed differently from what they had read."""
    worked_out = defaultdict[str, Sides](lambda: ([], []))
    for side, runs in enumerate((packet.passing, packet.failing)):
        for run in runs:
            for slot, ways in _numbers_given(packet.recorded[run.letter]).items():
                worked_out[slot][side].append(ways)
    for slot, (passing, failing) in worked_out.items():
        if passing and failing:
            right, wrong = _select_common(passing), _select_common(failing)
            better = [way for way in right if not any(way in other for other in failing)]
            if better:
                worse = [way for way in wrong if way not in right]
                against = f", failing ones {worse[0]}" if worse else ""
                yield f"number {slot}: passing runs give {better[0]}{against}"


def _numbers_given(run: Trajectory) -> dict[str, dict[str, None]]:
    """By argument: every way in which its first number relates to numbers that the run had read."""
    read: dict[str, list[float]] = {}
    given: dict[str, dict[str, None]] = {}
    for event in run.events:
        if event.function and event.actor == "agent":
            for name, value in event.arguments.items():
                if (number := take_number(value)) is not None and abs(number) > MAX_TRIVIAL:
                    given.setdefault(f"{event.function}.{name}", dict.fromkeys(_ways(number, read)))
        if event.result is not None and not event.result.error:
            for record in list_records(decode_result(event.result.content))[:MAX_RECORDS]:
                for field, scalar in _scalars(record).items():
                    if (number := take_number(scalar)) is not None:
                        read.setdefault(f"{event.function}.{field}", []).append(number)
    return given


def _ways(value: float, read: Mapping[str, list[float]]) -> Iterator[str]:
    for place, numbers in read.items():
        if any(_is_near(value, number) for number in numbers):
            yield f"{place} as it is"
        for factor, words_ in FACTORS.items():
            if any(_is_near(value, factor * number) for number in numbers):
                yield f"{words_} {place}"
        if len(numbers) > 1 and _is_near(value, sum(numbers)):
            yield f"the sum of {place}"


def _is_near(value: float, other: float) -> bool:
    return other != 0 and abs(value - other) < abs(other) * 1e-6
