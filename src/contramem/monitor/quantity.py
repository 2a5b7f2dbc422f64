"""Quantity: a number that is calculated from what was seen before a call, from left to right.

100 times task                            `90 % of App.find.total` is 0.9 times it
App.get_object.height plus 10             also `minus`; both also take another source: `quantity times App.item.price`
App.find.total rounded up to 1000         to the next multiple; also `rounded down to`, `rounded to` (the nearest)

source.py says where numbers can come from. If a source has several values, a condition holds if one of them fits.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.comparison import NUMERIC, Operator, compare, plain_text, read_number
from contramem.monitor.source import Number, Operand, Place, Source, parse_source

MAX_VALUES = 200
"""Values of a source that are calculated with, if there are steps."""


class Calculation(NamedTuple):
    """One thing that can be done with a number."""

    apply: Callable[[float, float], float]
    words: str


_STEPS = {
    "times": Calculation(operator.mul, "{} times {}"),
    "plus": Calculation(operator.add, "{} plus {}"),
    "minus": Calculation(operator.sub, "{} minus {}"),
    "rounded up to": Calculation(
        lambda value, step: math.ceil(value / step - 1e-9) * step, "{}, rounded up to the next {}"
    ),
    "rounded down to": Calculation(
        lambda value, step: math.floor(value / step + 1e-9) * step, "{}, rounded down to whole {}"
    ),
    "rounded to": Calculation(
        lambda value, step: math.floor(value / step + 0.5) * step, "{}, rounded to the nearest {}"
    ),
}
_STEP = re.compile(rf',?\s+({"|".join(_STEPS)})\s+(?=(?:[^"]|"[^"]*")*$)')
"""Outside of quotes."""
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%\s+of\s+(.+)", re.DOTALL)


def calculate(name: str, value: float, other: float) -> float:
    """One step of a calculation, such as `minus`."""
    return _STEPS[name].apply(value, other)


@dataclass(frozen=True)
class Quantity(Operand):
    """A source, and what is done with its value."""

    source: Source
    steps: tuple[tuple[str, Source], ...] = ()

    def __str__(self) -> str:
        return " ".join((str(self.source), *(f"{name} {operand}" for name, operand in self.steps)))

    @property
    def sources(self) -> tuple[Source, ...]:
        return (self.source, *(operand for _, operand in self.steps))

    @property
    def is_fixed(self) -> bool:
        return all(isinstance(source, Number) for source in self.sources)

    def numbers(self, action: Action) -> list[float]:
        """What it may be before the call: one number for each value of its sources."""
        values = self.source.numbers(action)
        for name, operand in self.steps:
            pairs = product(values[:MAX_VALUES], operand.numbers(action)[:MAX_VALUES])
            values = [calculate(name, value, other) for value, other in pairs if other or "rounded" not in name]
        return values

    def in_words(self) -> str:
        words = self.source.in_words()
        for name, operand in self.steps:
            words = _STEPS[name].words.format(words, operand.in_words())
        return words if not self._is_share else words.replace(f"{self.source} times", f"{self._percent} % of", 1)

    @property
    def _is_share(self) -> bool:
        is_below_one = isinstance(self.source, Number) and 0 < self.source.value < 1
        return is_below_one and bool(self.steps) and self.steps[0][0] == "times"

    @property
    def _percent(self) -> str:
        return f"{100 * self.source.value:g}" if isinstance(self.source, Number) else ""


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> Quantity:
    """Parse a quantity. Raises GuardError with what is wrong."""
    text = text.strip()
    if match := _PERCENT.fullmatch(text):
        text = f"{float(match[1]) / 100:.12g} times {match[2]}"
    first, *rest = _STEP.split(text)
    steps = tuple((name, parse_source(operand)) for name, operand in zip(rest[::2], rest[1::2], strict=True))
    return Quantity(parse_source(first), steps)


@lru_cache(maxsize=4096)
def find_quantity(test: Operator, text: str) -> Quantity | None:
    """The quantity behind a comparison; None if the operand is a fixed number or word. `=` and `!=` compare with words
    too, so what they look up has to name a function or the request."""
    if test not in (*NUMERIC, "=", "!=") or text.startswith('"'):
        return None
    try:
        quantity = parse_quantity(text)
    except GuardError:
        return None
    if test in NUMERIC:
        return None if quantity.is_fixed else quantity
    looks_up = bool(quantity.functions) or (bool(quantity.steps) and Place("task") in quantity.sources)
    return quantity if looks_up else None


def is_near(number: float, other: float) -> bool:
    return abs(number - other) < 1e-6 * max(1.0, abs(number))


def equals(value: Any, quantity: Quantity, action: Action) -> bool:
    """Whether the value is the same number or, if nothing is calculated, the same text."""
    if not quantity.steps and plain_text(value) in quantity.source.texts(action):
        return True
    number = read_number(value)
    return number is not None and any(is_near(number, other) for other in quantity.numbers(action))


def relates_to(value: Any, test: Operator, quantity: Quantity, action: Action) -> bool:
    """Whether the comparison holds with any value that the quantity has before the call."""
    if test in NUMERIC:
        number = read_number(value)
        return any(compare(number, test, other) for other in quantity.numbers(action))
    return equals(value, quantity, action) is (test == "=")
