"""Relations: what is true of one argument of one call. Its form, its word, where its value had stood, what it chose."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from contramem.contrast.form import is_field
from contramem.monitor.choice import rank_key
from contramem.monitor.comparison import is_same, plain_text, read_number, shape_of, write_number, write_value
from contramem.monitor.results import decode_result, list_records, walk
from contramem.study.atoms import MAX_VALUES, is_word, names_an_amount
from contramem.study.recorded_actions import RecordedAction

FACTORS = (0.01, 0.1, 10, 100, 1000)
"""Multiples that come from units: cents, percent, thousands."""
MAX_SHAPE_CHARS = 16
MIN_DISTINCT = 3
"""Characters of a value that cannot stand in a field by chance."""
MAX_RECORDS = 40


class SeenFields:
    """The fields that values had stood in before a call, and the records that could be chosen among."""

    def __init__(self) -> None:
        self._taken = 0
        self._fields = defaultdict[str, dict[tuple[str, str], None]](dict)
        self._amounts = defaultdict[float, dict[tuple[str, str], None]](dict)
        self._records = defaultdict[str, list[list[dict[str, Any]]]](list)
        self.lists = set[str]()
        """`App.function.field` where one result held several values."""

    def look_back(self, call: RecordedAction) -> None:
        """Take in what calls before this one returned."""
        for function, content in call.history.results(self._taken, call.order):
            result = decode_result(content)
            firsts: dict[str, str] = {}
            for place, value in islice(walk(result), MAX_VALUES):
                if place and is_field(place[-1]):
                    if firsts.setdefault(place[-1], plain_text(value)) != plain_text(value):
                        self.lists.add(f"{function}.{place[-1]}")
                    self._fields[plain_text(value)].setdefault((function, place[-1]))
                    if (number := read_number(value)) and names_an_amount(place[-1]):
                        self._amounts[round(number, 6)].setdefault((function, place[-1]))
            if len(records := list_records(result)) > 1:
                self._records[function].append(records[:MAX_RECORDS])
        self._taken = max(self._taken, call.order)

    def fields_with(self, values: Sequence[Any]) -> Iterator[tuple[str, str]]:
        """The functions and fields that all these values stood in."""
        first, *rest = [self._fields.get(plain_text(value), {}) for value in values]
        return (place for place in first if all(place in other for other in rest))

    def fields_with_amount(self, number: float) -> Iterable[tuple[str, str]]:
        """The functions and fields that this number stood in."""
        return self._amounts.get(round(number, 6), {})

    def choices(self, value: Any) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
        """By function, the record that the value names and the records that it was chosen among: latest result."""
        for function in dict.fromkeys(function for function, _ in self._fields.get(plain_text(value), {})):
            for records in reversed(self._records.get(function, [])):
                if (chosen := next((record for record in records if _names(record, value)), None)) is not None:
                    yield function, chosen, records
                    break


def find_relations(value: Any, call: RecordedAction, seen: SeenFields) -> Iterator[str]:
    """What a guard could ask of an argument that has this value."""
    yield "given"
    if isinstance(value, list):
        if value and all(isinstance(item, (str, int)) and len(str(item)) >= MIN_DISTINCT for item in value):
            yield from _places(value, call, seen)
        return
    if isinstance(value, str) and 0 < len(shape := shape_of(value)) <= MAX_SHAPE_CHARS:
        yield f"like {write_value(shape)}"
    if is_word(value):
        yield f"= {write_value(str(value))}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _multiples(value, call, seen)
    if isinstance(value, (str, int)) and not isinstance(value, bool) and len(str(value)) >= MIN_DISTINCT:
        yield from _places([value], call, seen)
        yield from _choices(value, call, seen)


def _multiples(value: float, call: RecordedAction, seen: SeenFields) -> Iterator[str]:
    for base in call.task_numbers():
        for factor in (1, *FACTORS):
            if base and abs(value - base * factor) < 1e-6 * max(1.0, abs(value)):
                yield f"times {write_number(factor)} of task"
    for factor in FACTORS if value else ():
        for function, field in seen.fields_with_amount(value / factor):
            yield f"times {write_number(factor)} of {function}.{field}"


def _places(values: Sequence[Any], call: RecordedAction, seen: SeenFields) -> Iterator[str]:
    """The fields of earlier results that all values stand in; or the request."""
    if all(plain_text(value) in plain_text(call.history.task) for value in values):
        yield "from task"
    for function, field in seen.fields_with(values):
        if function == call.function:
            continue  # what a function itself gave back before says nothing about what to give it
        yield f"from {function}.{field}"


def _choices(value: Any, call: RecordedAction, seen: SeenFields) -> Iterator[str]:
    for function, chosen, records in seen.choices(value):
        if function == call.function:
            continue
        if chosen is records[0]:
            yield f"picks first of {function}"
        if chosen is records[-1]:
            yield f"picks last of {function}"
        for field, own in chosen.items():
            if not is_field(field) or isinstance(own, (dict, list)):
                continue
            if is_word(own):
                yield f"picks {field} = {write_value(str(own))} of {function}"
            keys = [key for record in records if (key := rank_key(record, field)) is not None]
            if len(set(keys)) > 1 and (key := rank_key(chosen, field)) is not None:
                if key == min(keys):
                    yield f"picks lowest {field} of {function}"
                if key == max(keys):
                    yield f"picks highest {field} of {function}"


def _names(record: dict[str, Any], value: Any) -> bool:
    return any(not isinstance(scalar, (dict, list)) and is_same(scalar, value) for scalar in record.values())
