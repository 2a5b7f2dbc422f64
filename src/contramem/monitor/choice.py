"""Choice: which of several records that a call had returned an argument names. The oldest, the open one, the first.

lowest due of Shop.list_invoices      the record with the lowest `due`; `highest` too. Numbers, dates, then text
first of Shop.list_invoices           its place in the list; `last` too
status = open of Shop.list_invoices   the record has this; also != < <= > >=, like, contains and lacks
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.comparison import NUMERIC, OPERATORS, Operator, is_same, read_number, satisfies, write_value
from contramem.monitor.results import field_values, walk

Way: TypeAlias = Literal["lowest", "highest", "first", "last", "having"]
Record: TypeAlias = dict[str, Any]


class RecordChoice(NamedTuple):
    """One way to choose among the records that a function returned."""

    way: Way
    function: str
    field: str = ""
    operator: Operator = "="
    value: str = ""

    def __str__(self) -> str:
        if self.way == "having":
            value = self.value if self.operator in NUMERIC else write_value(self.value)
            return f"{self.field} {self.operator} {value} of {self.function}"
        return f"{self.way} {f'{self.field} ' if self.field else ''}of {self.function}"

    def is_made(self, action: Action, value: Any) -> bool:
        """Was the record chosen this way from the last result that holds `value`? False where none does."""
        for records in action.seen_records(self.function):
            chosen = [record for record in records if _names(record, value)]
            if chosen:
                return self._suits(chosen[0], records)
        return False

    def _suits(self, chosen: Record, records: Sequence[Record]) -> bool:
        if self.way in ("first", "last"):
            return chosen is records[0 if self.way == "first" else -1]
        values = list(field_values(chosen, self.field))
        if self.way == "having":
            return any(satisfies(value, self.operator, self.value) for value in values)
        keys = [key for record in records if (key := rank_key(record, self.field)) is not None]
        own = rank_key(chosen, self.field)
        return own is not None and own == (min(keys) if self.way == "lowest" else max(keys))

    def in_words(self) -> str:
        name = f"`{self.function}`"
        if self.way in ("first", "last"):
            return f"the {self.way} item of {name}"
        if self.way == "having":
            return f"an item of {name} whose `{self.field}` {self.operator} {self.value}"
        return f"the item of {name} with the {self.way} `{self.field}`"


def rank_key(record: Record, field: str) -> tuple[int, float, str] | None:
    """What records are ordered by: numbers as numbers, everything else (dates written year first too) as text."""
    value = next(field_values(record, field), None)
    if value is None:
        return None
    number = read_number(value)
    return (0, number, "") if number is not None else (1, 0.0, str(value))


def _names(record: Record, value: Any) -> bool:
    return any(is_same(scalar, value) for place, scalar in walk(record) if len(place) == 1)


_RANKED = re.compile(r"(lowest|highest)\s+(\S+)\s+of\s+([^\s.]+\.\S+)")
_PLACED = re.compile(r"(first|last)\s+of\s+([^\s.]+\.\S+)")
_HAVING = re.compile(rf"(\S+)\s+({OPERATORS})\s+(.+)\s+of\s+([^\s.]+\.\S+)", re.DOTALL)


def parse_choice(text: str) -> RecordChoice:
    """The choice that `text` writes. Raises GuardError with what is wrong."""
    if match := _RANKED.fullmatch(text):
        return RecordChoice(cast(Way, match[1]), match[3], match[2])
    if match := _PLACED.fullmatch(text):
        return RecordChoice(cast(Way, match[1]), match[2])
    if match := _HAVING.fullmatch(text):
        value = match[3].strip()
        if value.startswith('"') and value.endswith('"'):
            value = value[1:-1]
        return RecordChoice("having", match[4], match[1], cast(Operator, match[2]), value)
    raise GuardError(
        f"{text!r} is no choice; write `picks lowest due of App.list`, `picks first of App.list` or "
        "`picks status = open of App.list`"
    )
