"""When: the runs that a guard speaks about. What follows `when` at its end, joined by `and`.

Shop.pay                          runs in which the function is called
Shop.pay[amount > 500]            runs in which it is called so
Shop.find_customer.tier = A       runs in which it returned this under the field `tier`
Shop.list_orders has several      runs in which it returned a list of two or more; also `none`, `one`,
                                  `at least 3`, `at most 3`
task contains urgent              runs whose request says this; also `lacks`
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, TypeAlias, cast

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.argument_condition import read_threshold, unquote
from contramem.monitor.comparison import NUMERIC, Operator, satisfies, write_value
from contramem.monitor.pattern import AND, Pattern, parse_pattern
from contramem.monitor.results import count_items, field_values


class CallOccurs(NamedTuple):
    """Some call is one of the pattern's."""

    pattern: Pattern

    def __str__(self) -> str:
        return str(self.pattern)

    @property
    def functions(self) -> tuple[str, ...]:
        return self.pattern.functions

    @property
    def hears(self) -> str:
        return self.pattern.function

    def matches(self, action: Action) -> bool:
        return self.pattern.matches(action)

    def in_words(self) -> str:
        return f"in a run with {self.pattern.in_words()}"


class FieldReturned(NamedTuple):
    """Some call of a function returned a value that stands in this relation, under this field."""

    function: str
    field: str
    operator: Operator
    value: str

    def __str__(self) -> str:
        value = self.value if self.operator in NUMERIC else write_value(self.value)
        return f"{self.function}.{self.field} {self.operator} {value}"

    @property
    def functions(self) -> tuple[str, ...]:
        return (self.function,)

    @property
    def hears(self) -> str:
        return self.function

    def matches(self, action: Action) -> bool:
        if action.function != self.function or not action.worked:
            return False
        return any(satisfies(value, self.operator, self.value) for value in field_values(action.result(), self.field))

    def in_words(self) -> str:
        article = "an" if self.field[:1].lower() in tuple("aeiou") else "a"
        return f"where `{self.function}` shows {article} `{self.field}` {_RELATIONS[self.operator]} {self.value}"


_RELATIONS = {
    "=": "of",
    "!=": "other than",
    "<": "below",
    "<=": "of at most",
    ">": "above",
    ">=": "of at least",
    "like": "written like",
    "contains": "with",
    "lacks": "without",
}


class ItemsReturned(NamedTuple):
    """Some call of a function returned so many items."""

    function: str
    at_least: int
    at_most: int | None

    def __str__(self) -> str:
        return f"{self.function} has {self._amount}"

    @property
    def _amount(self) -> str:
        names = {(0, 0): "none", (1, 1): "one", (2, None): "several"}
        named = names.get((self.at_least, self.at_most))
        return named or (f"at least {self.at_least}" if self.at_most is None else f"at most {self.at_most}")

    @property
    def functions(self) -> tuple[str, ...]:
        return (self.function,)

    @property
    def hears(self) -> str:
        return self.function

    def matches(self, action: Action) -> bool:
        if action.function != self.function or not action.worked:
            return False
        items = count_items(action.result())
        return items is not None and items >= self.at_least and (self.at_most is None or items <= self.at_most)

    def in_words(self) -> str:
        amount = {"none": "no items", "one": "one item"}.get(self._amount, f"{self._amount} items")
        return f"where `{self.function}` returns {amount}"


class TaskSays(NamedTuple):
    """The request contains a piece of text, or lacks it."""

    operator: Operator
    value: str

    def __str__(self) -> str:
        return f"task {self.operator} {write_value(self.value)}"

    @property
    def functions(self) -> tuple[str, ...]:
        return ()

    @property
    def hears(self) -> str:
        return ""

    def matches_task(self, task: str) -> bool:
        return satisfies(task, self.operator, self.value)

    def in_words(self) -> str:
        return f"where the task {'says' if self.operator == 'contains' else 'does not say'} “{self.value}”"


Condition: TypeAlias = CallOccurs | FieldReturned | ItemsReturned | TaskSays

_ITEMS = re.compile(r"([^\s.\[\]]+\.[^\s.\[\]]+)\s+has\s+(none|one|several|at least (\d+)|at most (\d+))")
_FIELD = re.compile(
    r"([^\s.\[\]()]+\.[^\s.\[\]()]+)\.([^\s\[\]=<>!]+)\s*(!=|<=|>=|=|<|>|\s(?:like|contains|lacks)\s)\s*(.+)", re.DOTALL
)
_TASK = re.compile(r"task\s+(contains|lacks)\s+(.+)", re.DOTALL)
_AMOUNTS: dict[str, tuple[int, int | None]] = {"none": (0, 0), "one": (1, 1), "several": (2, None)}


@lru_cache(maxsize=4096)
def parse_when(text: str) -> tuple[Condition, ...]:
    """The conditions that `text` joins by `and`. Raises GuardError with what is wrong."""
    return tuple(_parse_condition(part.strip()) for part in _split(text)) if text.strip() else ()


def _split(text: str) -> list[str]:
    """At every `and` that stands outside of brackets and quotes."""
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
        return ItemsReturned(match[1], *_amount(match))
    if match := _TASK.fullmatch(text):
        return TaskSays(cast(Operator, match[1]), unquote(match[2].strip(), text))
    if match := _FIELD.fullmatch(text):
        operator, value = cast(Operator, match[3].strip()), match[4].strip()
        read = read_threshold(value, text) if operator in NUMERIC else unquote(value, text)
        return FieldReturned(match[1], match[2], operator, read)
    try:
        return CallOccurs(parse_pattern(text))
    except GuardError as error:
        raise GuardError(
            f"{error}; after `when` may also stand `App.function.field = value`, `App.function has several` or "
            "`task contains word`"
        ) from None


def _amount(match: re.Match[str]) -> tuple[int, int | None]:
    if match[3]:
        return int(match[3]), None
    return (0, int(match[4])) if match[4] else _AMOUNTS[match[2]]
