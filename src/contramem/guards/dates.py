"""Dates and times as runs write them (`2026-03-01`, `2026-03-01 14:00`, `01.03.2026`), and conditions on them.

falls on Monday                               also `weekday` (Monday to Friday) and `weekend`
falls on month end                            the last day of its month; also `month start`
falls after App.find.due                      later than a date in this field; also `before`. Any source of values.py: a
                                              date in the request (`task`), another argument of the call (`start`)
falls 14 days after App.find.due              calendar days; also working days (Monday to Friday), weeks, months, years,
                                              and hours and minutes by the clock
falls at most 7 days after App.find.due       between the date and 7 days later; also `at least`
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from contramem.errors import GuardError

if TYPE_CHECKING:
    from contramem.guards.actions import Action
    from contramem.guards.values import Read, Source

WRITTEN_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?|\b\d{2}\.\d{2}\.\d{4}\b", re.IGNORECASE
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


DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTH_ENDS = ("month start", "month end")
_GROUPS = {"weekday": range(5), "weekend": range(5, 7), **{day: (number,) for number, day in enumerate(DAYS)}}


def _count_days(base: datetime, time: datetime) -> float:
    return float((time.date() - base.date()).days)


def _count_working_days(base: datetime, time: datetime) -> float:
    """Days from Monday to Friday, without the base and with the other; a half more if that is no such day."""
    days = (time.date() - base.date()).days
    sign = 1 if days >= 0 else -1
    weeks, rest = divmod(abs(days), 7)
    working = 5 * weeks + sum((base.weekday() + sign * day) % 7 < 5 for day in range(1, rest + 1))
    return sign * (working if time.weekday() < 5 else working + 0.5)


def _count_months(base: datetime, time: datetime) -> float:
    """Whole months; a half more if days are left over. The last day of a month stands for those it does not have."""
    months = 12 * (time.year - base.year) + time.month - base.month
    day = min(base.day, monthrange(time.year, time.month)[1])
    return months - 0.5 if time.day < day else months + 0.5 if time.day > day else months


DISTANCES: dict[str, Callable[[datetime, datetime], float]] = {
    "day": _count_days,
    "working day": _count_working_days,
    "week": lambda base, time: _count_days(base, time) / 7,
    "month": _count_months,
    "year": lambda base, time: _count_months(base, time) / 12,
    "hour": lambda base, time: (time - base).total_seconds() / 3600,
    "minute": lambda base, time: (time - base).total_seconds() / 60,
}
"""By unit: how long after the base a time is; negative if it is before."""


class DateRelation(NamedTuple):
    """A day of the week, or a distance to another date."""

    day: str = ""
    """`Monday`, `weekday`, `weekend`, `month end`, `month start`; empty for a distance."""
    bound: str = ""
    """`at most` or `at least`; empty means exactly `amount`, or any distance if there is no `unit`."""
    amount: int = 0
    unit: str = ""
    """`day`, `working day` and so on; empty means any distance."""
    side: str = ""
    """`after` or `before`."""
    source: Source | None = None
    """Of the other date."""

    def __str__(self) -> str:
        return f"on {self.day}" if self.day else f"{self._distance}{self.side} {self.source}"

    @property
    def _distance(self) -> str:
        bound = f"{self.bound} " if self.bound else ""
        return f"{bound}{self.amount} {self.unit}{'' if self.amount == 1 else 's'} " if self.unit else ""

    def reverse_bound(self) -> DateRelation:
        """What is true exactly if this is not, of a distance with a bound."""
        bound, amount = reverse_bound(self.bound, self.amount)
        return self._replace(bound=bound, amount=amount)

    @property
    def reads(self) -> tuple[Read, ...]:
        return self.source.reads if self.source is not None else ()

    def holds(self, action: Action, value: Any) -> bool:
        time = read_time(str(value))
        if time is None:
            return False
        if self.day in MONTH_ENDS:
            return time.day == (1 if self.day == "month start" else monthrange(time.year, time.month)[1])
        if self.source is None:
            return time.weekday() in _GROUPS[self.day.lower()]
        texts = self.source.texts(action)
        return any((base := read_time(text)) is not None and self._is_reached(time, base) for text in texts)

    def _is_reached(self, time: datetime, base: datetime) -> bool:
        if not self.unit:
            return time > base if self.side == "after" else time < base
        distance = DISTANCES[self.unit](base, time) * (1 if self.side == "after" else -1)
        if self.bound == "at most":
            return 0 <= distance <= self.amount
        return distance >= self.amount if self.bound else distance == self.amount

    def in_words(self) -> str:
        if self.day in MONTH_ENDS:
            return f"on the {'last' if self.day == 'month end' else 'first'} day of a month"
        if self.source is None:
            return f"on a {self.day}"
        place = "the date in the task" if self.source.kind == "task" else self.source.in_words()
        return f"{self._distance}{self.side} {place}"


def reverse_bound(bound: str, amount: int) -> tuple[str, int]:
    """Of `at most 3`: `at least 4`, and the other way round."""
    return ("at least", amount + 1) if bound == "at most" else ("at most", amount - 1)


_ON = re.compile(rf"on\s+({'|'.join((*_GROUPS, *MONTH_ENDS))})", re.IGNORECASE)
_DISTANCE = re.compile(
    rf"(?:(?:(at most|at least)\s+)?(\d+)\s+({'|'.join(DISTANCES)})s?\s+)?(after|before)\s+(.+)", re.DOTALL
)


@lru_cache(maxsize=4096)
def parse_date_relation(text: str) -> DateRelation:
    """Parse a date relation. Raises GuardError with what is wrong."""
    from contramem.guards.values import parse_source  # which reads dates

    if match := _ON.fullmatch(text):
        day = match[1].lower()
        return DateRelation(day=day.capitalize() if day in DAYS else day)
    if match := _DISTANCE.fullmatch(text):
        bound, amount, unit, side, source = match.groups()
        return DateRelation("", bound or "", int(amount or 0), unit or "", side, parse_source(source))
    raise GuardError(
        f"{text!r} is not a relation between dates; write `falls on weekend`, `falls on month end`, "
        "`falls after App.function.field` or `falls at most 7 days after App.function.field`; units are "
        f"{', '.join(f'{unit}s' for unit in DISTANCES)}"
    )
