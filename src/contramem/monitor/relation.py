"""Relations: what a condition can say about the value of an argument, in one table.

Each relation knows how its operand is read and written, when it holds, and how it is worded. Operands that are looked
up or calculated are sources (source.py), quantities (quantity.py), choices (choice.py) and dates (date_relation.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.choice import RecordChoice, parse_choice
from contramem.monitor.comparison import Operator, plain_text, read_expected, satisfies, unquote, write_number
from contramem.monitor.date_relation import DateRelation, parse_date_relation
from contramem.monitor.dates import read_time
from contramem.monitor.places import FIELD_PLACE, name_place
from contramem.monitor.quantity import Quantity, equals, find_quantity, parse_quantity, relates_to
from contramem.monitor.source import Operand, Place, Source, parse_source

Test: TypeAlias = (
    Operator
    | Literal["equals", "is", "from", "mentions", "omits", "has", "picks", "times", "sums", "counts", "falls"]
    | Literal["given", "missing"]
)

AnyOperand: TypeAlias = Operand | RecordChoice | DateRelation


@dataclass(frozen=True)
class Fixed(Operand):
    """A word, a number or a form: nothing that has to be looked up."""

    text: str

    def __str__(self) -> str:
        return self.text

    def in_words(self) -> str:
        return self.text


@dataclass(frozen=True)
class FirstSeen(Operand):
    """Where a value was first seen: `task`, `user`, `nowhere` or a function."""

    place: str

    def __str__(self) -> str:
        return self.place

    @property
    def functions(self) -> tuple[str, ...]:
        return (self.place,) if "." in self.place else ()

    def in_words(self) -> str:
        return name_place(self.place)


@dataclass(frozen=True)
class SourceTexts(Operand):
    """The values of a source: one of them is enough, or it has to be `every` one."""

    source: Source
    every: bool = False

    def __str__(self) -> str:
        return f"every {self.source}" if self.every else str(self.source)

    @property
    def sources(self) -> tuple[Source, ...]:
        return (self.source,)

    def are_in(self, text: Any, action: Action) -> bool:
        """Whether the text contains one of the values, or every one."""
        whole, values = plain_text(text), [value for value in self.source.texts(action) if value]
        found = (value in whole for value in values)
        return bool(values) and all(found) if self.every else any(found)

    def in_words(self) -> str:
        return f"every value of {self.source.in_words()}" if self.every else self.source.in_words()


@dataclass(frozen=True)
class Length(Operand):
    """The length of a text or of a list."""

    bound: str
    """`at most` or `at least`."""
    number: int
    unit: str

    def __str__(self) -> str:
        return f"{self.bound} {self.number} {self.unit}{'' if self.number == 1 else 's'}"

    def reverse_bound(self) -> Length:
        """What is true exactly if this is not."""
        if self.bound == "at most":
            return replace(self, bound="at least", number=self.number + 1)
        return replace(self, bound="at most", number=self.number - 1)

    def has(self, value: Any) -> bool:
        size = _SIZES[self.unit](value)
        return size <= self.number if self.bound == "at most" else size >= self.number

    def in_words(self) -> str:
        return str(self)


_SIZES: dict[str, Callable[[Any], int]] = {
    "character": lambda value: len(str(value)),
    "word": lambda value: len(str(value).split()),
    "line": lambda value: len([line for line in str(value).splitlines() if line.strip()]),
    "item": lambda value: len(value) if isinstance(value, (list, tuple, dict)) else 1,
}


class Relation(NamedTuple):
    """How a relation is read, checked and worded."""

    read: Callable[[str, str], Any]
    """The operand that a text is. The second argument is the whole pattern, quoted in the error."""
    holds: Callable[[Action, str, Any, Any], bool]
    """Of an action, the name and the value of an argument, and the operand."""
    words: str
    write: Callable[[Any], str] = str
    is_of_items: bool = False
    """Whether it is enough that it holds for one item, if the value is a list."""

    def say(self, operand: AnyOperand) -> str:
        """The relation as worded after the name of the argument."""
        if operand == FirstSeen("nowhere"):
            return "that was seen nowhere before"
        words = operand.in_words()
        return (_OF_DATES.get(self.words, self.words) if read_time(words) else self.words).format(words)


_OF_DATES = {
    "below {}": "before {}",
    "of at most {}": "on or before {}",
    "above {}": "after {}",
    "of at least {}": "on or after {}",
}


def _read_compared(operator: Operator, value: str, text: str) -> Fixed | Quantity:
    quantity = find_quantity(operator, value) if operator not in ("=", "!=") else None
    return quantity or Fixed(read_expected(operator, value, text))


def _compare(operator: Operator, action: Action, argument: str, value: Any, operand: Fixed | Quantity) -> bool:
    if isinstance(operand, Fixed):
        return satisfies(value, operator, operand.text)
    return relates_to(value, operator, operand, action)


def _read_origin(value: str, text: str) -> FirstSeen | SourceTexts:
    place = unquote(value, text)
    is_origin = place in ("task", "user", "nowhere") or (place.count(".") == 1 and " " not in place)
    return FirstSeen(place) if is_origin else SourceTexts(_read_source(place, text))


def _is_from(action: Action, argument: str, value: Any, operand: FirstSeen | SourceTexts) -> bool:
    if isinstance(operand, FirstSeen):
        return action.origin(argument) == operand.place
    values = action.values(argument)
    return bool(values) and values <= operand.source.texts(action)


def _read_source(value: str, text: str) -> Source:
    source = None if value.startswith('"') else parse_source(value)
    if source is None or (isinstance(source, Place) and not source.functions):
        raise GuardError(f"{value!r} in {text!r}: write `App.function.field`; for words, `contains` and `lacks`")
    return source


def _read_mentioned(value: str, text: str) -> SourceTexts:
    every, source = value.startswith("every "), value.removeprefix("every ").strip()
    return SourceTexts(_read_source(source, text), every)


_SIZE = re.compile(r"(at most|at least)\s+(\d+)\s+(character|word|line|item)s?")


def _read_size(value: str, text: str) -> Length:
    match = _SIZE.fullmatch(value)
    if match is None:
        raise GuardError(f"{value!r}: write `has at most 160 characters`; also `at least`, words, lines and items")
    return Length(match[1], int(match[2]), match[3])


_TIMES = re.compile(rf"(\d+(?:\.\d+)?)\s+of\s+(task|{FIELD_PLACE})")
_SUM = re.compile(rf"((?:\d+(?:\.\d+)?\s+times\s+)?)({FIELD_PLACE}(?:\s+where\s+.+)?)", re.DOTALL)
_COUNT = re.compile(r"[^\s.]+\.[^\s.]+(?:\.\S+)?(?:\s+where\s+.+)?", re.DOTALL)


def _read_multiple(value: str, text: str) -> Quantity:
    match = _require(_TIMES, value, text, "`times 100 of task` or `times 100 of App.function.field`")
    factor = write_number(float(match[1]))
    return parse_quantity(match[2] if factor == "1" else f"{factor} times {match[2]}")


def _write_multiple(quantity: Quantity) -> str:
    return f"{quantity.source} of {quantity.steps[0][1]}" if quantity.steps else f"1 of {quantity.source}"


def _read_sum(value: str, text: str) -> Quantity:
    match = _require(_SUM, value, text, "`sums App.function.field`")
    return parse_quantity(f"{match[1]}sum of {match[2]}")


def _read_count(value: str, text: str) -> Quantity:
    return parse_quantity(f"count of {_require(_COUNT, value, text, '`counts App.function`')[0]}")


def _require(form: re.Pattern[str], value: str, text: str, example: str) -> re.Match[str]:
    match = form.fullmatch(value)
    if match is None:
        raise GuardError(f"{value!r} in {text!r}: write {example}")
    return match


def _is_equal(action: Action, argument: str, value: Any, quantity: Quantity) -> bool:
    return equals(value, quantity, action)


_COMPARED: dict[Operator, str] = {
    "=": "set to {}",
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
}

RELATIONS: dict[str, Relation] = {
    operator: Relation(partial(_read_compared, operator), partial(_compare, operator), words)
    for operator, words in _COMPARED.items()
} | {
    "equals": Relation(lambda value, text: parse_quantity(value), _is_equal, "as {}", is_of_items=True),
    "times": Relation(_read_multiple, _is_equal, "as {}", _write_multiple, is_of_items=True),
    "sums": Relation(_read_sum, _is_equal, "as {}", lambda total: str(total).replace("sum of ", "", 1), True),
    "counts": Relation(_read_count, _is_equal, "as {}", lambda total: str(total).removeprefix("count of "), True),
    "is": Relation(
        lambda value, text: Fixed(unquote(value, text)),
        lambda action, argument, value, form: action.form(argument) == form.text,
        "as {}",
    ),
    "from": Relation(_read_origin, _is_from, "from {}"),
    "mentions": Relation(
        _read_mentioned, lambda action, argument, value, seen: seen.are_in(value, action), "that contains {}"
    ),
    "omits": Relation(
        _read_mentioned,
        lambda action, argument, value, seen: not seen.are_in(value, action),
        "that does not contain {}",
    ),
    "has": Relation(_read_size, lambda action, argument, value, size: size.has(value), "of {}"),
    "picks": Relation(
        lambda value, text: parse_choice(value),
        lambda action, argument, value, choice: choice.is_made(action, value),
        "of {}",
        is_of_items=True,
    ),
    "falls": Relation(
        lambda value, text: parse_date_relation(value),
        lambda action, argument, value, relation: relation.holds(action, value),
        "that falls {}",
        is_of_items=True,
    ),
}


@lru_cache(maxsize=1 << 14)  # a study replays thousands of guards
def read_operand(test: str, value: str, text: str = "") -> AnyOperand:
    """The operand of a relation. Raises GuardError with what is wrong."""
    if test in ("given", "missing"):
        return Fixed("")
    if not text and test in get_args(Operator):  # written by us: unquoted already
        operator = cast(Operator, test)
        quantity = find_quantity(operator, value) if operator not in ("=", "!=") else None
        return quantity or Fixed(value)
    return cast(AnyOperand, RELATIONS[test].read(value, text))
