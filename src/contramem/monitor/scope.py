"""The runs that a guard applies to: the conditions after `when`, joined by `and`; `unless` takes the same.

Shop.pay                          runs in which the function is called
Shop.pay[amount > 500]            runs in which it is called with such arguments
Shop.find_customer.tier = A       runs in which it returned this value in the field `tier`; also `given`, `missing`
Shop.order.total > Shop.find_customer.limit    compared with what is looked up or calculated (quantity.py)
Shop.order.due falls on weekend   any condition on dates (date_relation.py)
Shop.list_orders has several      runs in which it returned a list of two or more; also `none`, `one`,
                                  `at least 3`, `at most 3`; may end in `where status = held, total > 500`
Shop.get_order.lines has several  the same for the list `lines` in what it returned
Shop.list_orders.total sums > 500 runs in which this field adds up to more than 500 over the records; also `where`
task contains urgent              runs whose request contains this text; also the other text operators
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias, cast

from contramem.errors import GuardError
from contramem.monitor.action import Action, AfterCall
from contramem.monitor.comparison import (
    OPERATORS,
    WORD_OPERATORS,
    Operator,
    compare,
    read_expected,
    read_number,
    read_threshold,
    satisfies,
    say_operator,
    write_expected,
)
from contramem.monitor.date_relation import parse_date_relation
from contramem.monitor.pattern import AND, Pattern, parse_pattern
from contramem.monitor.quantity import parse_quantity
from contramem.monitor.record_filter import (
    FilterOperator,
    Filters,
    RecordFilter,
    describe_filters,
    parse_filter,
    parse_filters,
    select_records,
    write_filters,
)
from contramem.monitor.results import count_items, field_values, list_records


class CallOccurs(NamedTuple):
    """True once a call matches the pattern."""

    pattern: Pattern

    def __str__(self) -> str:
        return str(self.pattern)

    @property
    def functions(self) -> tuple[str, ...]:
        return self.pattern.functions

    @property
    def relevant_functions(self) -> tuple[str, ...]:
        """The functions whose calls can make it true; empty names mean any call."""
        return (self.pattern.function,)

    def matches(self, action: Action) -> bool:
        return self.pattern.matches(action)

    def in_words(self) -> str:
        return self.pattern.call_in_words()


class FieldReturned(NamedTuple):
    """True once a call of the function returned a value in this field for which the comparison holds. What it is
    compared with may be looked up; then it becomes true with the later of the two results."""

    function: str
    field: str
    operator: FilterOperator | Literal["given", "missing"]
    value: str = ""
    is_place: bool = False
    """Whether `value` is looked up or calculated (quantity.py)."""

    def __str__(self) -> str:
        if self._test is None:
            return f"{self.function}.{self.field} {self.operator}"
        return f"{self.function}.{self._test}"

    @property
    def _test(self) -> RecordFilter | None:
        if self.operator == "given" or self.operator == "missing":
            return None
        return RecordFilter(self.field, self.operator, self.value, self.is_place)

    @property
    def functions(self) -> tuple[str, ...]:
        return _functions_read(self)

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The fields of results that it reads, each with its function."""
        return ((self.function, self.field), *(self._test.fields if self._test else ()))

    @property
    def relevant_functions(self) -> tuple[str, ...]:
        return self.functions

    def matches(self, action: Action) -> bool:
        if not action.worked or action.function not in self.functions:
            return False
        test = self._test
        if test is not None and len(self.functions) > 1:
            after = AfterCall(action)
            return any(test.holds(value, after) for value in after.seen_values(self.function, self.field))
        values = field_values(action.result(), self.field)
        if test is None:
            return any(value != "" for value in values) is (self.operator == "given")
        return any(test.holds(value, action) for value in values)

    def in_words(self) -> str:
        field = f"{'an' if self.field[:1].lower() in tuple('aeiou') else 'a'} `{self.field}`"
        if self.operator == "given" or self.operator == "missing":
            return f"`{self.function}` shows {field if self.operator == 'given' else f'no `{self.field}`'}"
        if self.operator == "falls":
            return f"`{self.function}` shows {field} that falls {parse_date_relation(self.value).in_words()}"
        value = parse_quantity(self.value).in_words() if self.is_place else self.value
        return f"`{self.function}` shows {field} {say_operator(self.operator, value, _RELATIONS)} {value}"


