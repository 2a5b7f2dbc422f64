"""Which records of a result a guard means: those that satisfy a filter, or the one that is chosen in some way.

where status = open, total > 500      the record must satisfy all of these; values.py has every operator
where city = App.find_user.city       the same value as in a field of an earlier result
where seats >= task                   compared with a number in the request, in such a field or in an argument, or with
                                      what is calculated from these: `height >= App.get_object.height plus 10`
where date falls after App.find.due   any condition on dates (dates.py)

lowest due of Shop.list_invoices      the record with the lowest `due` (also `smallest`, `earliest`); also `highest`
                                      (`largest`, `latest`). Numbers sort before dates, dates before text
highest seats minus taken of Shop.list_trips   by what is calculated from numbers of the record; also `plus`, `times`
first of Shop.list_invoices           by position in the list; also `last`
first of Shop.get_order.lines         the same in the list `lines` of each result, however deep it lies
status = open of Shop.list_invoices   by a property of the record, as after `where`

`lowest`, `highest`, `first` and `last` may end in `where ...`, which limits the candidates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from contramem.errors import GuardError
from contramem.guards.actions import NO_ACTION, Action
from contramem.guards.dates import DateRelation, parse_date_relation, read_time
from contramem.guards.results import field_values, walk
from contramem.guards.values import (
    OPERATORS,
    Operator,
    Quantity,
    Read,
    calculate,
    find_quantity,
    is_field_place,
    is_same,
    read_expected,
    read_number,
    satisfies,
    say_operator,
    write_expected,
)

Record: TypeAlias = dict[str, Any]


class FieldTest(NamedTuple):
    """What a value is compared with, and how."""

    operator: Operator | Literal["falls"]
    operand: str | Quantity | DateRelation
    """A fixed word or number, or what is looked up or calculated."""

    def __str__(self) -> str:
        fixed = isinstance(self.operand, str)
        value = write_expected(cast(Operator, self.operator), str(self.operand)) if fixed else self.operand
        return f"{self.operator} {value}"

    @property
    def reads(self) -> tuple[Read, ...]:
        return () if isinstance(self.operand, str) else self.operand.reads

    def holds(self, value: Any, action: Action) -> bool:
        """`action` is the call before which it is looked up what to compare with."""
        if isinstance(self.operand, DateRelation):
            return self.operand.holds(action, value)
        operator = cast(Operator, self.operator)
        if isinstance(self.operand, str):
            return satisfies(value, operator, self.operand)
        return self.operand.relates(operator, value, action)

    def in_words(self, kind: Literal["of_record", "of_result"]) -> str:
        if isinstance(self.operand, DateRelation):
            return f"{'' if kind == 'of_record' else 'that '}falls {self.operand.in_words()}"
        value = self.operand if isinstance(self.operand, str) else self.operand.in_words()
        return say_operator(cast(Operator, self.operator), value, kind)


def parse_field_test(subject: str, operator: str, value: str, text: str) -> FieldTest:
    """`subject` and `text` (the whole condition) are quoted in the error."""
    if operator == "falls":
        return FieldTest("falls", parse_date_relation(value))
    compared = cast(Operator, operator)
    if (quantity := find_quantity(compared, value)) is not None:
        return FieldTest(compared, quantity)
    if compared in ("contains", "lacks", "starts with", "ends with") and is_field_place(value):
        raise GuardError(
            f"{value!r} in {text!r}: `{operator}` takes a text. Compare with a field by `{subject} = {value}` (of a "
            "list, one item that fits is enough), or put a text into double quotes"
        )
    return FieldTest(compared, read_expected(compared, value, text))


class RecordFilter(NamedTuple):
    """A condition on one field of a record."""

    field: str
    test: FieldTest

    def __str__(self) -> str:
        return f"{self.field} {self.test}"

    def suits(self, record: Record, action: Action = NO_ACTION) -> bool:
        """Whether the record satisfies it. `action` is the call before which it is looked up what to compare with."""
        return any(self.test.holds(value, action) for value in field_values(record, self.field))

    def in_words(self) -> str:
        return f"`{self.field}` {self.test.in_words('of_record')}"


Filters: TypeAlias = tuple[RecordFilter, ...]

_FILTER = re.compile(rf"([^\s=<>!]+)\s*({OPERATORS}|\sfalls\s)\s*(.+)", re.DOTALL)
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
    return RecordFilter(match[1], parse_field_test(match[1], match[2].strip(), match[3].strip(), text))


def read_filters(function: str, filters: Filters) -> tuple[Read, ...]:
    """What they read: fields of the records that `function` returned, and what these are compared with."""
    own = (Read(function, each.field) for each in filters)
    return (*own, *(read for each in filters for read in each.test.reads))


def write_filters(filters: Filters) -> str:
    """The ` where ...` ending of a condition; empty if there are no filters."""
    return f" where {', '.join(map(str, filters))}" if filters else ""


def describe_filters(filters: Filters) -> str:
    """The filters as worded in a sentence; empty if there are none."""
    return f" whose {' and '.join(each.in_words() for each in filters)}" if filters else ""


def select_records(records: Sequence[Record], filters: Filters, action: Action = NO_ACTION) -> list[Record]:
    """The records that satisfy every filter."""
    return [record for record in records if all(each.suits(record, action) for each in filters)]


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
            return f"{', '.join(map(str, self.filters))} of {self._place}"
        ranked = "".join(f"{word} " for word in (self.field, *chain(*self.steps)) if word)
        return f"{self.way} {ranked}of {self._place}{write_filters(self.filters)}"

    @property
    def _place(self) -> str:
        return f"{self.function}.{self.inside}" if self.inside else self.function

    @property
    def reads(self) -> tuple[Read, ...]:
        named = (self.field, self.inside, *(name for _, name in self.steps))
        own = (Read(self.function, name) for name in named)
        return (*own, *read_filters(self.function, self.filters))

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
        total, *numbers = (
            read_number(next(field_values(record, field), None))
            for field in (self.field, *(name for _, name in self.steps))
        )
        for (step, _), number in zip(self.steps, numbers, strict=True):
            total = None if total is None or number is None else calculate(step, total, number)
        return None if total is None else (0, total, "")

    def in_words(self) -> str:
        item, which = f"item of `{self._place}`", describe_filters(self.filters)
        if self.way in ("first", "last"):
            return f"the {self.way} {item}{which}"
        if self.way == "having":
            return f"an {item}{which}"
        ranked = " ".join((f"`{self.field}`", *(f"{name} `{field}`" for name, field in self.steps)))
        return f"the {item} with the {self.way} {ranked}{f' among those{which}' if which else ''}"


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


def _names(record: Record, value: Any) -> bool:
    return any(is_same(scalar, value) for place, scalar in walk(record) if len(place) == 1)


_WAYS: dict[str, Way] = {
    **dict.fromkeys(("lowest", "smallest", "least", "earliest", "oldest"), "lowest"),
    **dict.fromkeys(("highest", "largest", "greatest", "latest", "newest"), "highest"),
}
_STEP = re.compile(r"\s+(plus|minus|times)\s+")
_RANKED = re.compile(
    rf"(?:(?P<rank>{'|'.join(_WAYS)})\s+(?P<field>\S+(?:\s+(?:plus|minus|times)\s+\S+)*)|(?P<end>first|last))"
    r"\s+of\s+(?P<place>[^\s.]+\.\S+)(?:\s+where\s+(?P<where>.+))?",
    re.DOTALL,
)
_HAVING = re.compile(rf"(?P<where>\S+\s*(?:{OPERATORS})\s*.+)\s+of\s+(?P<place>[^\s.]+\.\S+)", re.DOTALL)


def parse_choice(text: str) -> RecordChoice:
    """Parse a choice. Raises GuardError with what is wrong."""
    match = _RANKED.fullmatch(text) or _HAVING.fullmatch(text)
    if match is None:
        raise GuardError(
            f"{text!r} is not a choice; write `picks lowest due of App.list`, `picks lowest due of App.list where "
            "status = open`, `picks first of App.list` or `picks status = open of App.list`"
        )
    said = match.groupdict()
    rank, end = said.get("rank"), said.get("end")
    way: Way = _WAYS[rank] if rank else cast(Way, end) if end else "having"
    field, *steps = _STEP.split(said.get("field") or "")
    app, function, *inside = match["place"].split(".", 2)
    return RecordChoice(
        way,
        f"{app}.{function}",
        field,
        parse_filters(match["where"] or ""),
        "".join(inside),
        tuple(zip(steps[::2], steps[1::2], strict=True)),
    )
