"""RunHistory: what the calls of one run have returned so far, for guards with conditions on earlier results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from contramem.monitor.comparison import plain_text, read_number
from contramem.monitor.dates import WRITTEN_DATE, read_time
from contramem.monitor.results import decode_result, field_values, list_records, nested_lists
from contramem.traces.trajectory import Event

_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.])\d+(?:\.\d+)?(?![\w])")


class RunHistory:
    """The results of one run in order, decoded only when a guard needs them."""

    def __init__(self, task: str) -> None:
        self.task = task
        self._results: list[tuple[str, Any]] = []
        self._values: dict[tuple[str, str], list[tuple[int, frozenset[str]]]] = {}

    def __len__(self) -> int:
        return len(self._results)

    def add(self, event: Event) -> None:
        """Add a successful call with its result; other events are ignored."""
        if event.function and event.result is not None and event.result.error is None:
            self._results.append((event.function, event.result.content))

    def functions(self, before: int) -> tuple[str, ...]:
        """The distinct functions of the first `before` calls."""
        return tuple(dict.fromkeys(function for function, _ in self._results[:before]))

    def results(self, start: int, end: int) -> list[tuple[str, Any]]:
        """The function and content of each result from `start` up to `end`."""
        return self._results[start:end]

    def values(self, function: str, field: str, before: int) -> frozenset[str]:
        """The values under `field` in the results of `function`, among the first `before` calls."""
        return frozenset().union(*(values for order, values in self._list_values(function, field) if order < before))

    def records(self, function: str, before: int, inside: str = "") -> Iterator[list[dict[str, Any]]]:
        """The records in those results, latest result first; `inside` a named list, those of one list at a time."""
        for name, content in reversed(self._results[:before]):
            if name == function and inside:
                lists = nested_lists(decode_result(content), inside)
                yield from ([item for item in items if isinstance(item, dict)] for items in lists)
            elif name == function:
                yield list_records(decode_result(content))

    @cached_property
    def task_numbers(self) -> tuple[float, ...]:
        numbers = (read_number(match[0]) for match in _NUMBER.finditer(self.task))
        return tuple(number for number in numbers if number is not None)

    @cached_property
    def plain_task(self) -> str:
        """The request in lower case."""
        return plain_text(self.task)

    @cached_property
    def task_date(self) -> datetime | None:
        """The date that the request names; None if there are several or none."""
        dates = [date for text in WRITTEN_DATE.findall(self.task) if (date := read_time(text)) is not None]
        return dates[0] if len(dates) == 1 else None

    def _list_values(self, function: str, field: str) -> list[tuple[int, frozenset[str]]]:
        listed = self._values.setdefault((function, field), [])
        start = listed[-1][0] + 1 if listed else 0
        for order in range(start, len(self._results)):
            name, content = self._results[order]
            if name == function:
                values = _read_text(content, field) if isinstance(content, str) else _read_values(content, field)
                listed.append((order, values))
        return listed


def _read_values(content: Any, field: str) -> frozenset[str]:
    return frozenset(plain_text(value) for value in field_values(decode_result(content), field))


_read_text = lru_cache(maxsize=1 << 12)(_read_values)  # runs of one task mostly get the same results