@lru_cache(maxsize=1 << 12)  # asked about every action of every run
def _functions_read(condition: FieldReturned) -> tuple[str, ...]:
    return (condition.function, *(condition._test.functions if condition._test else ()))


_RELATIONS: dict[Operator, str] = {
    "=": "of",
    "!=": "other than",
    "<": "below",
    "<=": "of at most",
    ">": "above",
    ">=": "of at least",
    "like": "written like",
    "contains": "with",
    "lacks": "without",
    "starts with": "that starts with",
    "ends with": "that ends with",
    "one of": "that is one of",
    "none of": "that is none of",
}


class ItemsReturned(NamedTuple):
    """True once a call of the function returned a number of items within these bounds."""

    function: str
    at_least: int
    at_most: int | None
    filters: Filters = ()
    """Only records that satisfy these are counted."""
    inside: str = ""
    """The name of the list in the result whose items are counted; empty means the longest."""

    def __str__(self) -> str:
        return f"{self._place} has {self._amount}{write_filters(self.filters)}"

    @property
    def _place(self) -> str:
        return f"{self.function}.{self.inside}" if self.inside else self.function

    @property
    def _amount(self) -> str:
        names = {(0, 0): "none", (1, 1): "one", (2, None): "several"}
        named = names.get((self.at_least, self.at_most))
        return named or (f"at least {self.at_least}" if self.at_most is None else f"at most {self.at_most}")

    @property
    def functions(self) -> tuple[str, ...]:
        return (self.function,)

    @property
    def relevant_functions(self) -> tuple[str, ...]:
        return (self.function,)

    def matches(self, action: Action) -> bool:
        if action.function != self.function or not action.worked:
            return False
        items = self._count(action)
        return items is not None and items >= self.at_least and (self.at_most is None or items <= self.at_most)

    def in_words(self) -> str:
        items = "item" if (self.at_least if self.at_most is None else self.at_most) == 1 else "items"
        amount = {"none": "no items", "one": "one item"}.get(self._amount, f"{self._amount} {items}")
        where = f" in `{self.inside}`" if self.inside else ""
        return f"`{self.function}` returns {amount}{where}{describe_filters(self.filters)}"

    def _count(self, action: Action) -> int | None:
        if not self.filters:
            return count_items(action.result(), self.inside)
        return len(select_records(list_records(action.result(), self.inside), self.filters, action))


class FieldSum(NamedTuple):
    """True once a call of the function returned records whose field has a sum for which the comparison holds."""

    function: str
    field: str
    operator: Operator
    value: str
    filters: Filters = ()

    def __str__(self) -> str:
        return f"{self.function}.{self.field} sums {self.operator} {self.value}{write_filters(self.filters)}"

    @property
    def functions(self) -> tuple[str, ...]:
        return (self.function,)

    @property
    def relevant_functions(self) -> tuple[str, ...]:
        return (self.function,)

    def matches(self, action: Action) -> bool:
        if action.function != self.function or not action.worked:
            return False
        records = select_records(list_records(action.result()), self.filters, action)
        amounts = [read_number(value) or 0.0 for record in records for value in field_values(record, self.field)]
        return compare(sum(amounts), self.operator, float(self.value))

    def in_words(self) -> str:
        over = f"over all items{describe_filters(self.filters)}"
        return f"the `{self.field}` of `{self.function}`, summed {over}, is {_SUMS[self.operator]} {self.value}"


_SUMS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least"}


class TaskSays(NamedTuple):
    """True if the text of the request satisfies the comparison."""

    operator: Operator
    value: str

    def __str__(self) -> str:
        return f"task {self.operator} {write_expected(self.operator, self.value)}"

    @property
    def functions(self) -> tuple[str, ...]:
        return ()

    @property
    def relevant_functions(self) -> tuple[str, ...]:
        return ()

    def matches_task(self, task: str) -> bool:
        return satisfies(task, self.operator, self.value)

    def in_words(self) -> str:
        verbs = {"contains": "says", "lacks": "does not say", "starts with": "starts with", "ends with": "ends with"}
        return f"the request {verbs.get(self.operator, f'is {self.operator}')} “{self.value}”"


