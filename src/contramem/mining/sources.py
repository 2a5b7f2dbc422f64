"""Sources: the values that an argument would have in each task if it were taken or calculated from what was seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import combinations
from math import ceil, floor
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contramem.guards.dates import DISTANCES
from contramem.guards.values import write_number
from contramem.mining.facts import canon, day_of, number_of, show, time_of
from contramem.mining.matrix import Domain
from contramem.traces.effects import words

MIN_VALUES = 3
"""How many different values must be calculated in one way before that can be the reason."""
MAX_BASES = 40
FACTORS = sorted(
    {k / 20 for k in range(1, 31)} | {2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 24, 25, 30, 50, 60, 100, 1000, 0.01, 0.001}
)
STEPS = (0.01, 1, 5, 10, 50, 100, 500, 1000)
_ROUNDINGS: dict[str, Callable[[float], float]] = {
    "down to": lambda value: floor(value + 1e-9),
    "up to": lambda value: ceil(value - 1e-9),
    "to": lambda value: floor(value + 0.5),
}

_ROUND_ALL: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "down to": lambda values: np.floor(values + 1e-9),
    "up to": lambda values: np.ceil(values - 1e-9),
    "to": lambda values: np.floor(values + 0.5),
}
_FACTORS = np.array(FACTORS)
_STEPS_AND_WAYS = [(step, way) for step in STEPS for way in _ROUNDINGS if (step == 0.01) == (way == "to")]


@dataclass(slots=True)
class Expected:
    """What an argument should be, by task."""

    family: str
    test: str
    """The test of an argument that asks for it."""
    values: Mapping[int, Any]
    """A frozenset if several would do."""
    least: int = 2
    """How many tasks must have it."""
    cost: float = 0.0

    def hits(self, wanted: Mapping[int, Any]) -> int:
        return sum(task in wanted and bool(self.check(wanted[task], task)) for task in self.values)

    def check(self, value: Any, task: int) -> bool | None:
        """Is it what is expected? None: nothing is."""
        if task not in self.values:
            return None
        expected = self.values[task]
        if isinstance(expected, frozenset):
            return value in expected
        if isinstance(value, float) and isinstance(expected, float):
            return abs(value - expected) < 1e-6 * max(1.0, abs(value))
        return bool(expected == value)


class Sources:
    """The places where values were seen."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    @cached_property
    def places(self) -> dict[str, dict[int, Any]]:
        """By place, its value in each task. Only places whose value is not the same in all tasks."""
        found = defaultdict[str, dict[int, Any]](dict)
        for number, task in enumerate(self.domain.tasks):
            for place, value in task.scalars.items():
                if value is not None and not isinstance(value, (bool, tuple, list, dict)):
                    found[place][number] = canon(value)
        return {place: values for place, values in found.items() if len(set(map(repr, values.values()))) > 1}

    @cached_property
    def asked(self) -> dict[int, frozenset[Any]]:
        """The numbers in each request."""
        tasks = enumerate(self.domain.tasks)
        return {number: frozenset(task.numbers) for number, task in tasks if task.numbers}

    def expect(
        self, function: str, argument: str, wanted: Mapping[int, Any], flat: Sequence[Any]
    ) -> Iterator[Expected]:
        """Copied, calculated, or at a distance from a date."""
        own = f"{function}."
        places = {place: values for place, values in self.places.items() if not place.startswith(own)}
        for place, values in places.items():
            is_text = all(isinstance(value, str) for value in values.values())
            yield Expected("source", f"{'from' if is_text else 'equals'} {place}", values)
        numbers = {task: value for task, value in wanted.items() if isinstance(value, float)}
        if self.asked and 2 * len(numbers) > len(wanted):
            yield Expected("source", "equals task", self.asked)
        if len(set(numbers.values())) >= MIN_VALUES and 2 * len(numbers) > len(wanted):
            yield from self._calculated(function, argument, numbers, places)
        days = {task: value for task, value in wanted.items() if isinstance(value, date)}
        if len(set(days.values())) >= MIN_VALUES and 2 * len(days) > len(wanted):
            yield from self._dated(function, argument, days)

    # Calculated

    def _calculated(
        self, function: str, argument: str, wanted: Mapping[int, float], places: Mapping[str, Mapping[int, Any]]
    ) -> Iterator[Expected]:
        bases: dict[str, dict[int, float]] = {}
        for place, values in places.items():
            numbers = {task: value for task, value in values.items() if isinstance(value, float)}
            if len(set(numbers.values())) > 1:
                bases[place] = numbers
        single = {n: task.numbers[0] for n, task in enumerate(self.domain.tasks) if len(task.numbers) == 1}
        if len(set(single.values())) > 1:
            bases["task"] = single
        for (owner, other), _ in self.domain.arguments.items():
            if owner == function and other != argument:
                given = {
                    n: v
                    for n, t in enumerate(self.domain.tasks)
                    if (v := number_of(t.given.get((owner, other)))) is not None
                }
                if len(set(given.values())) > 1:
                    bases[other] = given
        for place, totals in self.totals.items():
            bases[place] = totals
            yield Expected("formula", f"equals {place}", totals, cost=0.3 * (" where " in place) - 0.1)
        telling = {place: values for place, values in bases.items() if sum(task in wanted for task in values) >= 2}
        for place, values in telling.items():
            yield from _scaled(place, values, wanted)
        yield from self._combined(telling, wanted, argument)

    def _combined(
        self, bases: Mapping[str, Mapping[int, float]], wanted: Mapping[int, float], argument: str
    ) -> Iterator[Expected]:
        """Two numbers that have something in common: a record, a unit or a name."""
        for one, two in combinations(list(bases)[:MAX_BASES], 2):
            if not _belong_together(one, two, argument):
                continue
            both = [task for task in bases[one] if task in bases[two]]
            hits = [task for task in both if task in wanted]
            if len(hits) < 2:
                continue
            a, b = bases[one], bases[two]
            from contramem.mining.records import are_of_one_order

            alike = are_of_one_order(median(abs(a[task]) for task in both), median(abs(b[task]) for task in both))
            for sign, work in _SIGNS.items():
                if sign != "times" and not alike:
                    continue
                for left, right, x, y in (
                    ((one, two, a, b), (two, one, b, a)) if sign == "minus" else ((one, two, a, b),)
                ):
                    good = sum(abs(work(x[task], y[task]) - wanted[task]) < 1e-6 for task in hits)
                    if good >= 2:
                        values = {task: round(work(x[task], y[task]), 4) for task in both}
                        yield Expected("formula", f"equals {left} {sign} {right}", values, 2, 0.6)
            yield from self._rounded_product(one, two, a, b, both, wanted)

    def _rounded_product(
        self,
        one: str,
        two: str,
        a: Mapping[int, float],
        b: Mapping[int, float],
        both: Sequence[int],
        wanted: Mapping[int, float],
    ) -> Iterator[Expected]:
        """A product of two with one rounding or one factor."""
        product = {task: a[task] * b[task] for task in both}
        for expected in _scaled(f"{one} times {two}", product, wanted, least=3):
            yield Expected(expected.family, expected.test, expected.values, 3, expected.cost + 0.6)

    @cached_property
    def totals(self) -> dict[str, dict[int, float]]:
        """Sums over the records of a list and their number, all of them or those with one word in a field."""
        found = defaultdict[str, dict[int, float]](dict)
        for number, task in enumerate(self.domain.tasks):
            for place, rows in task.lists.items():
                if not rows:
                    continue
                numeric = [name for name in rows[0] if number_of(rows[0][name]) is not None][:6]
                for where, chosen in _split(rows):
                    found[f"count of {place}{where}"][number] = float(len(chosen))
                    for name in numeric:
                        total = sum(number_of(row.get(name)) or 0.0 for row in chosen)
                        found[f"sum of {place}.{name}{where}"][number] = round(total, 4)
        least = max(2, 0.03 * len(self.domain.tasks))
        return {
            place: values for place, values in found.items() if len(values) >= least and len(set(values.values())) > 1
        }

    # Dates

    @cached_property
    def dated(self) -> dict[str, dict[int, date]]:
        """By place, its date in each task; `task` is the date that a request names alone."""
        found = defaultdict[str, dict[int, date]](dict)
        for number, task in enumerate(self.domain.tasks):
            for place, value in task.scalars.items():
                if (day := day_of(value)) is not None:
                    found[place][number] = day
            if len(task.dates) == 1 and (day := day_of(task.dates[0])) is not None:
                found["task"][number] = day
        return dict(found)

    def _dated(self, function: str, argument: str, wanted: Mapping[int, date]) -> Iterator[Expected]:
        bases = dict(self.dated)
        for (owner, other), _ in self.domain.arguments.items():
            if owner == function and other != argument:
                given = {
                    n: d
                    for n, t in enumerate(self.domain.tasks)
                    if (d := day_of(t.given.get((owner, other)))) is not None
                }
                if given:
                    bases[other] = given
        for place, days in bases.items():
            both = [task for task in days if task in wanted]
            if len(both) < 2:
                continue
            if place == "task":
                yield Expected("source", "from task", days)
            for unit in ("day", "working day", "month"):
                distances = Counter(_distance(unit, days[task], wanted[task]) for task in both)
                for amount, count in distances.most_common(2):
                    if count < 2 or not amount or amount != int(amount) or len({wanted[t] for t in both}) < MIN_VALUES:
                        continue
                    if unit == "day" and abs(amount) > 400:
                        continue
                    side, size = ("after", int(amount)) if amount > 0 else ("before", int(-amount))
                    moved = {task: _At(day, unit, amount) for task, day in days.items()}
                    test = f"falls {size} {unit}{'s' if size > 1 else ''} {side} {place}"
                    yield Expected("formula", test, moved, 2, _unit_cost(unit, amount))

    # Texts

    def written(self) -> Iterator[tuple[str, list[list[str]], float]]:
        """By place, how its value may stand in a text of each run, and how far-fetched it is to ask for it."""
        found = defaultdict[str, dict[int, list[str]]](dict)
        for number, task in enumerate(self.domain.tasks):
            for place, value in task.scalars.items():
                if value is not None and not isinstance(value, (bool, tuple)) and len(str(value)) >= 3:
                    found[place][number] = _spell(value)
            for place, rows in task.lists.items():
                for name in rows[0] if len(rows) > 1 else ():
                    texts = [
                        row[name].casefold() for row in rows if isinstance(row.get(name), str) and len(row[name]) > 3
                    ]
                    if texts:
                        found[f"{place}.{name}"][number] = texts
        for place, forms in found.items():
            if len(forms) >= 2:
                several = any(len(each) > 3 for each in forms.values())
                yield place, [forms.get(run.task, []) for run in self.domain.runs], 0.3 * several
        yield from self._brought_about()

    def _brought_about(self) -> Iterator[tuple[str, list[list[str]], float]]:
        """What the changes of each run returned."""
        found = defaultdict[str, list[list[str]]](lambda: [[] for _ in self.domain.runs])
        for place, run in enumerate(self.domain.runs):
            for call in run.calls:
                if self.domain.changes(call.function) and isinstance(call.result, dict):
                    for name, value in show(call.function, call.result).scalars.items():
                        is_name = isinstance(value, (str, int)) and not isinstance(value, bool) and len(str(value)) >= 3
                        if is_name and all(canon(value) != canon(given) for given in call.arguments.values()):
                            found[name][place].append(str(value).casefold())
        for name, forms in found.items():
            if len({form for each in forms for form in each}) > 2:
                yield name, forms, 0.0


