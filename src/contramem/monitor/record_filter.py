"""RecordFilter: which records of a result a guard counts, sums or allows as a choice.

where status = open, total > 500      the record must satisfy all of these; comparison.py has every operator
where city = App.find_user.city       the same value as in a field of an earlier result
where seats >= task                   compared with a number in the request, or in such a field
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.comparison import OPERATORS, Operator, read_expected, satisfies, write_expected
from contramem.monitor.places import function_of_place, is_place_behind, name_place, relates_to_place
from contramem.monitor.results import field_values

Record: TypeAlias = dict[str, Any]


class RecordFilter(NamedTuple):
    """A condition on one field of a record."""

    field: str
    operator: Operator
    value: str
    is_place: bool = False
    """Whether `value` is a place to look up: the request (`task`) or a field of an earlier result."""

    def __str__(self) -> str:
        value = self.value if self.is_place else write_expected(self.operator, self.value)
        return f"{self.field} {self.operator} {value}"

    @property
    def functions(self) -> tuple[str, ...]:
        function = function_of_place(self.value) if self.is_place else ""
        return (function,) if function else ()

    def suits(self, record: Record, action: Action | None = None) -> bool:
        """Whether the record satisfies it. `action` is the call whose history places are looked up in."""
        values = field_values(record, self.field)
        if self.is_place:
            return action is not None and any(
                relates_to_place(value, self.operator, action, self.value) for value in values
            )
        return any(satisfies(value, self.operator, self.value) for value in values)

    def in_words(self) -> str:
        value = name_place(self.value) if self.is_place else self.value
        return f"`{self.field}` {self.operator} {value}"


Filters: TypeAlias = tuple[RecordFilter, ...]

_FILTER = re.compile(rf"([^\s=<>!]+)\s*({OPERATORS})\s*(.+)", re.DOTALL)
_COMMA = re.compile(r",\s*(?=(?:[^\"]|\"[^\"]*\")*$)")
"""A comma outside quotes."""


def parse_filters(text: str) -> Filters:
    """Parse conditions joined by commas; an empty text has none. Raises GuardError with what is wrong."""
    return tuple(_parse_filter(part.strip()) for part in _COMMA.split(text)) if text.strip() else ()


def _parse_filter(text: str) -> RecordFilter:
    match = _FILTER.fullmatch(text)
    if match is None:
        raise GuardError(
            f"{text!r} after `where` is not a condition on a record; write `where status = open, total > 5`"
        )
    operator, value = cast(Operator, match[2].strip()), match[3].strip()
    if is_place_behind(operator, value):
        return RecordFilter(match[1], operator, value, is_place=True)
    return RecordFilter(match[1], operator, read_expected(operator, value, text))


def write_filters(filters: Filters) -> str:
    """The ` where ...` ending of a condition; empty if there are no filters."""
    return f" where {', '.join(map(str, filters))}" if filters else ""


def select_records(records: Sequence[Record], filters: Filters, action: Action | None = None) -> list[Record]:
    """The records that satisfy every filter."""
    return [record for record in records if all(each.suits(record, action) for each in filters)]


def describe_filters(filters: Filters) -> str:
    """The filters as worded in a sentence; empty if there are none."""
    return f" whose {' and '.join(each.in_words() for each in filters)}" if filters else ""