Condition: TypeAlias = CallOccurs | FieldReturned | ItemsReturned | FieldSum | TaskSays

_WHERE = r"(?:\s+where\s+(?P<where>.+))?"
_ITEMS = re.compile(
    rf"([^\s.\[\]]+\.[^\s.\[\]]+)(?:\.(?P<inside>[^\s\[\]]+))?\s+has\s+"
    rf"(?P<amount>none|one|several|at least (?P<least>\d+)|at most (?P<most>\d+)){_WHERE}",
    re.DOTALL,
)
_FIELD_NAME = r"([^\s.\[\]()]+\.[^\s.\[\]()]+)\.([^\s\[\]=<>!]+)"
_FIELD = re.compile(rf"{_FIELD_NAME}\s*({OPERATORS}|\sfalls\s)\s*(.+)", re.DOTALL)
_GIVEN = re.compile(rf"{_FIELD_NAME}\s+(given|missing)")
_SUM = re.compile(rf"{_FIELD_NAME}\s+sums\s*(<=|>=|<|>)\s*([^\s]+){_WHERE}", re.DOTALL)
_TASK = re.compile(rf"task\s({WORD_OPERATORS})\s+(.+)", re.DOTALL)
_AMOUNTS: dict[str, tuple[int, int | None]] = {"none": (0, 0), "one": (1, 1), "several": (2, None)}


def keep_unmet(conditions: Iterable[Condition], action: Action) -> list[Condition]:
    """The conditions that this action does not make true."""
    return [each for each in conditions if isinstance(each, TaskSays) or not each.matches(action)]


def keep_unmet_by_task(conditions: Iterable[Condition], task: str) -> list[Condition]:
    """The conditions that the text of the request does not make true."""
    return [
        condition for condition in conditions if not isinstance(condition, TaskSays) or not condition.matches_task(task)
    ]


@lru_cache(maxsize=4096)
def parse_when(text: str) -> tuple[Condition, ...]:
    """Parse conditions joined by `and`. Raises GuardError with what is wrong."""
    return tuple(_parse_condition(part.strip()) for part in _split(text)) if text.strip() else ()


def _split(text: str) -> list[str]:
    """Split at every `and` outside brackets and quotes."""
    parts, start, depth = [], 0, 0
    joints = {match.start(): match.end() for match in AND.finditer(text)}
    for index, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth == 0 and index in joints:
            parts.append(text[start:index])
            start = joints[index]
    return [*parts, text[start:]]


def _parse_condition(text: str) -> Condition:
    if match := _ITEMS.fullmatch(text):
        return ItemsReturned(match[1], *_amount(match), parse_filters(match["where"] or ""), match["inside"] or "")
    if match := _TASK.fullmatch(text):
        operator = cast(Operator, match[1])
        return TaskSays(operator, read_expected(operator, match[2].strip(), text))
    if match := _SUM.fullmatch(text):
        operator = cast(Operator, match[3])
        threshold = read_expected(operator, match[4], text)
        return FieldSum(match[1], match[2], operator, threshold, parse_filters(match["where"] or ""))
    if match := _FIELD.fullmatch(text):
        return _read_field(match[1], parse_filter(match[2], match[3].strip(), match[4].strip(), text), text)
    if match := _GIVEN.fullmatch(text):
        return FieldReturned(match[1], match[2], cast(Literal["given", "missing"], match[3]))
    try:
        return CallOccurs(parse_pattern(text))
    except GuardError as error:
        raise GuardError(
            f"{error}; `when` also takes `App.function.field = value`, `App.function has several` (none, one, at least "
            "3; with `where status = open`) or `task contains word`. There is no `or`; for `not`, write `unless`"
        ) from None


def _read_field(function: str, test: RecordFilter, text: str) -> FieldReturned:
    if test.arguments:
        read_threshold(test.arguments[0], text)  # a bare name is an argument, and a result has none: refused
    return FieldReturned(function, *test)


def _amount(match: re.Match[str]) -> tuple[int, int | None]:
    if match["least"]:
        return int(match["least"]), None
    return (0, int(match["most"])) if match["most"] else _AMOUNTS[match["amount"]]
