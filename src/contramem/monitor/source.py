"""Source: where the values come from that a condition compares with. All of it was seen before the call.

500                                   a number
task                                  the numbers in the request, or its dates
quantity                              another argument of the same call
App.find.total                        the values of this field in earlier results
total of lowest due of App.list       of the record that is chosen so (record_source.py)
sum of App.list.total                 over the records of one result, or of all of them; may end in `where`
count of App.list                     the number of records in a result; may end in `where`
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.comparison import plain_text, read_number, write_number
from contramem.monitor.dates import WRITTEN_DATE
from contramem.monitor.places import field_of_place, function_of_place, is_field_place, name_place, seen_texts

NAME = r"[^\W\d][\w-]*"
"""Regular expression for an argument of the same call."""
_NAME = re.compile(NAME)
_OF_RECORDS = re.compile(r"(?:sum|count)\s+of\s|\S+\s+of\s")


class Operand(ABC):
    """What a condition compares a value with. Its text form is guard syntax."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where it takes values from; nothing if it is fixed."""
        return ()

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions whose results it reads."""
        return tuple(function for source in self.sources for function in source.functions)

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The fields that it reads, each with the function that returned it."""
        return tuple(field for source in self.sources for field in source.fields)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The other arguments of the call that it reads."""
        return tuple(argument for source in self.sources for argument in source.arguments)

    @abstractmethod
    def in_words(self) -> str: ...


class Source(Operand):
    """Where values come from."""

    @abstractmethod
    def texts(self, action: Action) -> frozenset[str]:
        """Its values before the call, as plain text."""

    def numbers(self, action: Action) -> list[float]:
        """Its values before the call that are numbers."""
        return [number for text in self.texts(action) if (number := read_number(text)) is not None]


@dataclass(frozen=True)
class Number(Source):
    """A fixed number."""

    value: float

    def __str__(self) -> str:
        return write_number(self.value)

    def texts(self, action: Action) -> frozenset[str]:
        return frozenset((str(self),))

    def numbers(self, action: Action) -> list[float]:
        return [self.value]

    def in_words(self) -> str:
        return f"{int(self.value):,}" if self.value == int(self.value) else str(self)


@dataclass(frozen=True)
class Place(Source):
    """The request (`task`), a field of earlier results, or another argument of the call."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def functions(self) -> tuple[str, ...]:
        function = function_of_place(self.name)
        return (function,) if function else ()

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        field = field_of_place(self.name)
        return ((function_of_place(self.name), field),) if field else ()

    @property
    def arguments(self) -> tuple[str, ...]:
        return () if self.name == "task" or "." in self.name else (self.name,)

    def texts(self, action: Action) -> frozenset[str]:
        """Of the request, the dates."""
        if self.name == "task":
            return frozenset(WRITTEN_DATE.findall(action.history.task))
        if self.arguments:
            value = action.arguments.get(self.name)
            return frozenset() if value is None else frozenset((plain_text(value),))
        return seen_texts(action, self.name)

    def numbers(self, action: Action) -> list[float]:
        return list(action.task_numbers()) if self.name == "task" else super().numbers(action)

    def in_words(self) -> str:
        if self.name == "task":
            return "a number from the task"
        return f"its `{self.name}`" if self.arguments else name_place(self.name)


@lru_cache(maxsize=4096)
def parse_source(text: str) -> Source:
    """Parse a source. Raises GuardError with what is wrong."""
    text = text.strip()
    if (number := read_number(text)) is not None:
        return Number(number)
    if text == "task" or is_field_place(text) or _NAME.fullmatch(text):
        return Place(text)
    if _OF_RECORDS.match(text):
        from contramem.monitor.record_source import parse_record_source  # its filters compare with sources

        return parse_record_source(text)
    raise GuardError(
        f"{text!r} is nothing to compare with; write a number, `task`, `App.function.field`, another argument of the "
        "call, `sum of App.list.field where status = open` or `field of lowest due of App.list where status = open`"
    )
