"""RecordChoice: how the agent chose one of the records that a call returned: the oldest, the open one, the first.

lowest due of Shop.list_invoices      the record with the lowest `due` (also `smallest`, `earliest`); also `highest`
                                      (`largest`, `latest`). Numbers sort before dates, dates before text
highest seats minus taken of Shop.list_trips   by what is calculated from numbers of the record; also `plus`, `times`
first of Shop.list_invoices           by position in the list; also `last`
first of Shop.get_order.lines         the same in the list `lines` of each result, however deep it lies
status = open of Shop.list_invoices   by a property of the record: any comparison of comparison.py, or with a field of
                                      an earlier result: `city = Shop.find_user.city of Shop.list_branches`

`lowest`, `highest`, `first` and `last` may end in `where status = open, total > 500`, which limits the candidates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from contramem.errors import GuardError
from contramem.monitor.action import NO_ACTION, Action
from contramem.monitor.comparison import OPERATORS, is_same, read_number
from contramem.monitor.dates import read_time
from contramem.monitor.quantity import calculate
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
    steps: tuple[tuple[str, str], ...] = ()
    """What is calculated with `field` before ordering: `("minus", "taken")`, from left to right."""

    def __str__(self) -> str:
        if self.way == "having":
            return f"{', '.join(map(str, self.filters))} of {self.place}"
        ranked = "".join(f"{word} " for word in (self.field, *chain(*self.steps)) if word)
        return f"{self.way} {ranked}of {self.place}{write_filters(self.filters)}"

    @property
    def place(self) -> str:
        return f"{self.function}.{self.inside}" if self.inside else self.function

    @property
    def functions(self) -> tuple[str, ...]:
        return (self.function, *(name for each in self.filters for name in each.functions))

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The fields that it reads, each with the function that returned it."""
        named = (self.field, self.inside, *(name for _, name in self.steps), *(each.field for each in self.filters))
        elsewhere = (pair for each in self.filters for pair in each.fields)
        return (*((self.function, name) for name in named if name), *elsewhere)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of the call that records are compared with."""
        return tuple(argument for each in self.filters for argument in each.arguments)

    def is_made(self, action: Action, value: Any) -> bool:
        """Whether the record was chosen this way from the last result with `value` in it. False if no result has it."""
        for records in action.seen_records(self.function, self.inside):
            chosen = next((record for record in records if _names(record, value)), None)
            if chosen is not None:
                return any(chosen is record for record in self.select(records, action))
        return False

    def select(self, records: Sequence[Record], action: Action = NO_ACTION) -> Sequence[Record]:
        """The records that may be chosen in this way: several if they satisfy it alike."""
        candidates = select_records(records, self.filters, action)
        if self.way == "having":
            return candidates
        if self.way in ("first", "last"):
            return candidates[:1] if self.way == "first" else candidates[-1:]
        ranked = [(key, record) for record in candidates if (key := self._rank(record)) is not None]
        best = (min if self.way == "lowest" else max)((key for key, _ in ranked), default=None)
        return [record for key, record in ranked if key == best]

    def _rank(self, record: Record) -> tuple[int, float, str] | None:
        if not self.steps:
            return rank_key(record, self.field)
        total = _read_field(record, self.field)
        for name, field in self.steps:
            number = _read_field(record, field)
            total = None if total is None or number is None else calculate(name, total, number)
        return None if total is None else (0, total, "")

    def in_words(self) -> str:
        item = f"item of `{self.place}`"
        which = describe_filters(self.filters)
        if self.way in ("first", "last"):
            return f"the {self.way} {item}{which}"
        if self.way == "having":
            return f"an {item}{which}"
        ranked = " ".join((f"`{self.field}`", *(f"{name} `{field}`" for name, field in self.steps)))
        among = f" among those{which}" if which else ""
        return f"the {item} with the {self.way} {ranked}{among}"


def rank_key(record: Record, field: str) -> tuple[int, float, str] | None:
    """Sort key of a record: numbers sort as numbers, dates by the calendar, everything else as text."""
    value = next(field_values(record, field), None)
    if value is None:
        return None
    number = read_number(value)
    if number is not None:
        return 0, number, ""
    time = read_time(text := str(value))
    return (1, 0.0, time.isoformat()) if time is not None else (2, 0.0, text)


def _read_field(record: Record, field: str) -> float | None:
    return read_number(next(field_values(record, field), None))


def _names(record: Record, value: Any) -> bool:
    return any(is_same(scalar, value) for place, scalar in walk(record) if len(place) == 1)


_WHERE = r"(?:\s+where\s+(.+))?"
_WAYS: dict[str, Way] = {
    **dict.fromkeys(("lowest", "smallest", "least", "earliest", "oldest"), "lowest"),
    **dict.fromkeys(("highest", "largest", "greatest", "latest", "newest"), "highest"),
}
_STEPS = "plus|minus|times"
_STEP = re.compile(rf"\s+({_STEPS})\s+")
_RANK = rf"\S+(?:\s+(?:{_STEPS})\s+\S+)*"
_RANKED = re.compile(rf"({'|'.join(_WAYS)})\s+({_RANK})\s+of\s+([^\s.]+\.\S+){_WHERE}", re.DOTALL)
_PLACED = re.compile(rf"(first|last)\s+of\s+([^\s.]+\.\S+){_WHERE}", re.DOTALL)
_HAVING = re.compile(rf"(\S+\s*(?:{OPERATORS})\s*.+)\s+of\s+([^\s.]+\.\S+)", re.DOTALL)


def _make_choice(way: Way, place: str, field: str, filters: Filters) -> RecordChoice:
    app, function, *inside = place.split(".", 2)
    return RecordChoice(way, f"{app}.{function}", field, filters, "".join(inside))


def parse_choice(text: str) -> RecordChoice:
    """Parse a choice. Raises GuardError with what is wrong."""
    if match := _RANKED.fullmatch(text):
        field, *steps = _STEP.split(match[2])
        choice = _make_choice(_WAYS[match[1]], match[3], field, parse_filters(match[4] or ""))
        return choice._replace(steps=tuple(zip(steps[::2], steps[1::2], strict=True)))
    if match := _PLACED.fullmatch(text):
        return _make_choice(cast(Way, match[1]), match[2], "", parse_filters(match[3] or ""))
    if match := _HAVING.fullmatch(text):
        return _make_choice("having", match[2], "", parse_filters(match[1]))
    raise GuardError(
        f"{text!r} is not a choice; write `picks lowest due of App.list`, `picks lowest due of App.list where status = "
        "open`, `picks first of App.list` or `picks status = open of App.list`"
    )
