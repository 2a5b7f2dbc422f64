"""ArgumentCondition: a condition on one argument of a call, written in brackets: `Mail.send[to given]`.

folder = INBOX                    compares with a fixed word or a number; comparison.py has every operator
amount <= Shop.find.total         compares with a number seen in the field, or in the request (`task`)
to is e-mail address              the form of the value, as Function Cards name forms
to from Contacts.find             where the value was first seen: `task`, `user`, `nowhere` or a function
to from Contacts.find.mail        the function returned the value under this field
text mentions Shop.find.id        the text contains a value seen in the field; `omits` is the opposite
text has at most 160 characters   also words, lines and, for a list, items; also `at least`
id picks lowest due of Shop.list  how the record it names was chosen (choice.py)
amount times 100 of task          a multiple of a number in the task, or in `App.function.field`
amount sums Shop.list.total       the sum of the field over the records of one result, or of all results; may end in
                                  `where status = open`; `sums 100 times Shop.list.total` in another unit
count counts Shop.list            the number of records in a result; may also end in `where`
due falls on weekend              a condition on a date (date_relation.py)
cc given   cc missing             whether the argument is given at all
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.choice import parse_choice
from contramem.monitor.comparison import (
    NUMERIC,
    OPERATORS,
    Operator,
    read_expected,
    read_number,
    satisfies,
    unquote,
    write_expected,
    write_number,
)
from contramem.monitor.date_relation import parse_date_relation
from contramem.monitor.places import (
    FIELD_PLACE,
    field_of_place,
    function_of_place,
    is_mentioned,
    is_place_behind,
    name_place,
    relates_to_place,
    seen_numbers,
    seen_texts,
)
from contramem.monitor.record_filter import Filters, describe_filters, parse_filters, select_records, write_filters
from contramem.monitor.results import field_values

Test: TypeAlias = (
    Operator
    | Literal["is", "from", "mentions", "omits", "has", "picks", "times", "sums", "counts", "falls", "given", "missing"]
)


class ArgumentCondition(NamedTuple):
    """A condition on one argument of a call."""

    argument: str
    test: Test
    value: str = ""

    def __str__(self) -> str:
        if self.test in ("given", "missing"):
            return f"{self.argument} {self.test}"
        return f"{self.argument} {self.test} {self._written_value}"

    @property
    def _written_value(self) -> str:
        if self.test in get_args(Operator) and not self._compares_with_place:
            return write_expected(cast(Operator, self.test), self.value)
        return self.value

    @property
    def _compares_with_place(self) -> bool:
        return self.test in NUMERIC and is_place_behind(self.test, self.value)

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that the condition looks values up in."""
        if self.test == "picks":
            return parse_choice(self.value).functions
        if self.test == "falls":
            return parse_date_relation(self.value).functions
        if self.test in ("sums", "counts"):
            total = _parse_total(self.value)
            return (function_of_place(total.place), *(name for each in total.filters for name in each.functions))
        if self.test in ("from", "mentions", "omits", "times") or self._compares_with_place:
            function = function_of_place(self.value.rpartition(" ")[2])
            return (function,) if function else ()
        return ()

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The fields of earlier results that it names, each with the function that returned it."""
        if self.test == "picks":
            choice = parse_choice(self.value)
            named = (choice.field, choice.inside, *(each.field for each in choice.filters))
            return tuple((choice.function, name) for name in named if name)
        if self.test in ("sums", "counts"):
            total = _parse_total(self.value)
            function, field = function_of_place(total.place), field_of_place(total.place)
            return (*(((function, field),) if field else ()), *((function, each.field) for each in total.filters))
        if not self.functions:
            return ()
        place = parse_date_relation(self.value).place if self.test == "falls" else self.value.rpartition(" ")[2]
        return ((function_of_place(place), field_of_place(place)),) if field_of_place(place) else ()

    def holds(self, action: Action) -> bool:
        value = action.arguments.get(self.argument)
        if self.test in ("given", "missing"):
            return (value is not None) == (self.test == "given")
        if self.argument not in action.arguments:
            return False
        if self.test == "is":
            return action.form(self.argument) == self.value
        if self.test == "from":
            return _is_from(action, self.argument, self.value)
        if self._compares_with_place:
            return relates_to_place(value, cast(Operator, self.test), action, self.value)
        if self.test in _TESTS:
            return _TESTS[self.test](action, value, self.value)
        return satisfies(value, cast(Operator, self.test), self.value)

    def in_words(self) -> str:
        """The condition as worded after the name of the function."""
        argument = f"`{self.argument}`"
        if self.test in ("given", "missing"):
            return f"{'with' if self.test == 'given' else 'without'} {argument}"
        if self.test == "picks":
            return f"with the {argument} of {parse_choice(self.value).in_words()}"
        return f"with {argument} {_describe(self.test, self.value)}"


_COMPARED = {
    "=": "set to {}",
    "is": "as {}",
    "!=": "other than {}",
    "<": "below {}",
    "<=": "of at most {}",
    ">": "above {}",
    ">=": "of at least {}",
    "like": "written like {}",
    "contains": "that contains “{}”",
    "lacks": "that does not contain “{}”",
    "starts with": "that starts with “{}”",
    "ends with": "that ends with “{}”",
    "one of": "that is one of {}",
    "none of": "that is none of {}",
    "has": "of {}",
}


def _describe(test: Test, value: str) -> str:
    match test:
        case "from":
            return "that was seen nowhere before" if value == "nowhere" else f"from {name_place(value)}"
        case "mentions" | "omits":
            return f"that {'contains' if test == 'mentions' else 'does not contain'} {name_place(value)}"
        case "times":
            factor, _, place = value.partition(" of ")
            base = name_place(place) if field_of_place(place) else f"a number from {name_place(place)}"
            return f"as {base}" if factor == "1" else f"as {factor} times {base}"
        case "sums" | "counts":
            return _parse_total(value).in_words(test)
        case "falls":
            return f"that falls {parse_date_relation(value).in_words()}"
    return _COMPARED[test].format(name_place(value) if is_place_behind(cast(Operator, test), value) else value)


def _is_from(action: Action, argument: str, place: str) -> bool:
    if field_of_place(place):
        values = action.values(argument)
        return bool(values) and values <= seen_texts(action, place)
    return action.origin(argument) == place


def _is_multiple(action: Action, value: Any, text: str) -> bool:
    factor, _, place = text.partition(" of ")
    number = read_number(value)
    if number is None:
        return False
    return any(_is_near(number, base * float(factor)) for base in seen_numbers(action, place) if base)


def _is_near(number: float, other: float) -> bool:
    return abs(number - other) < 1e-6 * max(1.0, abs(number))


class _Total(NamedTuple):
    """The records that `sums` and `counts` are about."""

    place: str
    filters: Filters
    factor: float = 1.0

    def __str__(self) -> str:
        return f"{self._factor}{self.place}{write_filters(self.filters)}"

    @property
    def _factor(self) -> str:
        return "" if self.factor == 1 else f"{write_number(self.factor)} times "

    def in_words(self, test: str) -> str:
        function, field = function_of_place(self.place), field_of_place(self.place)
        what = f"{self._factor}the sum of the `{field}` of all items" if test == "sums" else "the number of items"
        return f"as {what} of `{function}`{describe_filters(self.filters)}"


def _parse_total(text: str) -> _Total:
    total, _, where = text.partition(" where ")
    factor, _, place = total.strip().rpartition(" times ")
    return _Total(place.strip(), parse_filters(where), float(factor or 1))


def _is_sum(action: Action, value: Any, text: str) -> bool:
    number, total = read_number(value), _parse_total(text)
    if number is None:
        return False
    field, everything = field_of_place(total.place), 0.0
    for records in action.seen_records(function_of_place(total.place)):
        chosen = select_records(records, total.filters, action)
        amounts = [read_number(amount) or 0.0 for record in chosen for amount in field_values(record, field)]
        everything += sum(amounts)
        if amounts and _is_near(number, total.factor * sum(amounts)):
            return True
    return bool(everything) and _is_near(number, total.factor * everything)


def _is_count(action: Action, value: Any, text: str) -> bool:
    number, total = read_number(value), _parse_total(text)
    results = action.seen_records(function_of_place(total.place), field_of_place(total.place))
    return any(number == len(select_records(records, total.filters, action)) for records in results)


_SIZES: dict[str, Callable[[Any], int]] = {
    "character": lambda value: len(str(value)),
    "word": lambda value: len(str(value).split()),
    "line": lambda value: len([line for line in str(value).splitlines() if line.strip()]),
    "item": lambda value: len(value) if isinstance(value, (list, tuple, dict)) else 1,
}


def _has_size(action: Action, value: Any, text: str) -> bool:
    bound, number, unit = _read_size(text)
    size = _SIZES[unit](value)
    return size <= number if bound == "at most" else size >= number


def _read_size(text: str) -> tuple[str, int, str]:
    match = _SIZE.fullmatch(text)
    if match is None:
        raise GuardError(f"{text!r}: write `has at most 160 characters`; also `at least`, words, lines and items")
    return match[1], int(match[2]), match[3]


_TESTS: dict[str, Callable[[Action, Any, str], bool]] = {
    "has": _has_size,
    "picks": lambda action, value, text: parse_choice(text).is_made(action, value),
    "times": _is_multiple,
    "sums": _is_sum,
    "counts": _is_count,
    "falls": lambda action, value, text: parse_date_relation(text).holds(action, value),
    "mentions": lambda action, value, text: is_mentioned(value, action, text),
    "omits": lambda action, value, text: not is_mentioned(value, action, text),
}

_WORDS = "is|from|mentions|omits|has|picks|times|sums|counts|falls"
_CONDITION = re.compile(
    rf"([^\s=<>!]+)\s*(?:\s(given|missing)|({OPERATORS}|\s(?:{_WORDS})\s)\s*(.+))",
    re.DOTALL,
)
_TIMES = re.compile(rf"(\d+(?:\.\d+)?)\s+of\s+(task|{FIELD_PLACE})")
_SIZE = re.compile(r"(at most|at least)\s+(\d+)\s+(character|word|line|item)s?")
_SUM = re.compile(rf"(?:\d+(?:\.\d+)?\s+times\s+)?{FIELD_PLACE}(?:\s+where\s+.+)?", re.DOTALL)
_COUNT = re.compile(r"[^\s.]+\.[^\s.]+(?:\.\S+)?(?:\s+where\s+.+)?", re.DOTALL)
_PLACE = re.compile(FIELD_PLACE)


def parse_argument_condition(part: str, text: str) -> ArgumentCondition:
    """Parse one condition. `text` is the whole pattern, quoted in the error."""
    match = _CONDITION.fullmatch(part)
    if match is None:
        raise GuardError(
            f"{part!r} in {text!r} is not a condition; write `arg = value`, `arg > 500`, `arg like 9-A9`, "
            '`arg contains "words"`, `arg from place`, `arg given` or `arg missing`; docs/guards.md lists them all'
        )
    argument, alone, test, value = match.groups()
    if alone:
        return ArgumentCondition(argument, cast(Test, alone))
    test = " ".join(test.split())
    return ArgumentCondition(argument, cast(Test, test), _read_value(test, value.strip(), text))


def _read_value(test: str, value: str, text: str) -> str:
    if test in NUMERIC and is_place_behind(test, value):
        return value
    match test:
        case "picks":
            return str(parse_choice(value))
        case "falls":
            return str(parse_date_relation(value))
        case "has":
            bound, number, unit = _read_size(value)
            return f"{bound} {number} {unit}{'' if number == 1 else 's'}"
        case "times":
            match = _require(_TIMES, value, text, "`times 100 of task` or `times 100 of App.function.field`")
            return f"{write_number(float(match[1]))} of {match[2]}"
        case "sums":
            return str(_parse_total(_require(_SUM, value, text, "`sums App.function.field`")[0]))
        case "counts":
            return str(_parse_total(_require(_COUNT, value, text, "`counts App.function`")[0]))
        case "mentions" | "omits":
            return _require(_PLACE, value, text, f"`{test} App.function.field`; for words, `contains` and `lacks`")[0]
        case "is" | "from":
            return unquote(value, text)
    return read_expected(cast(Operator, test), value, text)


def _require(form: re.Pattern[str], value: str, text: str, example: str) -> re.Match[str]:
    match = form.fullmatch(value)
    if match is None:
        raise GuardError(f"{value!r} in {text!r}: write {example}")
    return match
