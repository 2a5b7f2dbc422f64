"""Patterns and conditions: which actions a guard is about, and which runs.

    Mail.send                      calls of one function
    Mail.send[folder = INBOX]      calls whose arguments satisfy conditions (arguments.py), joined by `and`
    writes(Mail)  writes           calls that change the app; calls that change any app
    reads(Mail)  reads             the same for calls that only read
    ask                            a question to the user
    finalize                       the final answer, or a call that ends the run

A question and the final answer have one argument, their `text`: `finalize[text contains "ticket"]`. On a run, after
`when` and `unless`, joined by `and`:

    Shop.pay[amount > 500]            the function is called with such arguments
    Shop.find_customer.tier = A       it returned this value in the field `tier`; also `given`, `missing`
    Shop.order.total > Shop.find_customer.limit    compared with what is looked up or calculated (values.py)
    Shop.order.due falls on weekend   any condition on dates (dates.py)
    Shop.list_orders has several      it returned a list of two or more; also `none`, `one`, `at least 3`, `at most 3`;
                                      may end in `where status = held, total > 500`
    Shop.get_order.lines has several  the same for the list `lines` in what it returned
    Shop.list_orders.total sums > 500 this field adds up to more than 500 over the records; also `where`
    task contains urgent              the request contains this text; also the other text operators
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias, cast

from contramem.errors import GuardError
from contramem.guards.actions import Action
from contramem.guards.arguments import ArgumentCondition, parse_argument
from contramem.guards.choices import (
    FieldTest,
    Filters,
    describe_filters,
    parse_field_test,
    parse_filters,
    read_filters,
    select_records,
    write_filters,
)
from contramem.guards.results import count_items, field_values, list_records
from contramem.guards.values import (
    OPERATOR_WORDS,
    OPERATORS,
    WORD_OPERATORS,
    Operator,
    Read,
    arguments_of,
    compare,
    functions_of,
    read_expected,
    read_number,
    read_threshold,
    satisfies,
    write_expected,
)

Kind: TypeAlias = Literal["function", "reads", "writes", "ask", "finalize"]


class Pattern(NamedTuple):
    """A set of actions."""

    kind: Kind
    name: str = ""
    """`App.function`, or the app of `reads` and `writes`; empty means any app."""
    conditions: tuple[ArgumentCondition, ...] = ()

    def __str__(self) -> str:
        whole = self.name if self.kind == "function" else f"{self.kind}({self.name})" if self.name else self.kind
        inside = " and ".join(map(str, self.conditions))
        return f"{whole}[{inside}]" if inside else whole

    @property
    def function(self) -> str:
        """`App.function`; empty for a class of functions."""
        return self.name if self.kind == "function" else ""

    @property
    def reads(self) -> tuple[Read, ...]:
        """What it is about, and where values must come from."""
        own = (Read(self.function),) if self.function else ()
        return (*own, *(read for condition in self.conditions for read in condition.reads))

    def matches(self, action: Action) -> bool:
        if not self._is_of_kind(action):
            return False
        return not self.conditions or all(condition.holds(action) for condition in self.conditions)

    def _is_of_kind(self, action: Action) -> bool:
        if self.kind == "function":
            return action.function == self.name
        if self.kind in ("reads", "writes"):
            return f"{action.effect}s" == self.kind and (not self.name or action.function.startswith(f"{self.name}."))
        if self.kind == "finalize":
            return action.kind == "final" or action.effect == "finalize"
        return action.asks

    def in_words(self) -> str:
        """The pattern as worded in a sentence."""
        return f"{self._name_in_words} {self._tests_in_words}".rstrip()

    def call_in_words(self) -> str:
        """The clause "such a call is made", as worded after "if"."""
        if self.kind != "function":
            return f"there is {self.in_words()}"
        return f"{self._name_in_words} is called {self._tests_in_words}".rstrip()

    @property
    def participle(self) -> str:
        """What is done with it: a function is "called", a question "asked"."""
        return {"function": "called", "ask": "asked", "finalize": "given"}.get(self.kind, "made")

    @property
    def _tests_in_words(self) -> str:
        return " and ".join(condition.in_words() for condition in self.conditions)

    @property
    def _name_in_words(self) -> str:
        if self.kind in ("reads", "writes"):
            verb, thing = ("changes", "something") if self.kind == "writes" else ("looks into", "things")
            return f"a call that {verb} {self.name or thing}"
        if self.kind != "function":
            return {"ask": "a question to the user", "finalize": "the final answer"}[self.kind]
        return f"`{self.name.rpartition('.')[2]}`"


_CLASS = re.compile(r"(?:(reads|writes)(?:\(\s*([^\s().\[\]]+)\s*\))?|(ask|finalize))\s*(?:\[(.*)\])?", re.DOTALL)
_CALL = re.compile(r"([^\s().,\[\]]+\.[^\s().,\[\]]+)\s*(?:\[(.*)\])?", re.DOTALL)
_AND = re.compile(r'\s+and\s+(?=(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*$)')
"""Outside of quotes."""


@lru_cache(maxsize=4096)
def parse_pattern(text: str) -> Pattern:
    """Parse a pattern. Raises GuardError with what is wrong."""
    text = text.strip()
    if match := _CLASS.fullmatch(text):
        return Pattern(cast(Kind, match[1] or match[3]), match[2] or "", _parse_tests(match[4], text))
    if match := _CALL.fullmatch(text):
        return Pattern("function", match[1], _parse_tests(match[2], text))
    raise GuardError(
        f"functions are written App.function; {text!r} is not, nor is it writes(App), reads(App), ask or finalize"
    )


def _parse_tests(inside: str | None, text: str) -> tuple[ArgumentCondition, ...]:
    parts = _AND.split(inside) if inside is not None else []
    return tuple(parse_argument(part.strip(), text) for part in parts)


class CallOccurs(NamedTuple):
    """True once a call matches the pattern."""

    pattern: Pattern

    def __str__(self) -> str:
        return str(self.pattern)

    @property
    def reads(self) -> tuple[Read, ...]:
        return self.pattern.reads

    def matches(self, action: Action) -> bool:
        return self.pattern.matches(action)

    def in_words(self) -> str:
        return self.pattern.call_in_words()


class FieldReturned(NamedTuple):
    """True once a call of the function returned a value in this field for which the comparison holds. What it is
    compared with may be looked up; then it becomes true with the later of the two results."""

    function: str
    field: str
    test: FieldTest | Literal["given", "missing"]

    def __str__(self) -> str:
        return f"{self.function}.{self.field} {self.test}"

    @property
    def operator(self) -> str:
        return self.test if isinstance(self.test, str) else self.test.operator

    @property
    def reads(self) -> tuple[Read, ...]:
        looked_up = () if isinstance(self.test, str) else self.test.reads
        return (Read(self.function, self.field), *looked_up)

    def matches(self, action: Action) -> bool:
        if not action.worked or action.function not in deciding_functions(self):
            return False
        if isinstance(self.test, str):
            shown = field_values(action.result(), self.field)
            return any(value != "" for value in shown) is (self.test == "given")
        if self.test.reads:
            after = action.after()
            return any(self.test.holds(value, after) for value in after.seen_values(self.function, self.field))
        return any(self.test.holds(value, action) for value in field_values(action.result(), self.field))

    def in_words(self) -> str:
        if self.test == "missing":
            return f"`{self.function}` shows no `{self.field}`"
        article = "an" if self.field[:1].lower() in tuple("aeiou") else "a"
        test = "" if isinstance(self.test, str) else f" {self.test.in_words('of_result')}"
        return f"`{self.function}` shows {article} `{self.field}`{test}"


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
        place = f"{self.function}.{self.inside}" if self.inside else self.function
        return f"{place} has {self._amount}{write_filters(self.filters)}"

    @property
    def _amount(self) -> str:
        named = {bounds: name for name, bounds in _AMOUNTS.items()}.get((self.at_least, self.at_most))
        return named or (f"at least {self.at_least}" if self.at_most is None else f"at most {self.at_most}")

    @property
    def reads(self) -> tuple[Read, ...]:
        return (Read(self.function, self.inside), *read_filters(self.function, self.filters))

    def matches(self, action: Action) -> bool:
        if action.function != self.function or not action.worked:
            return False
        count = count_items(action.result(), self.inside)
        if self.filters:
            count = len(select_records(list_records(action.result(), self.inside), self.filters, action))
        return count is not None and count >= self.at_least and (self.at_most is None or count <= self.at_most)

    def in_words(self) -> str:
        items = "item" if (self.at_least if self.at_most is None else self.at_most) == 1 else "items"
        amount = {"none": "no items", "one": "one item"}.get(self._amount, f"{self._amount} {items}")
        where = f" in `{self.inside}`" if self.inside else ""
        return f"`{self.function}` returns {amount}{where}{describe_filters(self.filters)}"


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
    def reads(self) -> tuple[Read, ...]:
        return (Read(self.function, self.field), *read_filters(self.function, self.filters))

    def matches(self, action: Action) -> bool:
        if action.function != self.function or not action.worked:
            return False
        records = select_records(list_records(action.result()), self.filters, action)
        amounts = [read_number(value) or 0.0 for record in records for value in field_values(record, self.field)]
        return compare(sum(amounts), self.operator, float(self.value))

    def in_words(self) -> str:
        over, limit = f"over all items{describe_filters(self.filters)}", OPERATOR_WORDS[self.operator].of_record
        return f"the `{self.field}` of `{self.function}`, summed {over}, {limit} {self.value}"


class TaskSays(NamedTuple):
    """True if the text of the request satisfies the comparison."""

    operator: Operator
    value: str

    def __str__(self) -> str:
        return f"task {self.operator} {write_expected(self.operator, self.value)}"

    @property
    def reads(self) -> tuple[Read, ...]:
        return ()

    def matches_task(self, task: str) -> bool:
        return satisfies(task, self.operator, self.value)

    def in_words(self) -> str:
        verbs = {"contains": "says", "lacks": "does not say", "starts with": "starts with", "ends with": "ends with"}
        return f"the request {verbs.get(self.operator, f'is {self.operator}')} “{self.value}”"


Condition: TypeAlias = CallOccurs | FieldReturned | ItemsReturned | FieldSum | TaskSays


@lru_cache(maxsize=1 << 12)  # asked about every action of every run
def deciding_functions(condition: Condition) -> tuple[str, ...]:
    """The functions whose calls can make it true; an empty name means any call."""
    return (condition.pattern.function,) if isinstance(condition, CallOccurs) else functions_of(condition)


def keep_unmet(conditions: Iterable[Condition], action: Action) -> list[Condition]:
    """The conditions that this action does not make true."""
    return [each for each in conditions if isinstance(each, TaskSays) or not each.matches(action)]


def keep_unmet_by_task(conditions: Iterable[Condition], task: str) -> list[Condition]:
    """The conditions that the text of the request does not make true."""
    return [each for each in conditions if not isinstance(each, TaskSays) or not each.matches_task(task)]


_WHERE = r"(?:\s+where\s+(?P<where>.+))?"
_ITEMS = re.compile(
    rf"([^\s.\[\]]+\.[^\s.\[\]]+)(?:\.(?P<inside>[^\s\[\]]+))?\s+has\s+"
    rf"(?P<amount>none|one|several|at least (?P<least>\d+)|at most (?P<most>\d+)){_WHERE}",
    re.DOTALL,
)
_FIELD_NAME = r"([^\s.\[\]()]+\.[^\s.\[\]()]+)\.([^\s\[\]=<>!]+)"
_FIELD = re.compile(rf"{_FIELD_NAME}\s*({OPERATORS}|\sfalls\s)\s*(.+)", re.DOTALL)
_GIVEN = re.compile(rf"{_FIELD_NAME}\s+(given|missing)")
_FIELD_SUM = re.compile(rf"{_FIELD_NAME}\s+sums\s*(<=|>=|<|>)\s*([^\s]+){_WHERE}", re.DOTALL)
_TASK = re.compile(rf"task\s({WORD_OPERATORS})\s+(.+)", re.DOTALL)
_AMOUNTS: dict[str, tuple[int, int | None]] = {"none": (0, 0), "one": (1, 1), "several": (2, None)}


@lru_cache(maxsize=4096)
def parse_when(text: str) -> tuple[Condition, ...]:
    """Parse conditions joined by `and`. Raises GuardError with what is wrong."""
    return tuple(_parse_condition(part.strip()) for part in _split(text)) if text.strip() else ()


def _split(text: str) -> list[str]:
    """Split at every `and` outside brackets and quotes."""
    parts, start, depth = [], 0, 0
    joints = {match.start(): match.end() for match in _AND.finditer(text)}
    for index, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth == 0 and index in joints:
            parts.append(text[start:index])
            start = joints[index]
    return [*parts, text[start:]]


def _parse_condition(text: str) -> Condition:
    if match := _ITEMS.fullmatch(text):
        least, most = match["least"], match["most"]
        bounds = (int(least), None) if least else (0, int(most)) if most else _AMOUNTS[match["amount"]]
        return ItemsReturned(match[1], *bounds, parse_filters(match["where"] or ""), match["inside"] or "")
    if match := _TASK.fullmatch(text):
        operator = cast(Operator, match[1])
        return TaskSays(operator, read_expected(operator, match[2].strip(), text))
    if match := _FIELD_SUM.fullmatch(text):
        operator = cast(Operator, match[3])
        threshold = read_expected(operator, match[4], text)
        return FieldSum(match[1], match[2], operator, threshold, parse_filters(match["where"] or ""))
    if match := _FIELD.fullmatch(text):
        test = parse_field_test(match[2], match[3].strip(), match[4].strip(), text)
        if names := arguments_of(test):
            read_threshold(names[0], text)  # a bare name is an argument, and a result has none: refused
        return FieldReturned(match[1], match[2], test)
    if match := _GIVEN.fullmatch(text):
        return FieldReturned(match[1], match[2], cast(Literal["given", "missing"], match[3]))
    try:
        return CallOccurs(parse_pattern(text))
    except GuardError as error:
        raise GuardError(
            f"{error}; `when` also takes `App.function.field = value`, `App.function has several` (none, one, at least "
            "3; with `where status = open`) or `task contains word`. There is no `or`; for `not`, write `unless`"
        ) from None
