"""SeenFields: what earlier results of a run contained when a call was made: fields, amounts, dates and records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from contramem.contrast.form import is_field
from contramem.monitor.comparison import is_same, plain_text, read_number
from contramem.monitor.dates import read_time
from contramem.monitor.results import decode_result, list_records, walk
from contramem.study.atoms import MAX_VALUES, names_an_amount
from contramem.study.recorded_actions import RecordedAction

MAX_RECORDS = 40
MAX_FIELDS = 12
"""How many amounts or dates a value is compared with: the first ones seen."""


class SeenChoice(NamedTuple):
    """A record that a result listed, and those beside it."""

    function: str
    record: dict[str, Any]
    records: list[dict[str, Any]]


class _ShownValue(NamedTuple):
    """A value in a result, under the name of a field."""

    field: str
    text: str
    """In lower case."""
    value: Any
    amount: float
    """0 if it is none."""


class _ShownResult(NamedTuple):
    """What one result contains."""

    values: tuple[_ShownValue, ...]
    lists: frozenset[str]
    """Fields with several values."""
    records: list[dict[str, Any]]
    """Empty if there is no choice."""


@lru_cache(maxsize=4096)  # the runs of a task look the same records up
def _read_text(content: str) -> _ShownResult:
    return _read_result(decode_result(content))


def _read_result(result: Any) -> _ShownResult:
    values, firsts, lists = [], dict[str, str](), set[str]()
    for place, value in islice(walk(result), MAX_VALUES):
        if place and is_field(field := place[-1]):
            text, number = plain_text(value), read_number(value)
            amount = round(number, 6) if number and names_an_amount(field) else 0.0
            values.append(_ShownValue(field, text, value, amount))
            if firsts.setdefault(field, text) != text:
                lists.add(field)
    records = list_records(result)
    return _ShownResult(tuple(values), frozenset(lists), records[:MAX_RECORDS] if len(records) > 1 else [])


class SeenFields:
    """The fields that contained values before a call, and the records that could be chosen from."""

    def __init__(self) -> None:
        self._taken = 0
        self._fields = defaultdict[str, dict[tuple[str, str], None]](dict)
        self._amounts = defaultdict[float, dict[tuple[str, str], None]](dict)
        self._records = defaultdict[str, list[list[dict[str, Any]]]](list)
        self._last = dict[tuple[str, str], Any]()
        """The latest value of each field."""
        self.lists = set[str]()
        """`App.function.field` if one result contained several values of it."""

    def look_back(self, call: RecordedAction) -> None:
        """Record what the calls before this one returned."""
        for function, content in call.history.results(self._taken, call.order):
            shown = _read_text(content) if isinstance(content, str) else _read_result(content)
            for field, text, value, amount in shown.values:
                place = function, field
                self._fields[text].setdefault(place)
                self._last[place] = value
                if amount:
                    self._amounts[amount].setdefault(place)
            self.lists.update(f"{function}.{field}" for field in shown.lists)
            if shown.records:
                self._records[function].append(shown.records)
        self._taken = max(self._taken, call.order)

    def places(self) -> Iterator[str]:
        """`App.function.field` of every field that was seen."""
        return (f"{function}.{field}" for function, field in self._last)

    def fields_with(self, values: Sequence[Any]) -> Iterator[tuple[str, str]]:
        """The functions and fields that contained all these values."""
        first, *rest = [self._fields.get(plain_text(value), {}) for value in values]
        return (place for place in first if all(place in other for other in rest))

    def fields_with_text(self, text: str) -> Iterable[tuple[str, str]]:
        """The functions and fields whose whole value was this text, in lower case."""
        return self._fields.get(text, ())

    def fields_with_amount(self, number: float) -> Iterable[tuple[str, str]]:
        """The functions and fields that contained this number."""
        return self._amounts.get(round(number, 6), {})

    def single_amounts(self, besides: str) -> Iterator[tuple[str, float]]:
        """`App.function.field` and its number, for fields with one amount at a time; not those of `besides`."""
        amounts = (
            (f"{function}.{field}", number)
            for (function, field), value in self._last.items()
            if function != besides and (number := read_number(value)) is not None and names_an_amount(field)
        )
        return islice((pair for pair in amounts if pair[0] not in self.lists), MAX_FIELDS)

    def single_dates(self, besides: str) -> Iterator[tuple[str, datetime]]:
        """`App.function.field` and its date, for fields with one date at a time; not those of `besides`."""
        dates = (
            (f"{function}.{field}", time)
            for (function, field), value in self._last.items()
            if function != besides and isinstance(value, str) and (time := read_time(value)) is not None
        )
        return islice((pair for pair in dates if pair[0] not in self.lists), MAX_FIELDS)

    def latest_records(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """By function, the records of its latest result with several records."""
        return ((function, results[-1]) for function, results in self._records.items())

    def choices(self, value: Any) -> Iterator[SeenChoice]:
        """By function, the record that the value identifies and the records it was chosen from, in the latest
        result."""
        for function in dict.fromkeys(function for function, _ in self._fields.get(plain_text(value), {})):
            for records in reversed(self._records.get(function, [])):
                if (chosen := next((record for record in records if _names(record, value)), None)) is not None:
                    yield SeenChoice(function, chosen, records)
                    break


def _names(record: dict[str, Any], value: Any) -> bool:
    return any(not isinstance(scalar, (dict, list)) and is_same(scalar, value) for scalar in record.values())
