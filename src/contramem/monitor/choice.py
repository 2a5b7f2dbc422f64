"""RecordChoice: how the agent chose one of the records that a call returned: the oldest, the open one, the first.

lowest due of Shop.list_invoices      the record with the lowest `due`; also `highest`. Numbers sort before text
first of Shop.list_invoices           by position in the list; also `last`
first of Shop.get_order.lines         the same in the list `lines` of each result, however deep it lies
status = open of Shop.list_invoices   by a property of the record: any comparison of comparison.py, or with a field of
                                      an earlier result: `city = Shop.find_user.city of Shop.list_branches`

`lowest`, `highest`, `first` and `last` may end in `where status = open, total > 500`, which limits the candidates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.comparison import OPERATORS, is_same, read_number
from contramem.monitor.record_filter import (
    Filters,
    Record,
    describe_filters,
    parse_filters,
    select_records,
    write_filters,
)
from contramem.monitor.results import field_values, walk

Way: TypeAlias = Literal["lowest", "highest", "first", "last", "having"]


class RecordChoice(NamedTuple):
    """One way to choose among the records that a function returned."""

    way: Way
    function: str
    field: str = ""
    """What `lowest` and `highest` order by."""
    filters: Filters = ()
    """For `having`, what the record must satisfy; otherwise, what every candidate must satisfy."""
    inside: str = ""
    """The name of the list in the result that the records stand in; empty means any."""

    def __str__(self) -> str:
        if self.way == "having":
            return f"{', '.join(map(str, self.filters))} of {self.place}"
        return f"{self.way} {f'{self.field} ' if self.field else ''}of {self.place}{write_filters(self.filters)}"

    @property
    def place(self) -> str:
        return f"{self.function}.{self.inside}" if self.inside else self.function

    @property
    def functions(self) -> tuple[str, ...]:
        return (self.function, *(name for each in self.filters for name in each.functions))

    def is_made(self, action: Action, value: Any) -> bool:
        """Whether the record was chosen this way from the last result with `value` in it. False if no result has it."""
        for records in action.seen_records(self.function, self.inside):
            chosen = next((record for record in records if _names(record, value)), None)
            if chosen is not None:
                return self._suits(chosen, select_records(records, self.filters, action))
        return False

    def _suits(self, chosen: Record, records: Sequence[Record]) -> bool:
        """Whether `chosen` is right, given the records that pass the filters."""
        if not any(chosen is record for record in records):
            return False
        if self.way == "having":
            return True
        if self.way in ("first", "last"):
            return chosen is records[0 if self.way == "first" else -1]
        keys = [key for record in records if (key := rank_key(record, self.field)) is not None]
        own = rank_key(chosen, self.field)
        return own is not None and own == (min(keys) if self.way == "lowest" else max(keys))

    def in_words(self) -> str:
        item = f"item of `{self.place}`"
        which = describe_filters(self.filters)
        if self.way in ("first", "last"):
            return f"the {self.way} {item}{which}"
        if self.way == "having":
            return f"an {item}{which}"
        among = f" among those{which}" if which else ""
        return f"the {item} with the {self.way} `{self.field}`{among}"


def rank_key(record: Record, field: str) -> tuple[int, float, str] | None:
    """Sort key of a record: numbers sort as numbers, everything else as text (which suits ISO dates)."""
    value = next(field_values(record, field), None)
    if value is None:
        return None
    number = read_number(value)
    return (0, number, "") if number is not None else (1, 0.0, str(value))


def _names(record: Record, value: Any) -> bool:
    return any(is_same(scalar, value) for place, scalar in walk(record) if len(place) == 1)


_WHERE = r"(?:\s+where\s+(.+))?"
_RANKED = re.compile(rf"(lowest|highest)\s+(\S+)\s+of\s+([^\s.]+\.\S+){_WHERE}", re.DOTALL)
_PLACED = re.compile(rf"(first|last)\s+of\s+([^\s.]+\.\S+){_WHERE}", re.DOTALL)
_HAVING = re.compile(rf"(\S+\s*(?:{OPERATORS})\s*.+)\s+of\s+([^\s.]+\.\S+)", re.DOTALL)


def _make_choice(way: Way, place: str, field: str, filters: Filters) -> RecordChoice:
    app, function, *inside = place.split(".", 2)
    return RecordChoice(way, f"{app}.{function}", field, filters, "".join(inside))


def parse_choice(text: str) -> RecordChoice:
    """Parse a choice. Raises GuardError with what is wrong."""
    if match := _RANKED.fullmatch(text):
        return _make_choice(cast(Way, match[1]), match[3], match[2], parse_filters(match[4] or ""))
    if match := _PLACED.fullmatch(text):
        return _make_choice(cast(Way, match[1]), match[2], "", parse_filters(match[3] or ""))
    if match := _HAVING.fullmatch(text):
        return _make_choice("having", match[2], "", parse_filters(match[1]))
    raise GuardError(
        f"{text!r} is not a choice; write `picks lowest due of App.list`, `picks lowest due of App.list where status = "
        "open`, `picks first of App.list` or `picks status = open of App.list`"
    )
