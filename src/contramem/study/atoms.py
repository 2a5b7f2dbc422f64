"""Atoms: facts of runs that a condition of a guard can ask for. What was called how, what came back, how many items.

A threshold is told as the boundary between what was seen on its two sides, never as the value of one run; words must
have been seen in several tasks, and be few, to count as words of the interface.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple, TypeAlias

from contramem.contrast.form import is_field
from contramem.monitor.comparison import read_number, write_number, write_value
from contramem.monitor.results import count_items, walk
from contramem.study.recorded_actions import RecordedAction
from contramem.study.run_set import StudyRun
from contramem.traces.effects import words

MAX_WORDS = 12
"""A slot that takes more different words than this over the runs is open, and no condition asks for it."""
MIN_TASKS = 2
"""A word of one task only may be that task's own."""
MAX_THRESHOLDS = 12
"""Per slot, spread evenly over the values seen."""
MAX_VALUES = 500
"""Of one result that are looked at."""

_WORD = re.compile(r"[A-Za-z][A-Za-z_\-]{0,23}|[A-Z]\d?|[A-Z]{1,3}\d{0,2}|true|false")


class Slot(NamedTuple):
    """A place where runs show values."""

    function: str
    name: str
    of_result: bool

    def write(self, relation: str) -> str:
        """The condition on a run that asks for this relation here."""
        if self.of_result:
            return f"{self.function}.{self.name} {relation}"
        return f"{self.function}[{self.name} {relation}]"


Runs: TypeAlias = frozenset[int]
"""Places in the sequence of runs that is looked at."""


def collect_atoms(runs: Sequence[StudyRun]) -> dict[str, Runs]:
    """Each condition that is true of some of `runs` and not of all, with the places of those that it is true of."""
    seen_words: dict[Slot, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    numbers: dict[Slot, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    items: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for place, run in enumerate(runs):
        for call in run.recorded.calls:
            if not call.worked:
                continue
            for slot, value in slots_of(call):
                if (number := read_number(value)) is not None:
                    if names_an_amount(slot.name):
                        numbers[slot][place].append(number)
                elif is_word(value):
                    seen_words[slot][_plain_word(value)].add(place)
            if (count := count_items(call.result())) is not None:
                items[call.function][place].append(count)
    atoms: dict[str, set[int]] = {}
    for slot, seen in seen_words.items():
        if len(seen) <= MAX_WORDS:
            for word, places in seen.items():
                if len({runs[place].task for place in places}) >= MIN_TASKS:
                    atoms[slot.write(f"= {write_value(word)}")] = places
    for slot, by_run in numbers.items():
        atoms.update(_thresholds(slot, by_run))
    for function, counts in items.items():
        for amount, low, high in (("none", 0, 0), ("one", 1, 1), ("several", 2, math.inf)):
            atoms[f"{function} has {amount}"] = {p for p, seen in counts.items() if any(low <= n <= high for n in seen)}
    return {text: frozenset(places) for text, places in atoms.items() if 0 < len(places) < len(runs)}


def slots_of(call: RecordedAction) -> Iterator[tuple[Slot, Any]]:
    """The scalars that a call was given and gave back, each with its place."""
    for name, value in call.arguments.items():
        if isinstance(value, (str, int, float)):
            yield Slot(call.function, name, False), value
    for place, value in islice(walk(call.result()), MAX_VALUES):
        if place and is_field(place[-1]):
            yield Slot(call.function, place[-1], True), value


_NO_AMOUNTS = frozenset("id ids uuid zip zipcode postal code number phone key account card year".split())


def names_an_amount(name: str) -> bool:
    """Could numbers under this name be compared? That one identifier is larger than another means nothing."""
    return _NO_AMOUNTS.isdisjoint(words(name))


def is_word(value: Any) -> bool:
    """Could the value be a word of a closed vocabulary?"""
    return isinstance(value, bool) or (isinstance(value, str) and _WORD.fullmatch(value) is not None)


def _plain_word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _thresholds(slot: Slot, by_run: dict[int, list[float]]) -> Iterator[tuple[str, set[int]]]:
    seen = sorted({number for numbers in by_run.values() for number in numbers})
    steps = list(pairwise(seen))
    every = max(1, len(steps) // MAX_THRESHOLDS)
    for low, high in steps[::every]:
        boundary = find_boundary(low, high)
        above = {place for place, numbers in by_run.items() if max(numbers) > boundary}
        yield slot.write(f"> {write_number(boundary)}"), above
        yield slot.write(f"<= {write_number(boundary)}"), {p for p, n in by_run.items() if max(n) <= boundary}


def find_boundary(low: float, high: float) -> float:
    """The roundest number that is at least `low` and below `high`: 500 between 480 and 512."""
    if low == high:
        return low
    for power in range(math.ceil(math.log10(max(abs(low), abs(high), 1e-9))) + 1, -7, -1):
        for step in (10.0**power, 5 * 10.0 ** (power - 1)):
            candidate = math.ceil(low / step - 1e-9) * step
            if low <= candidate < high:
                return round(candidate, 9)
    return low
