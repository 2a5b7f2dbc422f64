"""Relations: what is true of one argument of one call: its form, its word, where its value came from, what it chose,
which numbers it adds up or counts, when its date falls, and which values its text mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from contramem.contrast.form import is_field
from contramem.monitor.choice import rank_key
from contramem.monitor.comparison import plain_text, read_number, shape_of, take_number, write_number, write_value
from contramem.monitor.date_relation import DAYS, MONTH_ENDS, WRITTEN_DATE, DateRelation, read_time
from contramem.study.atoms import is_word, names_an_amount, write_word
from contramem.study.recorded_actions import RecordedAction
from contramem.study.seen_fields import SeenFields

FACTORS = (0.01, 0.1, 10, 100, 1000)
"""Factors between units: cents, percent, thousands."""
MAX_SHAPE_CHARS = 16
MIN_DISTINCT = 3
"""Length from which a value cannot match a field by chance."""
MIN_WORDS = 4
"""Minimum words of a meaningful text, such as a letter."""
MAX_MENTIONED_WORDS = 4
"""Of a value that is searched for in a text."""
MAX_FILTERS = 4
"""Words of a chosen record: perhaps it was chosen among the records that share them."""
MAX_WORDS_JOINED = 8
"""Words of records that are joined in pairs: the open ones that are rents."""
MAX_DAYS = 400

_CODE = re.compile(r"[A-Za-z]{2,}[-_ ]?\d{1,2}")
_DECIMAL = re.compile(r"\d{1,12}\.\d{1,4}")
_HAS_ORDER = re.compile(r"[-+]?\d")
_DIGITS = re.compile(r"\d+")
_NOTHING = (0, 0.0, "")
"""The `rank_key` of 0: places, seats or stock that are used up."""
_TOKEN = re.compile(r"[^\s,;:!?()\"“”]+")


def find_relations(value: Any, call: RecordedAction, seen: SeenFields) -> Iterator[str]:
    """What a guard could demand of an argument with this value."""
    yield "given"
    if isinstance(value, list):
        if value and all(isinstance(item, (str, int)) and len(str(item)) >= MIN_DISTINCT for item in value):
            yield from _places(value, call, seen)
        return
    if is_text(value):
        yield from find_mentions(value, call, seen)
        return
    if isinstance(value, str) and 0 < len(shape := shape_of(value)) <= MAX_SHAPE_CHARS:
        yield f"like {write_value(shape)}"
        if (counted := _count_digits(value, shape)) != shape:
            yield f"like {write_value(counted)}"
        yield from _days(value, call, seen)
    if is_word(value) or (isinstance(value, str) and _CODE.fullmatch(value)):
        yield f"= {write_value(str(value))}"
    if (number := _read_amount(value)) is not None:
        yield from _multiples(number, call, seen)
        yield from _totals(number, call, seen)
        yield from _comparisons(number, call, seen)
    if isinstance(value, (str, int)) and not isinstance(value, bool) and len(str(value)) >= MIN_DISTINCT:
        yield from _places([value], call, seen)
        yield from _choices(value, call, seen)


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


def _multiples(value: float, call: RecordedAction, seen: SeenFields) -> Iterator[str]:
    for base in call.task_numbers():
        for factor in (1, *FACTORS):
            if base and abs(value - base * factor) < 1e-6 * max(1.0, abs(value)):
                yield f"times {write_number(factor)} of task"
    for factor in (1, *FACTORS) if value else ():
        for function, field in seen.fields_with_amount(value / factor):
            yield f"times {write_number(factor)} of {function}.{field}"


def _totals(value: float, call: RecordedAction, seen: SeenFields) -> Iterator[str]:
    """What the number is the sum or count of: all records of a result, or those with a word."""
    for function, records in seen.latest_records():
        if function == call.function:
            continue
        for some, where in ((records, ""), *_divide(records)):
            if value == len(some):
                yield f"counts {function}{where}"
            for field, total in _add_up(some).items():
                for factor in (1, *FACTORS) if value and len(some) > 1 else (1,):
                    if value and abs(value - total * factor) < 1e-6 * max(1.0, abs(value)):
                        yield f"sums {'' if factor == 1 else f'{write_number(factor)} times '}{function}.{field}{where}"


def _divide(records: Sequence[dict[str, Any]]) -> Iterator[tuple[list[dict[str, Any]], str]]:
    """The records that share a word, then those that share two, each with how a guard writes that."""
    by_word = list(_divide_by_word(records))
    for some, test in (*by_word, *_join_pairs(by_word[:MAX_WORDS_JOINED])):
        yield some, f" where {test}"


def _join_pairs(
    by_word: Sequence[tuple[list[dict[str, Any]], str]],
) -> Iterator[tuple[list[dict[str, Any]], str]]:
    """The records that share two words, if those are fewer than share either."""
    for (some, test), (others, other) in combinations(by_word, 2):
        both = [record for record in some if any(record is each for each in others)]
        if both and len(both) < min(len(some), len(others)):
            yield both, f"{test}, {other}"


def _divide_by_word(records: Sequence[dict[str, Any]]) -> Iterator[tuple[list[dict[str, Any]], str]]:
    """The records that have a word, and the guard syntax for it."""
    for field, value in dict.fromkeys(
        (field, value) for record in records for field, value in record.items() if is_word(value) and is_field(field)
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


def _comparisons(value: float, call: RecordedAction, seen: SeenFields) -> Iterator[str]:
    """Is it more than an amount that was seen, or at most as much?"""
    for place, number in seen.single_amounts(call.function):
        yield f"{'>' if value > number else '<='} {place}"


# Dates


def _days(value: str, call: RecordedAction, seen: SeenFields) -> Iterator[str]:
    """The day of the week, and the distance to a date that was seen."""
    time = read_time(value)
    if time is None:
        return
    yield f"falls on {DAYS[time.weekday()].capitalize()}"
    yield f"falls on {'weekday' if time.weekday() < 5 else 'weekend'}"
    yield from (f"falls on {day}" for day in MONTH_ENDS if DateRelation(day).holds(call, value))
    for place, days in find_distances(value, call, seen):
        if days:  # on the same day is `from`
            side = "after" if days > 0 else "before"
            yield f"falls {abs(days)} day{'' if abs(days) == 1 else 's'} {side} {place}"
            yield f"falls {side} {place}"


def find_distances(value: Any, call: RecordedAction, seen: SeenFields) -> Iterator[tuple[str, int]]:
    """How many days the value lies after each date that was seen, or after the request's date."""
    time = read_time(value) if isinstance(value, str) else None
    if time is None:
        return
    asked = [base for text in WRITTEN_DATE.findall(call.history.task) if (base := read_time(text)) is not None]
    for place, base in (*(("task", base) for base in asked[:1] if len(asked) == 1), *seen.single_dates(call.function)):
        if abs(days := (time.date() - base.date()).days) <= MAX_DAYS:
            yield place, days


