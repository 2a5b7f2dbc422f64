"""RecordFilter: which of the records that a call returned a guard counts, adds up or lets choose among.

where status = open, total > 500      all of these must be true of one record; every comparison of comparison.py
where city = App.find_user.city       the same value as one that a field of an earlier result held
where seats >= task                   compared with a number of the request, or of such a field
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
    """What one field of a record must hold."""

    field: str
    operator: Operator
    value: str
    is_place: bool = False
    """Is the value to be looked up: in the request (`task`), or in a field of an earlier result?"""

    def __str__(self) -> str:
        value = self.value if self.is_place else write_expected(self.operator, self.value)
        return f"{self.field} {self.operator} {value}"

    @property
    def functions(self) -> tuple[str, ...]:
        function = function_of_place(self.value) if self.is_place else ""
        return (function,) if function else ()

    def suits(self, record: Record, action: Action | None = None) -> bool:
        """Is it true of the record? `action` is the call that looks back, where there is one."""
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
"""Outside of quotes."""


def parse_filters(text: str) -> Filters:
    """The conditions that `text` joins by commas; none for an empty text. Raises GuardError with what is wrong."""
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
    """` where ...` as it stands at the end of a condition; empty without any."""
    return f" where {', '.join(map(str, filters))}" if filters else ""


def select_records(records: Sequence[Record], filters: Filters, action: Action | None = None) -> list[Record]:
    """The records of which every condition is true."""
    return [record for record in records if all(each.suits(record, action) for each in filters)]


def describe_filters(filters: Filters) -> str:
    """As it stands in a sentence; empty without any."""
    return f" whose {' and '.join(each.in_words() for each in filters)}" if filters else ""
