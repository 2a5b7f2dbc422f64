"""Relations: what is true of one argument of one call: its form, its word, where its value came from, what it chose,
which numbers it adds up or counts, when its date falls, and which values its text mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from contramem.contrast.form import is_field
from contramem.guards.actions import Action
from contramem.guards.dates import DAYS, DISTANCES, MONTH_ENDS, DateRelation, read_time
from contramem.guards.values import is_near, plain_text, read_number, shape_of, take_number, write_number, write_value
from contramem.study.atoms import is_category, is_word, names_an_amount, write_word
from contramem.study.calculations import FACTORS, find_calculations
from contramem.study.record_ways import MIN_DISTINCT, find_ways, join_pairs
from contramem.study.seen_fields import SeenFields
from contramem.study.seen_relation import GIVEN, SeenRelation

MAX_SHAPE_CHARS = 16
MIN_WORDS = 4
"""Minimum words of a meaningful text, such as a letter."""
MAX_MENTIONED_WORDS = 4
"""Of a value that is searched for in a text."""
MAX_WORDS_JOINED = 8
"""Words of records that are joined in pairs: the open ones that are rents."""
MAX_DAYS = 400
MAX_WORKING_DAYS = 10
MAX_MONTHS = 24

_CODE = re.compile(r"[A-Za-z]{2,}[-_ ]?\d{1,2}")
_DECIMAL = re.compile(r"\d{1,12}\.\d{1,4}")
_DIGITS = re.compile(r"\d+")
_TOKEN = re.compile(r"[^\s,;:!?()\"“”]+")


def find_relations(value: Any, call: Action, seen: SeenFields) -> Iterator[SeenRelation]:
    """What a guard could demand of an argument with this value."""
    yield GIVEN
    if isinstance(value, list):
        if value and all(isinstance(item, (str, int)) and len(str(item)) >= MIN_DISTINCT for item in value):
            yield from _places(value, call, seen)
        return
    if is_text(value):
        yield from find_mentions(value, call, seen)
        return
    if isinstance(value, str) and 0 < len(shape := shape_of(value)) <= MAX_SHAPE_CHARS:
        yield SeenRelation("like", write_value(shape))
        if (counted := _count_digits(value, shape)) != shape:
            yield SeenRelation("like", write_value(counted))
        yield from _days(value, call, seen)
    if is_word(value) or (isinstance(value, str) and _CODE.fullmatch(value)):
        yield SeenRelation("=", write_value(str(value)))
    if (number := _read_amount(value)) is not None:
        yield from _multiples(number, call, seen)
        yield from find_calculations(number, call, seen)
        yield from _totals(number, call, seen)
        yield from _comparisons(number, call, seen)
    if isinstance(value, (str, int)) and not isinstance(value, bool) and len(str(value)) >= MIN_DISTINCT:
        yield from _places([value], call, seen)
        for choice in seen.choices(value):
            yield from find_ways(choice, value, call, seen)


def _count_digits(value: str, shape: str) -> str:
    """The shape with as many digits as the value has: 99999 for `00762`."""
    runs = iter(_DIGITS.findall(value))
    return re.sub("9", lambda _: "9" * len(next(runs)), shape)


def is_text(value: Any) -> bool:
    """Is it written text, rather than a name or number?"""
    return isinstance(value, str) and value.count(" ") + value.count("\n") >= MIN_WORDS - 1


# Numbers


def _read_amount(value: Any) -> float | None:
    """The number that an argument is, or that it writes with decimals: `"696.50"`. Other digits in a text name
    something."""
    if isinstance(value, str):
        return float(value) if _DECIMAL.fullmatch(value) else None
    return take_number(value)


def _multiples(value: float, call: Action, seen: SeenFields) -> Iterator[SeenRelation]:
    for base in call.history.task_numbers:
        for factor in (1, *FACTORS):
            if base and is_near(value, base * factor):
                yield SeenRelation("times", f"{write_number(factor)} of task")
    for factor in (1, *FACTORS) if value else ():
        for function, field in seen.fields_with_amount(value / factor):
            if function != call.function:
                yield SeenRelation("times", f"{write_number(factor)} of {function}.{field}")


def _totals(value: float, call: Action, seen: SeenFields) -> Iterator[SeenRelation]:
    """What the number is the sum or count of: all records of a result, or those with a word."""
    for function, records in seen.latest_records():
        if function == call.function:
            continue
        for some, where in ((records, ""), *_divide(records)):
            if value == len(some):
                yield SeenRelation("counts", function, where)
            for field, total in _add_up(some).items():
                for factor in (1, *FACTORS) if value and len(some) > 1 else (1,):
                    if value and is_near(value, total * factor):
                        in_unit = "" if factor == 1 else f"{write_number(factor)} times "
                        yield SeenRelation("sums", f"{in_unit}{function}.{field}", where)


def _divide(records: Sequence[dict[str, Any]]) -> Iterator[tuple[list[dict[str, Any]], str]]:
    """The records that share a word, then those that share two, each with how a guard writes that."""
    by_word = list(_divide_by_word(records))
    yield from (*by_word, *join_pairs(by_word[:MAX_WORDS_JOINED]))


def _divide_by_word(records: Sequence[dict[str, Any]]) -> Iterator[tuple[list[dict[str, Any]], str]]:
    """The records that have a word, and the guard syntax for it."""
    for field, value in dict.fromkeys(
        (field, value)
        for record in records
        for field, value in record.items()
        if is_field(field) and is_category(value, field)
    ):
        some = [record for record in records if record.get(field) == value]
        yield some, f"{field} = {write_value(write_word(value))}"


def _add_up(records: Sequence[dict[str, Any]]) -> dict[str, float]:
    totals: dict[str, float] = {}
    for record in records:
        for field, value in record.items():
            if is_field(field) and names_an_amount(field) and (number := read_number(value)) is not None:
                totals[field] = totals.get(field, 0.0) + number
    return totals


def _comparisons(value: float, call: Action, seen: SeenFields) -> Iterator[SeenRelation]:
    """Is it more than an amount that was seen, or at most as much?"""
    for place, number in seen.single_amounts(call.function):
        yield SeenRelation(">" if value > number else "<=", place)


# Dates


def _days(value: str, call: Action, seen: SeenFields) -> Iterator[SeenRelation]:
    """The day of the week, and the distance to a date that was seen."""
    time = read_time(value)
    if time is None:
        return
    yield SeenRelation("falls", f"on {DAYS[time.weekday()].capitalize()}")
    yield SeenRelation("falls", "on weekday" if time.weekday() < 5 else "on weekend")
    yield from (SeenRelation("falls", f"on {day}") for day in MONTH_ENDS if DateRelation(day).holds(call, value))
    for place, days in find_distances(value, call, seen):
        if days:  # on the same day is `from`
            side = "after" if days > 0 else "before"
            yield SeenRelation("falls", f"{abs(days)} day{'' if abs(days) == 1 else 's'} {side} {place}")
            yield SeenRelation("falls", f"{side} {place}")
            yield from _other_units(time, days, side, place)


def _other_units(time: datetime, days: int, side: str, place: str) -> Iterator[SeenRelation]:
    """The same distance in working days, or in months where it is a whole number of them."""
    base = time - timedelta(days=days)
    for unit, most in (("working day", MAX_WORKING_DAYS), ("month", MAX_MONTHS)):
        count = abs(DISTANCES[unit](base, time))
        if 0 < count <= most and count == int(count):
            yield SeenRelation("falls", f"{int(count)} {unit}{'' if count == 1 else 's'} {side} {place}")


def find_distances(value: Any, call: Action, seen: SeenFields) -> Iterator[tuple[str, int]]:
    """How many days the value lies after each date that was seen, after the request's date and after the dates in other
    arguments of the call."""
    time = read_time(value) if isinstance(value, str) else None
    if time is None:
        return
    given = [(name, base) for name, own in call.arguments.items() if own != value and (base := read_time(str(own)))]
    stated = [("task", asked)] if (asked := call.history.task_date) else []
    for place, base in (*stated, *given, *seen.single_dates(call.function)):
        if abs(days := (time.date() - base.date()).days) <= MAX_DAYS:
            yield place, days


# Texts


def find_mentions(text: str, call: Action, seen: SeenFields) -> Iterator[SeenRelation]:
    """The fields of earlier results whose value the text contains, unless the request names it."""
    tokens = [token.rstrip(".'") for token in _TOKEN.findall(text.casefold())]
    task = call.history.plain_task
    for width in range(1, MAX_MENTIONED_WORDS + 1):
        for start in range(len(tokens) - width + 1):
            value = " ".join(tokens[start : start + width])
            if len(value) >= MIN_DISTINCT and value not in task:
                for function, field in seen.fields_with_text(value):
                    if function != call.function:
                        yield SeenRelation("mentions", f"{function}.{field}")


# Places


def _places(values: Sequence[Any], call: Action, seen: SeenFields) -> Iterator[SeenRelation]:
    """The fields of earlier results that contain all values; or the request."""
    if all(plain_text(value) in call.history.plain_task for value in values):
        yield SeenRelation("from", "task")
    for function, field in seen.fields_with(values):
        if function == call.function:
            continue  # a function's own earlier result says nothing about what to pass to it
        yield SeenRelation("from", f"{function}.{field}")
