"""RecordFilter: which records of a result a guard counts, sums or allows as a choice.

where status = open, total > 500      the record must satisfy all of these; comparison.py has every operator
where city = App.find_user.city       the same value as in a field of an earlier result
where seats >= task                   compared with a number in the request, in such a field or in an argument, or with
                                      what is calculated from these: `height >= App.get_object.height plus 10`
where date falls after App.find.due   any condition on dates (date_relation.py)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from contramem.errors import GuardError
from contramem.monitor.action import NO_ACTION, Action
from contramem.monitor.comparison import OPERATORS, Operator, read_expected, satisfies, say_operator, write_expected
from contramem.monitor.date_relation import DateRelation, parse_date_relation
from contramem.monitor.places import is_field_place
from contramem.monitor.quantity import Quantity, find_quantity, parse_quantity, relates_to
from contramem.monitor.results import field_values

Record: TypeAlias = dict[str, Any]
FilterOperator: TypeAlias = Operator | Literal["falls"]


class RecordFilter(NamedTuple):
    """A condition on one field of a record."""

    field: str
    operator: FilterOperator
    value: str
    is_place: bool = False
    """Whether `value` is looked up or calculated (quantity.py)."""

    def __str__(self) -> str:
        return f"{self.field} {self.operator} {self._written_value}"

    @property
    def _written_value(self) -> str:
        if self.operator == "falls" or self.is_place:
            return self.value
        return write_expected(self.operator, self.value)

    @property
    def _looked_up(self) -> Quantity | DateRelation | None:
        if self.operator == "falls":
            return parse_date_relation(self.value)
        return parse_quantity(self.value) if self.is_place else None

    @property
    def functions(self) -> tuple[str, ...]:
        return self._looked_up.functions if self._looked_up else ()

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The fields of other results that it is compared with, each with the function that returned it."""
        return self._looked_up.fields if self._looked_up else ()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of the call that it is compared with."""
        return self._looked_up.arguments if self._looked_up else ()

    def suits(self, record: Record, action: Action = NO_ACTION) -> bool:
        """Whether the record satisfies it. `action` is the call before which it is looked up what to compare with."""
        return any(self.holds(value, action) for value in field_values(record, self.field))

    def holds(self, value: Any, action: Action) -> bool:
        """Whether it holds for this value of the field."""
        if self.operator == "falls":
            return parse_date_relation(self.value).holds(action, value)
        if self.is_place:
            return relates_to(value, self.operator, parse_quantity(self.value), action)
        return satisfies(value, self.operator, self.value)

    def in_words(self) -> str:
        if self.operator == "falls":
            return f"`{self.field}` falls {parse_date_relation(self.value).in_words()}"
        value = parse_quantity(self.value).in_words() if self.is_place else self.value
        return f"`{self.field}` {say_operator(self.operator, value, _VERBS)} {value}"


_VERBS: dict[Operator, str] = {
    "=": "is",
    "!=": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
    "like": "is written like",
    "contains": "contains",
    "lacks": "does not contain",
    "starts with": "starts with",
    "ends with": "ends with",
    "one of": "is one of",
    "none of": "is none of",
}


Filters: TypeAlias = tuple[RecordFilter, ...]

_OF_TEXTS: tuple[Operator, ...] = ("contains", "lacks", "starts with", "ends with")
_FILTER = re.compile(rf"([^\s=<>!]+)\s*({OPERATORS}|\sfalls\s)\s*(.+)", re.DOTALL)
_COMMA = re.compile(r",\s*(?=(?:[^\"]|\"[^\"]*\")*$)")
"""A comma outside quotes."""


def parse_filters(text: str) -> Filters:
    """Parse conditions joined by commas; an empty text has none. Raises GuardError with what is wrong."""
    return tuple(_parse_part(part.strip()) for part in _COMMA.split(text)) if text.strip() else ()


def _parse_part(text: str) -> RecordFilter:
    match = _FILTER.fullmatch(text)
    if match is None:
        raise GuardError(
            f"{text!r} after `where` is not a condition on a record; write `where status = open, total > 5`"
        )
    return parse_filter(match[1], match[2].strip(), match[3].strip(), text)


def parse_filter(field: str, operator: str, value: str, text: str) -> RecordFilter:
    """The condition on a field. `text` is the whole condition, quoted in the error."""
    if operator == "falls":
        return RecordFilter(field, "falls", str(parse_date_relation(value)))
    compared = cast(Operator, operator)
    if (quantity := find_quantity(compared, value)) is not None:
        return RecordFilter(field, compared, str(quantity), is_place=True)
    if compared in _OF_TEXTS and is_field_place(value):
        raise GuardError(
            f"{value!r} in {text!r}: `{operator}` takes a text. Compare with a field by `{field} = {value}` (of a "
            "list, one item that fits is enough), or put a text into double quotes"
        )
    return RecordFilter(field, compared, read_expected(compared, value, text))


def write_filters(filters: Filters) -> str:
    """The ` where ...` ending of a condition; empty if there are no filters."""
    return f" where {', '.join(map(str, filters))}" if filters else ""


def select_records(records: Sequence[Record], filters: Filters, action: Action = NO_ACTION) -> list[Record]:
    """The records that satisfy every filter."""
    return [record for record in records if all(each.suits(record, action) for each in filters)]


def describe_filters(filters: Filters) -> str:
    """The filters as worded in a sentence; empty if there are none."""
    return f" whose {' and '.join(each.in_words() for each in filters)}" if filters else ""
