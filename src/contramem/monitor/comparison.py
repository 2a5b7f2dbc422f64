"""Comparison operators of guards: a value against a number, a word or a shape. Used for arguments and for results.

= !=          the same word or number (case is ignored)
< <= > >=     numbers; `1,200.50` and `$500` are numbers too. Or dates: `< 2026-03-01`
like          the same shape: 9 stands for digits, A for capitals, a for small letters (`2026-W05` is 9-A9);
              doubled, they are counted (9999-A99), and any other character stands for itself (9999-W99)
contains lacks   a substring; also `starts with` and `ends with`
one of, none of  a set of words: `one of open | held`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from contramem.errors import GuardError
from contramem.monitor.dates import read_time

Operator: TypeAlias = Literal[
    "=", "!=", "<", "<=", ">", ">=", "like", "contains", "lacks", "starts with", "ends with", "one of", "none of"
]

NUMERIC: tuple[Operator, ...] = ("<", "<=", ">", ">=")
WORD_OPERATORS = "like|contains|lacks|starts with|ends with|one of|none of"
OPERATORS = rf"!=|<=|>=|=|<|>|\s(?:{WORD_OPERATORS})\s"
"""Regular expression for any operator; longer ones come first so that they match first."""

_OF_DATES: dict[Operator, str] = {"<": "before", "<=": "on or before", ">": "after", ">=": "on or after"}
_NUMBER = re.compile(r"([-+]?)\s*[$€£¥₹]?\s*(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?\s*%?")
_NEGATED: dict[Operator, Operator] = {"!=": "=", "lacks": "contains", "none of": "one of"}


def satisfies(actual: Any, operator: Operator, expected: str) -> bool:
    """Whether the comparison holds. For a list, one item is enough; `!=`, `lacks` and `none of` need every item."""
    if operator in _NEGATED:
        return not satisfies(actual, _NEGATED[operator], expected)
    if isinstance(actual, (list, tuple)):
        return any(satisfies(item, operator, expected) for item in actual) or str(actual) == expected
    if operator == "=":
        return is_same(actual, expected)
    if operator == "like":
        return is_written_like(actual, expected)
    if operator == "one of":
        return any(is_same(actual, word) for word in split_words(expected))
    if operator in _TEXTUAL:
        return _TEXTUAL[operator](str(actual).strip().casefold(), expected.casefold())
    date = read_time(expected)
    if date is not None:
        return compare(read_time(str(actual)), operator, date)
    return compare(read_number(actual), operator, float(expected))


_TEXTUAL: dict[Operator, Callable[[str, str], bool]] = {
    "contains": str.__contains__,
    "starts with": str.startswith,
    "ends with": str.endswith,
}


def say_operator(operator: Operator, expected: str, words: Mapping[Operator, str]) -> str:
    """The operator in words. One date is not below another, but before it."""
    return _OF_DATES[operator] if operator in _OF_DATES and read_time(expected) is not None else words[operator]


def is_same(actual: Any, expected: Any) -> bool:
    """Whether two values are the same text, ignoring case, or the same number."""
    if plain_text(actual) == plain_text(expected):
        return True
    number = read_number(actual)
    return number is not None and number == read_number(expected)


def plain_text(value: Any) -> str:
    """A value as case-folded text, so that JSON's `true` equals Python's `True`."""
    return str(value).strip().casefold()


MAX_SPELLED_CHARS = 40
MAX_NUMBER = 1e300
"""Programs pass larger ones and infinity, but nothing can be calculated with them."""


def take_number(value: Any) -> float | None:
    """The number that a value is; None if it is anything else, a text that spells a number too."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < MAX_NUMBER else None


def read_number(value: Any) -> float | None:
    """The number that a value is or spells; None if it is not a number."""
    if not isinstance(value, str):
        return take_number(value)
    return _read_spelled(value) if len(value) < MAX_SPELLED_CHARS else None


@lru_cache(maxsize=1 << 14)  # thousands of guards compare the same values
def _read_spelled(text: str) -> float | None:
    match = _NUMBER.fullmatch(text.strip())
    return float(f"{match[1]}{match[2].replace(',', '')}{match[3] or ''}") if match else None


MAX_SHAPE_CHARS = 40
MAX_KEPT_CHARS = 200
"""The shapes of longer texts are not cached."""
_RUNS = re.compile(r"\d+|[^\W\d_]+")


def shape_of(value: Any) -> str:
    """The shape of a value without its content: `2026-W05` is `9-A9`, `Jane Doe` is `Aa Aa`."""
    text = str(value)
    return _shape_once(text) if len(text) <= MAX_KEPT_CHARS else _shape_of_text(text)


def _shape_of_text(text: str) -> str:
    return _RUNS.sub(_letters, text)[:MAX_SHAPE_CHARS]


