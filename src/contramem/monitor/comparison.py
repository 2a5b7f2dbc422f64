"""Comparison: how a guard compares one value with a number, a word or a written form. For arguments and results alike.

= !=          the same word or number (upper and lower case are alike)
< <= > >=     numbers; `1,200.50` and `$500` are numbers too
like          the same written form: 9 stands for digits, A for capitals, a for small letters (`2026-W05` is 9-A9)
contains lacks   a piece of text
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

import msgspec

Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "like", "contains", "lacks"]

NUMERIC: tuple[Operator, ...] = ("<", "<=", ">", ">=")
OPERATORS = r"!=|<=|>=|=|<|>|like|contains|lacks"
"""For regular expressions: longer operators first."""

_NUMBER = re.compile(r"([-+]?)\s*[$€£¥₹]?\s*(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?\s*%?")
_NEGATED: dict[Operator, Operator] = {"!=": "=", "lacks": "contains"}


def satisfies(actual: Any, operator: Operator, expected: str) -> bool:
    """Does the value stand in this relation? Of a list, one item must; `!=` and `lacks` ask it of every item."""
    if operator in _NEGATED:
        return not satisfies(actual, _NEGATED[operator], expected)
    if isinstance(actual, (list, tuple)):
        return any(satisfies(item, operator, expected) for item in actual) or str(actual) == expected
    if operator == "=":
        return is_same(actual, expected)
    if operator == "like":
        return shape_of(actual) == expected
    if operator == "contains":
        return expected.casefold() in str(actual).casefold()
    return _compare(read_number(actual), operator, float(expected))


def is_same(actual: Any, expected: Any) -> bool:
    """The same text but for upper and lower case, or the same number."""
    if plain_text(actual) == plain_text(expected):
        return True
    number = read_number(actual)
    return number is not None and number == read_number(expected)


def plain_text(value: Any) -> str:
    """How a value is written when nobody minds its case: JSON's `true` and Python's `True` are alike."""
    return str(value).strip().casefold()


def read_number(value: Any) -> float | None:
    """The number that a value is or writes; None where it is none."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value)
    match = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) and len(value) < 40 else None
    return float(f"{match[1]}{match[2].replace(',', '')}{match[3] or ''}") if match else None


MAX_SHAPE_CHARS = 40
_RUNS = re.compile(r"\d+|[^\W\d_]+")


def shape_of(value: Any) -> str:
    """The written form of a value, without the value: `2026-W05` is `9-A9`, `Jane Doe` is `Aa Aa`."""
    return _RUNS.sub(_letters, str(value))[:MAX_SHAPE_CHARS]


def _letters(match: re.Match[str]) -> str:
    run = match[0]
    if run[0].isdecimal():
        return "9"
    if run.isupper():
        return "A"
    return "Aa" if run[0].isupper() else "a"


_BARE = re.compile(r"[\w\-.]+(?: [\w\-.]+)*")


def write_value(value: str) -> str:
    """A value as it stands in a guard: bare where nothing in it could be misread, else quoted."""
    bare = _BARE.fullmatch(value) is not None and not {"and", "of", "when", "within"} & set(value.split(" "))
    return value if bare and "." not in value else _write_dotted(value)


def _write_dotted(value: str) -> str:
    """Numbers and shapes have points and stay bare; a text with points could be a function."""
    if read_number(value) is not None and " " not in value and "," not in value:
        return value
    return msgspec.json.encode(value).decode()


def write_number(value: float) -> str:
    return f"{value:.12g}"


def _compare(number: float | None, operator: Operator, expected: float) -> bool:
    if number is None:
        return False
    if operator == "<":
        return number < expected
    if operator == "<=":
        return number <= expected
    return number > expected if operator == ">" else number >= expected
