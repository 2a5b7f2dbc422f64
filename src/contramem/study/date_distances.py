"""Distances between two dates that a run saw: "the event is less than three weeks after the application".

A deadline is seldom a number in a record: it is the distance between two dates of the record, or from the date in the
request.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import permutations
from typing import NamedTuple

from contramem.guards.dates import read_time

MAX_DATES = 6
"""Of one record. With more there are so many pairs that one fits by chance."""
DEADLINES = (1, 2, 3, 4, 5, 7, 8, 10, 14, 15, 20, 21, 28, 30, 31, 42, 45, 60, 90, 120, 180, 365)
"""Days that people lay down. Any other boundary between two dates that were seen is most likely an accident."""
TASK = "task"


class DateDistance(NamedTuple):
    """How many days a date is after another one, as a place where runs show numbers."""

    function: str
    name: str
    """The field."""
    base: str
    """The other date: `App.function.field`, or `task`."""

    @property
    def argument(self) -> str:
        return ""

    @property
    def key(self) -> str:
        return f"{self.function}.{self.name} after {self.base}"

    def write(self, relation: str) -> str:
        """The condition on a run for `> 20` or `<= 20` days."""
        operator, _, number = relation.partition(" ")
        bound, days = ("at most", int(number)) if operator == "<=" else ("at least", int(number) + 1)
        return f"{self.function}.{self.name} falls {bound} {days} {'day' if days == 1 else 'days'} after {self.base}"

    def find_boundary(self, low: float, high: float) -> float | None:
        """The roundest usual deadline between two distances that were seen, as the last day in time: it may be laid
        down as "within 20 days" or as "less than 21 days"."""
        last_days = {*DEADLINES, *(days - 1 for days in DEADLINES)}
        usual = [day for day in last_days if low <= day < high]
        return min(usual, key=lambda day: (day % 10 > 0, day % 7 > 0, day % 5 > 0, day), default=None)


def measure_distances(
    fields: Iterable[tuple[str, str, str]], asked: Iterable[str]
) -> Iterator[tuple[DateDistance, float]]:
    """The distances in days between the dates of a run: `fields` are (function, field, date) of its results, `asked`
    the dates in its request. A field with several dates is left out: it is not known which one is meant."""
    seen = defaultdict[str, dict[str, set[datetime]]](lambda: defaultdict(set))
    for function, field, date in fields:
        if (time := read_time(date)) is not None:
            seen[function][field].add(time)
    requested = {time for date in asked if (time := read_time(date)) is not None}
    for function, times in seen.items():
        dates = {field: values.pop() for field, values in times.items() if len(values) == 1}
        if len(dates) > MAX_DATES:
            continue
        for later, earlier in permutations(dates, 2):
            yield from _measure(DateDistance(function, later, f"{function}.{earlier}"), dates[later], dates[earlier])
        for field in dates if len(requested) == 1 else ():
            yield from _measure(DateDistance(function, field, TASK), dates[field], *requested)


def _measure(distance: DateDistance, time: datetime, base: datetime) -> Iterator[tuple[DateDistance, float]]:
    days = (time.date() - base.date()).days
    if days >= 0:
        yield distance, float(days)
