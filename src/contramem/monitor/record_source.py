"""Sources that read records: a field of the record chosen in some way, a sum, a count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.choice import RecordChoice, parse_choice
from contramem.monitor.comparison import plain_text, read_number, write_number
from contramem.monitor.places import FIELD_PLACE, field_of_place, function_of_place
from contramem.monitor.record_filter import (
    Filters,
    Record,
    describe_filters,
    parse_filters,
    select_records,
    write_filters,
)
from contramem.monitor.results import field_values
from contramem.monitor.source import Source


@dataclass(frozen=True)
class RecordField(Source):
    """A field of the records that are chosen in this way: `total of lowest due of App.list`."""

    field: str
    choice: RecordChoice

    def __str__(self) -> str:
        return f"{self.field} of {self.choice}"

    @property
    def functions(self) -> tuple[str, ...]:
        return self.choice.functions

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        return ((self.choice.function, self.field), *self.choice.fields)

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.choice.arguments

    def texts(self, action: Action) -> frozenset[str]:
        results = action.seen_records(self.choice.function, self.choice.inside)
        chosen = (record for records in results for record in self.choice.select(records, action))
        return frozenset(plain_text(value) for record in chosen for value in field_values(record, self.field))

    def in_words(self) -> str:
        return f"the `{self.field}` of {self.choice.in_words()}"


@dataclass(frozen=True)
class Total(Source):
    """The sum of a field over the records of a result, or the number of records."""

    kind: Literal["sum", "count"]
    place: str
    filters: Filters = ()

    def __str__(self) -> str:
        return f"{self.kind} of {self.place}{write_filters(self.filters)}"

    @property
    def function(self) -> str:
        return function_of_place(self.place)

    @property
    def functions(self) -> tuple[str, ...]:
        return (self.function, *(name for each in self.filters for name in each.functions))

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        named = (field_of_place(self.place), *(each.field for each in self.filters))
        return tuple((self.function, field) for field in named if field)

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(argument for each in self.filters for argument in each.arguments)

    def texts(self, action: Action) -> frozenset[str]:
        return frozenset(map(write_number, self.numbers(action)))

    def numbers(self, action: Action) -> list[float]:
        """One number for each result; a sum also over all results."""
        field = field_of_place(self.place)
        if self.kind == "count":
            return [float(len(records)) for records in self._select(action, field)]
        inside, _, name = field.rpartition(".")
        sums = self._add_up(action, "", field) or (self._add_up(action, inside, name) if inside else [])
        return [*sums, sum(sums)] if any(sums) else sums

    def _select(self, action: Action, inside: str) -> Iterator[list[Record]]:
        results = action.seen_records(self.function, inside)
        return (select_records(records, self.filters, action) for records in results)

    def _add_up(self, action: Action, inside: str, field: str) -> list[float]:
        """The sum of each result that has the field, in the records of the list `inside` it or in all of them."""
        amounts = (
            [read_number(value) or 0.0 for record in records for value in field_values(record, field)]
            for records in self._select(action, inside)
        )
        return [sum(some) for some in amounts if some]

    def in_words(self) -> str:
        field = field_of_place(self.place)
        what = f"the sum of the `{field}` of all items" if self.kind == "sum" else "the number of items"
        return f"{what} of `{self.function}`{describe_filters(self.filters)}"


_TOTAL = re.compile(rf"(sum)\s+of\s+({FIELD_PLACE})(?:\s+where\s+(.+))?", re.DOTALL)
_COUNT = re.compile(r"(count)\s+of\s+([^\s.]+\.[^\s.]+(?:\.\S+)?)(?:\s+where\s+(.+))?", re.DOTALL)
_FIELD = re.compile(r"(\S+)\s+of\s+(.+)", re.DOTALL)


def parse_record_source(text: str) -> RecordField | Total:
    """Parse a source that reads records. Raises GuardError with what is wrong."""
    if match := _TOTAL.fullmatch(text) or _COUNT.fullmatch(text):
        return Total(cast(Literal["sum", "count"], match[1]), match[2], parse_filters(match[3] or ""))
    match = _FIELD.fullmatch(text)
    if match is None or match[1] in ("sum", "count"):
        raise GuardError(f"{text!r}: write `sum of App.list.field` or `count of App.list`, perhaps with `where`")
    return RecordField(match[1], parse_choice(match[2]))