@dataclass(frozen=True)
class _At:
    """Equal to every date at this distance."""

    base: date
    unit: str
    amount: float

    def __eq__(self, other: object) -> bool:
        return isinstance(other, date) and _distance(self.unit, self.base, other) == self.amount

    def __hash__(self) -> int:
        return 0


def _distance(unit: str, base: date, day: date) -> float:
    one, two = time_of(base.isoformat()), time_of(day.isoformat())
    return DISTANCES[unit](one, two) if one is not None and two is not None else 0.0


def _unit_cost(unit: str, amount: float) -> float:
    return 0.3 + 0.3 * (unit != "day") + 0.2 * (amount % 5 > 0 and amount % 7 > 0)


_SIGNS: dict[str, Callable[[float, float], float]] = {
    "times": lambda a, b: a * b,
    "plus": lambda a, b: a + b,
    "minus": lambda a, b: a - b,
}


def _scaled(place: str, values: Mapping[int, float], wanted: Mapping[int, float], least: int = 2) -> Iterator[Expected]:
    """Times a factor, rounded, or with a number added."""
    both = [task for task in values if task in wanted]
    if len(both) < least:
        return
    found: list[tuple[tuple[int, bool, float, float], float, float, str]] = []
    given, asked = (np.array([some[task] for task in both]) for some in (values, wanted))
    largest = float(np.abs(asked).max())
    for step, way in _STEPS_AND_WAYS:
        if step > max(1.0, largest / 3):
            continue
        made = _ROUND_ALL[way](np.round(given[None, :] * _FACTORS[:, None] / step, 6)) * step
        hits = (np.abs(made - asked) < 1e-6).sum(axis=1)
        for number in np.flatnonzero(hits >= max(least, 0.3 * len(both))):
            factor = FACTORS[number]
            if factor == 1 and (step == 0.01 or np.allclose(made[number], given)):
                continue
            found.append(((int(hits[number]), step == 0.01, -step, -abs(factor - 1)), factor, step, way))
    for _, factor, step, way in sorted(found, reverse=True)[:3]:
        work = _ROUNDINGS[way]
        made_of = {t: round(work(round(v * factor / step, 6)) * step, 4) for t, v in values.items()}
        times = "" if factor == 1 else f"{write_number(round(factor, 4))} times "
        rounded = f" rounded {way} {write_number(step)}" if step > 0.01 else ""
        cost = (
            0.3 * (factor != 1) + 0.5 * (step > 0.01) + 0.8 * place.startswith("sum of") + 0.5 * (" of lowest" in place)
        )
        yield Expected("formula", f"equals {times}{place}{rounded}", made_of, least, cost)
    for difference, count in Counter(round(wanted[task] - values[task], 4) for task in both).most_common(2):
        if difference and count >= least and difference == int(difference):
            sign = "plus" if difference > 0 else "minus"
            moved = {task: round(value + difference, 4) for task, value in values.items()}
            yield Expected("formula", f"equals {place} {sign} {write_number(abs(difference))}", moved, least, 0.6)


def _belong_together(one: str, two: str, argument: str) -> bool:
    """Do two numbers have a record, a unit or a name in common, so that calculating with both makes sense?"""
    owner = [place.rpartition(" ")[2].rpartition(".")[0] for place in (one, two)]
    names = [set(words(place.rpartition(" ")[2].rpartition(".")[2])) for place in (one, two)]
    if owner[0] == owner[1] or names[0] & names[1]:
        return True
    asked = set(words(argument))
    return bool(asked & names[0]) or bool(asked & names[1])


def _split(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    """All records; and by each word of each field those that have it, and those that do not."""
    from contramem.mining.records import is_category, write_test  # which expects values, too

    yield "", rows
    for name in rows[0]:
        found = {row[name] for row in rows if is_category(row.get(name))}
        for value in sorted(found, key=str)[:6]:
            yield f" where {write_test(name, '=', value)}", [row for row in rows if row.get(name) == value]
            yield f" where {write_test(name, '!=', value)}", [row for row in rows if row.get(name) != value]


def _spell(value: Any) -> list[str]:
    """How a value may stand in a text, as guards look for it."""
    return [str(value).strip().casefold()]