# Texts


def find_mentions(text: str, call: RecordedAction, seen: SeenFields) -> Iterator[str]:
    """The fields of earlier results whose value the text contains, unless the request names it."""
    tokens = [token.rstrip(".'") for token in _TOKEN.findall(text.casefold())]
    task = plain_text(call.history.task)
    for width in range(1, MAX_MENTIONED_WORDS + 1):
        for start in range(len(tokens) - width + 1):
            value = " ".join(tokens[start : start + width])
            if len(value) >= MIN_DISTINCT and value not in task:
                for function, field in seen.fields_with_text(value):
                    if function != call.function:
                        yield f"mentions {function}.{field}"


# Places and choices


def _places(values: Sequence[Any], call: RecordedAction, seen: SeenFields) -> Iterator[str]:
    """The fields of earlier results that contain all values; or the request."""
    if all(plain_text(value) in plain_text(call.history.task) for value in values):
        yield "from task"
    for function, field in seen.fields_with(values):
        if function == call.function:
            continue  # a function's own earlier result says nothing about what to pass to it
        yield f"from {function}.{field}"


def _choices(value: Any, call: RecordedAction, seen: SeenFields) -> Iterator[str]:
    for function, chosen, records in seen.choices(value):
        if function == call.function:
            continue
        yield from _rankings(chosen, value, records, function, "")
        by_word: list[tuple[list[dict[str, Any]], str]] = []
        for field, own in chosen.items():
            if not is_field(field) or isinstance(own, (dict, list)):
                continue
            if is_word(own):
                yield f"picks {field} = {write_value(str(own))} of {function}"
            some = [record for record in records if record.get(field) == own]
            if is_word(own) and len(by_word) < MAX_FILTERS:
                by_word.append((some, f"{field} = {write_value(write_word(own))}"))
            for place in _same_elsewhere(field, own, call, function, seen) if len(some) < len(records) else ():
                if len(str(own)) >= MIN_DISTINCT:
                    yield f"picks {field} = {place} of {function}"
                yield from _rankings(chosen, value, some, function, f" where {field} = {place}")
        for some, test in (*by_word, *_join_pairs(by_word)):
            yield from _rankings(chosen, value, some, function, f" where {test}")


def _same_elsewhere(field: str, own: Any, call: RecordedAction, function: str, seen: SeenFields) -> Iterator[str]:
    """The fields of other results that have the same value: the climate that the object needs. A short value stands in
    many fields, so there the name has to be the same."""
    for other, place in seen.fields_with_text(plain_text(own)):
        if other not in (function, call.function) and (len(str(own)) >= MIN_DISTINCT or place == field):
            yield f"{other}.{place}"


def _rankings(
    chosen: dict[str, Any], value: Any, records: Sequence[dict[str, Any]], function: str, where: str
) -> Iterator[str]:
    """Whether the chosen record is the first or last, by order or by a field with numbers or dates. The field that
    identifies the record is no reason to choose it."""
    if not where and chosen is records[0]:  # among some of the records, a position is an accident
        yield f"picks first of {function}"
    if not where and chosen is records[-1]:
        yield f"picks last of {function}"
    for field, own in chosen.items():
        if not is_field(field) or isinstance(own, (dict, list, bool)) or own == value or not _HAS_ORDER.match(str(own)):
            continue
        keys = [key for record in records if (key := rank_key(record, field)) is not None]
        if len(set(keys)) > 1 and (key := rank_key(chosen, field)) is not None:
            if key == min(keys):
                yield f"picks lowest {field} of {function}{where}"
            elif min(keys) == _NOTHING and key == min(other for other in keys if other != _NOTHING):
                yield f"picks lowest {field} of {function}{where}{', ' if where else ' where '}{field} > 0"
            if key == max(keys):
                yield f"picks highest {field} of {function}{where}"
