"""DateRelation: a condition on a date or time in an argument, written `2026-03-01`, `2026-03-01 14:00` or `01.03.2026`.

falls on Monday                               also `weekday` (Monday to Friday) and `weekend`
falls on month end                            the last day of its month; also `month start`
falls after App.find.due                      later than a date in this field, or in the request (`task`); also `before`
falls 14 days after App.find.due              calendar days; also hours and minutes, by the clock
falls at most 7 days after App.find.due       between the date and 7 days later; also `at least`
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.places import FIELD_PLACE, function_of_place, name_place, seen_texts

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_GROUPS = {"weekday": range(5), "weekend": range(5, 7), **{day: (number,) for number, day in enumerate(DAYS)}}
MONTH_ENDS = ("month start", "month end")
_SECONDS = {"day": 86400, "hour": 3600, "minute": 60}
_ON = re.compile(rf"on\s+({'|'.join((*_GROUPS, *MONTH_ENDS))})", re.IGNORECASE)
_DISTANCE = re.compile(
    rf"(?:(?:(at most|at least)\s+)?(\d+)\s+(day|hour|minute)s?\s+)?(after|before)\s+(task|{FIELD_PLACE})"
)
WRITTEN_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?|\b\d{2}\.\d{2}\.\d{4}\b", re.IGNORECASE
)


class DateRelation(NamedTuple):
    """A day of the week, or a distance to another date."""

    day: str = ""
    """`Monday`, `weekday`, `weekend`, `month end`, `month start`; empty for a distance."""
    bound: str = ""
    """`at most` or `at least`; empty means exactly `amount`, or any distance if there is no `unit`."""
    amount: int = 0
    unit: str = ""
    """`day`, `hour` or `minute`; empty means any distance."""
    side: str = ""
    """`after` or `before`."""
    place: str = ""

    def __str__(self) -> str:
        if self.day:
            return f"on {self.day}"
        return f"{self._distance}{self.side} {self.place}"

    @property
    def _distance(self) -> str:
        bound = f"{self.bound} " if self.bound else ""
        return f"{bound}{self.amount} {self.unit}{'' if self.amount == 1 else 's'} " if self.unit else ""

    @property
    def functions(self) -> tuple[str, ...]:
        function = function_of_place(self.place)
        return (function,) if function else ()

    def holds(self, action: Action, value: Any) -> bool:
        time = read_time(str(value))
        if time is None:
            return False
        if self.day in MONTH_ENDS:
            return time.day == (1 if self.day == "month start" else monthrange(time.year, time.month)[1])
        if self.day:
            return time.weekday() in _GROUPS[self.day.lower()]
        return any(self._is_reached(time, base) for base in _times(action, self.place))

    def _is_reached(self, time: datetime, base: datetime) -> bool:
        later, earlier = (time, base) if self.side == "after" else (base, time)
        if not self.unit:
            return later > earlier
        if self.unit == "day":
            distance = float((later.date() - earlier.date()).days)
        else:
            distance = (later - earlier).total_seconds() / _SECONDS[self.unit]
        if self.bound == "at most":
            return 0 <= distance <= self.amount
        return distance >= self.amount if self.bound else distance == self.amount

    def in_words(self) -> str:
        if self.day in MONTH_ENDS:
            return f"on the {'last' if self.day == 'month end' else 'first'} day of a month"
        if self.day:
            return f"on a {self.day}"
        return f"{self._distance}{self.side} {name_place(self.place)}"


def parse_date_relation(text: str) -> DateRelation:
    """Parse a date relation. Raises GuardError with what is wrong."""
    if match := _ON.fullmatch(text):
        day = match[1].lower()
        return DateRelation(day=day.capitalize() if day in DAYS else day)
    if match := _DISTANCE.fullmatch(text):
        bound, amount, unit, side, place = match.groups()
        return DateRelation("", bound or "", int(amount or 0), unit or "", side, place)
    raise GuardError(
        f"{text!r} is not a relation between dates; write `falls on weekend`, `falls on month end`, "
        "`falls after App.function.field` or `falls at most 7 days after App.function.field`"
    )


@lru_cache(maxsize=4096)
def read_time(text: str) -> datetime | None:
    """Parse a date or time; None if the text is neither. Time zones are ignored: runs of one system share theirs."""
    match = WRITTEN_DATE.fullmatch(text.strip())
    if match is None:
        return None
    try:
        if "." in match[0]:
            return datetime.strptime(match[0], "%d.%m.%Y")
        return datetime.fromisoformat(match[0].upper()).replace(tzinfo=None)
    except ValueError:
        return None


def _times(action: Action, place: str) -> Iterator[datetime]:
    texts = WRITTEN_DATE.findall(action.history.task) if place == "task" else seen_texts(action, place)
    yield from (time for text in texts if (time := read_time(text)) is not None)