_shape_once = lru_cache(maxsize=1 << 12)(_shape_of_text)  # runs pass the same values again and again


def _letters(match: re.Match[str]) -> str:
    run = match[0]
    if run[0].isdecimal():
        return "9"
    if run.isupper():
        return "A"
    return "Aa" if run[0].isupper() else "a"


def is_written_like(value: Any, form: str) -> bool:
    """Is the value written so? `9-A9` and `9999-W99` are both forms of `2026-W05`, `99-W99` is not."""
    return shape_of(value) == form or _read_form(form).fullmatch(str(value)) is not None


_CLASSES = {"9": r"\d", "A": r"[^\W\d_a-zß-ÿ]", "a": r"[^\W\d_A-ZÀ-Þ]"}
_SAME = re.compile(r"(.)\1*", re.DOTALL)


@lru_cache(maxsize=1024)
def _read_form(form: str) -> re.Pattern[str]:
    """A class that stands alone is any number of characters, doubled ones are counted."""
    pieces = ((match[1], len(match[0])) for match in _SAME.finditer(form))
    return re.compile(
        "".join(
            f"{_CLASSES[mark]}{{{number}}}"
            if mark in _CLASSES and number > 1
            else f"{_CLASSES[mark]}+"
            if mark in _CLASSES
            else re.escape(mark * number)
            for mark, number in pieces
        )
    )


_JOINTS = frozenset("and of when within unless where plus minus times rounded".split())
"""Words that mean something in a guard."""
_BARE = re.compile(r"[\w\-.]+(?: [\w\-.]+)*")


def write_value(value: str) -> str:
    """A value as written in a guard: bare if it cannot be misread, otherwise quoted."""
    bare = _BARE.fullmatch(value) is not None and _JOINTS.isdisjoint(value.split(" "))
    return value if bare and "." not in value else _write_dotted(value)


def _write_dotted(value: str) -> str:
    """Numbers with dots stay bare; other text with dots is quoted, because it could be read as a function."""
    if read_number(value) is not None and " " not in value and "," not in value:
        return value
    return msgspec.json.encode(value).decode()


def write_expected(operator: Operator, value: str) -> str:
    """The operand as written in a guard."""
    return value if operator in NUMERIC or operator in ("one of", "none of") else write_value(value)


def read_expected(operator: Operator, value: str, text: str) -> str:
    """Parse the operand of an operator, unquoted. `text` is the whole condition, quoted in the error."""
    _check_joined(value, text)
    if operator in NUMERIC:
        return read_threshold(value, text)
    if operator in ("one of", "none of"):
        return " | ".join(write_value(unquote(word.strip(), text)) for word in value.split("|"))
    return unquote(value, text)


_JOINED = re.compile(r"(?:\sor\s|,|\|\||&&)\s*[^\s,=<>!]+\s*(?:!=|<=|>=|=|<|>)", re.IGNORECASE)


def _check_joined(value: str, text: str) -> None:
    """Raises GuardError for a value that holds another condition: `A or b = C` would be taken for a text."""
    if not value.startswith('"') and _JOINED.search(value):
        raise GuardError(
            f"{value!r} in {text!r}: conditions are joined by `and` only. For one of several values write "
            "`one of A | B`, otherwise two guards; put a text with such words into double quotes"
        )


@lru_cache(maxsize=4096)
def split_words(value: str) -> tuple[str, ...]:
    """The words of `one of`, unquoted."""
    return tuple(unquote(word.strip(), value) for word in value.split("|"))


def read_threshold(value: str, text: str) -> str:
    """A number in canonical form, or a date as it is. Raises GuardError for anything else."""
    bare = unquote(value, text)
    if read_time(bare) is not None:
        return bare.strip()
    number = read_number(bare)
    if number is None:
        raise GuardError(
            f"{value!r} in {text!r} is neither a number nor a date, nor can it be calculated: write `500`, "
            "`2026-03-01`, `App.function.field`, `task` or `100 times App.function.field plus 10`"
        )
    return write_number(number)


def unquote(value: str, text: str) -> str:
    """The value without its quotes, if it has any. Raises GuardError if the quotes are malformed."""
    if not value.startswith('"'):
        return value
    try:
        return msgspec.json.decode(value, type=str)
    except msgspec.DecodeError:
        raise GuardError(f"{value} in {text!r} is not a quoted text") from None


def write_number(value: float) -> str:
    return f"{value:.12g}"


LimitT = TypeVar("LimitT", float, datetime)


def compare(actual: LimitT | None, operator: Operator, limit: LimitT) -> bool:
    """Apply a `NUMERIC` operator. False if there is nothing to compare."""
    if actual is None:
        return False
    if operator == "<":
        return actual < limit
    if operator == "<=":
        return actual <= limit
    return actual > limit if operator == ">" else actual >= limit
