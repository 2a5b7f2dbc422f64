"""SeenFields: what earlier results of a run contained when a call was made: fields, amounts, dates and records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from contramem.collection.results import decode_result
from contramem.contrast.form import is_field
from contramem.guards.actions import Action
from contramem.guards.dates import read_time
from contramem.guards.results import list_records, walk
from contramem.guards.values import is_same, plain_text, read_number
from contramem.study.atoms import MAX_VALUES, names_an_amount

MAX_RECORDS = 40
MAX_FIELDS = 12
"""How many amounts or dates a value is compared with: the first ones seen."""


class SeenChoice(NamedTuple):
    """A record that a result listed, and those beside it."""

    function: str
    record: dict[str, Any]
    records: list[dict[str, Any]]


class _ShownResult(NamedTuple):
    """What one result contains."""

    texts: tuple[tuple[str, str], ...]
    """Each value in lower case, and its field."""
    amounts: tuple[tuple[float, str], ...]
    """Each number, and its field."""
    last: dict[str, Any]
    """By field, its last value."""
    lists: frozenset[str]
    """Fields with several values."""
    records: list[dict[str, Any]]
    """Empty if there is no choice."""


@lru_cache(maxsize=4096)  # the runs of a task look the same records up
def _read_text(content: str) -> _ShownResult:
    return _read_result(decode_result(content))


def _read_result(result: Any) -> _ShownResult:
    shown = [(place[-1], value) for place, value in islice(walk(result), MAX_VALUES) if place and is_field(place[-1])]
    texts = dict.fromkeys((plain_text(value), field) for field, value in shown)
    counts = Counter(field for _, field in texts)
    numbers = ((read_number(value), field) for field, value in shown if names_an_amount(field))
    amounts = dict.fromkeys((amount, field) for number, field in numbers if (amount := round(number or 0.0, 6)))
    records = list_records(result)
    return _ShownResult(
        tuple(texts),
        tuple(amounts),
        dict(shown),
        frozenset(field for field, count in counts.items() if count > 1),
        records[:MAX_RECORDS] if len(records) > 1 else [],
    )


class SeenFields:
    """The fields that contained values before a call, and the records that could be chosen from."""

    def __init__(self) -> None:
        self._taken = 0
        self._fields = defaultdict[str, dict[tuple[str, str], None]](dict)
        self._amounts = defaultdict[float, dict[tuple[str, str], None]](dict)
        self._records = defaultdict[str, list[list[dict[str, Any]]]](list)
        self._last = dict[tuple[str, str], Any]()
        """The latest value of each field."""
        self._singles = dict[str, list[tuple[str, str, Any]]]()
        """The functions and places with one amount or date at a time, as long as no more is seen."""
        self.lists = set[str]()
        """`App.function.field` if one result contained several values of it."""

    def look_back(self, call: Action) -> None:
        """Record what the calls before this one returned."""
        for function, content in call.history.results(self._taken, call.order):
            shown = _read_text(content) if isinstance(content, str) else _read_result(content)
            for text, field in shown.texts:
                self._fields[text].setdefault((function, field))
            for amount, field in shown.amounts:
                self._amounts[amount].setdefault((function, field))
            for field, value in shown.last.items():
                self._last[function, field] = value
            self.lists.update(f"{function}.{field}" for field in shown.lists)
            if shown.records:
                self._records[function].append(shown.records)
            self._singles.clear()
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
        if "amounts" not in self._singles:
            numbers = {place: read_number(value) for place, value in self._last.items() if names_an_amount(place[1])}
            self._singles["amounts"] = self._list_singles(numbers)
        return self._select_singles("amounts", besides)

    def single_dates(self, besides: str) -> Iterator[tuple[str, datetime]]:
        """`App.function.field` and its date, for fields with one date at a time; not those of `besides`."""
        if "dates" not in self._singles:
            dates = {place: read_time(value) for place, value in self._last.items() if isinstance(value, str)}
            self._singles["dates"] = self._list_singles(dates)
        return self._select_singles("dates", besides)

    def _list_singles(self, values: Mapping[tuple[str, str], Any]) -> list[tuple[str, str, Any]]:
        named = ((function, f"{function}.{field}", value) for (function, field), value in values.items())
        return [single for single in named if single[2] is not None and single[1] not in self.lists]

    def _select_singles(self, kind: str, besides: str) -> Iterator[tuple[str, Any]]:
        others = ((place, value) for function, place, value in self._singles[kind] if function != besides)
        return islice(others, MAX_FIELDS)

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
