"""Atoms: facts about runs that a condition of a guard can use: what was called how, what came back, how many items.

A threshold is a boundary between values seen on its two sides, never the value of one run. Words count as words of the
interface only if there are few and several tasks show them.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, NamedTuple, TypeAlias

import msgspec

from contramem.collection.results import decode_result
from contramem.contrast.form import is_field
from contramem.guards.actions import Action
from contramem.guards.dates import WRITTEN_DATE
from contramem.guards.results import count_items, walk
from contramem.guards.values import is_same, read_number, write_number, write_value
from contramem.study.chosen_records import ChosenField, find_chosen
from contramem.study.date_distances import DateDistance, measure_distances
from contramem.study.masks import Mask, RunsInOrder
from contramem.study.run_set import StudyRun
from contramem.traces.effects import words

MAX_WORDS = 12
"""A slot with more different words across the runs is open, and no condition uses it."""
MIN_TASKS = 2
"""A word of a single task may belong to that task."""
MAX_THRESHOLDS = 30
"""Per slot, spread evenly over the values seen."""
MAX_HOLDING = 0.9
"""Of the runs that called a function: the share that a condition on its arguments or result may be true of. One that is
nearly always true says no more than that the call was made."""
MAX_VALUES = 500
"""How many items of one result are read."""

MAX_SCALAR_CHARS = 60
"""No word of a closed vocabulary and no number is longer."""

_WORD = re.compile(r"[A-Za-z][A-Za-z_\-]{0,23}(?: [a-z][a-z_\-]{0,15}){0,2}|[A-Z]\d?|[A-Z]{1,3}\d{0,2}|true|false")


class Slot(NamedTuple):
    """A place where runs show values."""

    function: str
    name: str
    of_result: bool

    @property
    def argument(self) -> str:
        """Empty if it is a field of the result."""
        return "" if self.of_result else self.name

    @property
    def key(self) -> str:
        return f"{self.function}.{self.name}" if self.of_result else f"{self.function}[{self.name}]"

    def write(self, relation: str) -> str:
        """The condition on a run for this relation here."""
        if self.of_result:
            return f"{self.function}.{self.name} {relation}"
        return f"{self.function}[{self.name} {relation}]"


Place: TypeAlias = Slot | ChosenField | DateDistance


class Atom(NamedTuple):
    """A condition, and the runs in which it holds."""

    text: str
    mask: Mask
    choices: int = 1
    """How many conditions there are on the same slot: few for a word, many for an amount, where one fits by chance."""
    slot: str = ""
    """What it is about: a function, perhaps with a field or an argument."""
    is_threshold: bool = False
    """Whether it says on which side of a number a value is."""
    function: str = ""
    """The function whose calls or results it is about; empty if it is about the request."""
    argument: str = ""
    """The argument that it is about, if any."""

    @property
    def sides(self) -> int:
        """A threshold has two sides, however many values it may lie between; a word has as many as there are words."""
        return 2 if self.is_threshold else self.choices


def collect_atoms(runs: Sequence[StudyRun]) -> list[Atom]:
    """The conditions that hold in some of `runs` but not in all, those with the fewest alternatives first.

    What a read returned is a fact of the task: it holds for all of the task's runs.
    """
    seen = _SeenSlots()
    for place, run in enumerate(runs):
        seen.add(place, run)
    every = (1 << len(runs)) - 1
    atoms = [
        (seen_slot.rank, seen_slot.make_atom(text, mask))
        for seen_slot in seen.slots(runs)
        for text, mask in seen_slot.conditions.items()
        if 0 < mask < every
    ]
    atoms.sort(key=lambda ranked: (ranked[0], ranked[1].choices, len(ranked[1].text), ranked[1].text))
    return [atom for _, atom in atoms]


class _SeenSlot(NamedTuple):
    """The conditions on one slot, and the runs in which they hold."""

    rank: int
    """The result of a change is known only after the change, so anything known before is preferred."""
    slot: str
    conditions: dict[str, Mask]
    function: str
    argument: str = ""
    is_threshold: bool = False

    def make_atom(self, text: str, mask: Mask) -> Atom:
        return Atom(text, mask, len(self.conditions), self.slot, self.is_threshold, self.function, self.argument)


class _SeenSlots:
    """The words, numbers and item counts that runs show, by place."""

    def __init__(self) -> None:
        self._words: dict[Place, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        self._numbers: dict[Place, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._items: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._called = defaultdict[str, set[int]](set)
        self._changing = set[str]()
        """Functions that change something: their results belong to their own run."""

    def add(self, place: int, run: StudyRun) -> None:
        shown = _read_run(run)
        for function in shown.called:
            self._called[function].add(place)
        self._changing |= shown.changing
        for slot, number in shown.numbers:
            self._numbers[slot][place].append(number)
        for slot, word in shown.words:
            self._words[slot][word].add(place)
        for function, count in shown.items:
            self._items[function][place].append(count)

    def slots(self, runs: Sequence[StudyRun]) -> Iterator[_SeenSlot]:
        """Every slot with its conditions."""
        spread = _spread_over_tasks(runs)
        for function in self._changing:
            yield _SeenSlot(0, function, {function: spread(self._called[function], False)}, function)
        for slot, seen in self._words.items():
            if len(seen) <= MAX_WORDS:
                conditions = [*_words(slot, seen), *_exceptions(slot, seen)]
                words = {
                    text: spread(places, self._is_fact(slot))
                    for text, places in conditions
                    if len({runs[place].task for place in places}) >= MIN_TASKS
                    and self._tells(slot.function, len(places))
                }
                yield _SeenSlot(self._rank(slot), slot.key, words, slot.function, slot.argument)
        for slot, by_run in self._numbers.items():
            masks = {place: spread((place,), self._is_fact(slot)) for place in by_run}
            thresholds = {
                text: mask
                for text, count, mask in _thresholds(slot, by_run, masks)
                if self._tells(slot.function, count)
            }
            yield _SeenSlot(self._rank(slot), slot.key, thresholds, slot.function, slot.argument, is_threshold=True)
        for function, counts in self._items.items():
            is_fact = function not in self._changing
            tasks = {runs[place].task for place, numbers in counts.items() if max(numbers)}
            amounts = {
                f"{function} has {amount}": spread(
                    {
                        place
                        for place, numbers in counts.items()
                        # Where another run of the task found something, finding nothing was the fault of the search.
                        if _is_between(numbers, low, high) and (low or runs[place].task not in tasks)
                    },
                    is_fact,
                )
                for amount, low, high in (("none", 0, 0), ("one", 1, 1), ("several", 2, math.inf))
            }
            yield _SeenSlot(int(not is_fact), function, amounts, function)

    def _tells(self, function: str, holding: int) -> bool:
        """Does a condition that is true of so many runs tell more than that the function was called?"""
        return holding <= MAX_HOLDING * len(self._called[function])

    def _rank(self, slot: Place) -> int:
        return int(isinstance(slot, Slot) and slot.of_result and slot.function in self._changing)

    def _is_fact(self, slot: Place) -> bool:
        is_returned = isinstance(slot, DateDistance) or (isinstance(slot, Slot) and slot.of_result)
        return is_returned and slot.function not in self._changing


def _is_between(counts: Sequence[int], low: float, high: float) -> bool:
    return any(low <= count <= high for count in counts)


def _spread_over_tasks(runs: Sequence[StudyRun]) -> Callable[[Iterable[int], bool], Mask]:
    task_masks = defaultdict[str, Mask](int)
    for place, run in enumerate(runs):
        task_masks[run.task] |= 1 << place

    def spread(places: Iterable[int], is_fact: bool) -> Mask:
        mask = 0
        for place in places:
            mask |= task_masks[runs[place].task] if is_fact else 1 << place
        return mask

    return spread


class _RunFacts(msgspec.Struct, frozen=True, gc=False):
    """What a run shows that a condition can ask for."""

    called: frozenset[str]
    changing: frozenset[str]
    """The called functions that change something."""
    numbers: tuple[tuple[Place, float], ...]
    words: tuple[tuple[Place, str], ...]
    items: tuple[tuple[str, int], ...]
    """The number of items of each result, by function."""


def _read_run(run: StudyRun) -> _RunFacts:
    return run.recorded.memo.get("facts", lambda: _find_facts(run.recorded.calls, run.trajectory.task))


def _find_facts(calls: Sequence[Action], task: str) -> _RunFacts:
    numbers, found, items = list[tuple[Place, float]](), list[tuple[Place, str]](), []
    dates = list[tuple[str, str, str]]()
    for call in calls:
        if not call.worked:
            continue
        given, returned = _sort_scalars(_arguments_of(call)), _facts_returned(call)
        numbers += given.numbers
        numbers += (pair for pair in returned.numbers if not _is_key(*pair, call))
        found += given.words
        found += returned.words
        dates += ((call.function, field, date) for field, date in returned.dates if call.effect == "read")
        if returned.items is not None:
            items.append((call.function, returned.items))
    chosen = _sort_scalars(find_chosen(calls))
    numbers += measure_distances(dates, WRITTEN_DATE.findall(task))
    return _RunFacts(
        frozenset(call.function for call in calls),
        frozenset(call.function for call in calls if call.effect != "read"),
        (*numbers, *chosen.numbers),
        tuple(dict.fromkeys((*found, *chosen.words))),
        tuple(items),
    )


class _Facts(NamedTuple):
    """What a call was given or returned that a condition can ask for."""

    numbers: tuple[tuple[Place, float], ...]
    words: tuple[tuple[Place, str], ...]
    items: int | None = None
    """The number of items of a result."""
    dates: tuple[tuple[str, str], ...] = ()
    """The dates in a result, each with its field."""


def _sort_scalars(scalars: Iterable[tuple[Place, Any]]) -> _Facts:
    numbers, found = [], []
    for slot, value in scalars:
        if isinstance(value, str) and len(value) > MAX_SCALAR_CHARS:
            continue
        said = _read_scalar(slot.name, value)
        if isinstance(said, float):
            numbers.append((slot, said))
        elif said is not None:
            found.append((slot, said))
    return _Facts(tuple(numbers), tuple(found))


@lru_cache(maxsize=16_384, typed=True)  # typed: `True` and 1 are equal
def _read_scalar(name: str, value: Any) -> float | str | None:
    """An amount, a word of a closed vocabulary, or nothing that a condition can ask for."""
    if (number := read_number(value)) is not None:
        return number if names_an_amount(name) else None
    return write_word(value) if is_category(value, name) else None


def _arguments_of(call: Action) -> Iterator[tuple[Slot, Any]]:
    for name, value in call.arguments.items():
        if isinstance(value, (str, int, float)):
            yield Slot(call.function, name, False), value


def _facts_returned(call: Action) -> _Facts:
    content = call.content
    if isinstance(content, str):
        return _read_text(call.function, content)
    return _read_result(call.function, call.result())


@lru_cache(maxsize=4096)  # the runs of a task look the same records up
def _read_text(function: str, text: str) -> _Facts:
    return _read_result(function, decode_result(text))


def _read_result(function: str, result: Any) -> _Facts:
    fields = [(place[-1], value) for place, value in islice(walk(result), MAX_VALUES) if place and is_field(place[-1])]
    facts = _sort_scalars((Slot(function, name, True), value) for name, value in fields)
    dates = ((name, value) for name, value in fields if isinstance(value, str) and WRITTEN_DATE.fullmatch(value))
    return facts._replace(items=count_items(result), dates=tuple(dates))


_NO_AMOUNTS = frozenset(
    "id ids uuid zip zipcode postal code number phone key account card year reference ref serial".split()
)


@lru_cache(maxsize=4096)
def names_an_amount(name: str) -> bool:
    """Can numbers under this name be compared? That one identifier is larger than another means nothing."""
    return _NO_AMOUNTS.isdisjoint(words(name))


def _is_key(slot: Place, number: float, call: Action) -> bool:
    """Is it what the call was asked for? That is what the record is known by, and no amount."""
    return slot.name in call.arguments and is_same(call.arguments[slot.name], number)


def is_word(value: Any) -> bool:
    """Could the value be a word of a closed vocabulary?"""
    if isinstance(value, bool):
        return True
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def is_category(value: Any, field: str) -> bool:
    """Is it a word of a closed vocabulary, and not what somebody called one thing (`team meeting` of `event_name`)?"""
    return is_word(value) and not (" " in str(value) and words(field)[-1:] in (["name"], ["title"], ["subject"]))


def write_word(value: Any) -> str:
    """A word as guards write it: `true`, not `True`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _words(slot: Place, seen: dict[str, set[int]]) -> Iterator[tuple[str, set[int]]]:
    return ((slot.write(f"= {write_value(word)}"), places) for word, places in seen.items())


def _exceptions(slot: Place, seen: dict[str, set[int]]) -> Iterator[tuple[str, set[int]]]:
    """Every word but one; with only two words, the other word says it."""
    for word in seen if len(seen) > 2 else ():
        others = set[int]().union(*(places for other, places in seen.items() if other != word))
        yield slot.write(f"!= {write_value(word)}"), others


def _thresholds(slot: Place, by_run: dict[int, list[float]], masks: dict[int, Mask]) -> Iterator[tuple[str, int, Mask]]:
    """Each condition with the number of runs whose own calls fulfil it, and the runs in which it holds. `masks`: the
    runs in which it holds if it holds in one."""
    seen = sorted({number for numbers in by_run.values() for number in numbers})
    steps = list(pairwise(seen))
    every = max(1, len(steps) // MAX_THRESHOLDS)
    highest = RunsInOrder({place: -max(numbers) for place, numbers in by_run.items()}, masks)
    lowest = RunsInOrder({place: min(numbers) for place, numbers in by_run.items()}, masks)
    for low, high in steps[::every]:
        boundary = slot.find_boundary(low, high) if isinstance(slot, DateDistance) else find_boundary(low, high)
        if boundary is None:
            continue
        yield slot.write(f"> {write_number(boundary)}"), *highest.find_below(-boundary)
        yield slot.write(f"<= {write_number(boundary)}"), *lowest.find_up_to(boundary)


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
