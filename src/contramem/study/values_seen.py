"""Values seen: what runs passed for the arguments in a guard, and what the fields in its conditions contained.

A guard says that a value is written `9-A`; only the values tell which letters occur. A threshold lies between two
values that were seen; the distance between them tells how certain it is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias

from contramem.guards.conditions import FieldReturned
from contramem.guards.guard import Guard
from contramem.guards.results import field_values
from contramem.guards.values import read_number, take_number, write_number
from contramem.study.run_set import StudyRun

MAX_VALUES = 8
MAX_TEXTS = 4
"""Of texts, which take much room."""
MAX_CHARS = 120
LONG_CHARS = 40
MAX_RUNS = 400
"""How many runs are read."""

SeenValues: TypeAlias = dict[str, dict[str, str]]
"""For each argument or field, the values in passing and failing runs."""


def list_values(guard: Guard, runs: Sequence[StudyRun]) -> SeenValues:
    """The values behind a guard. Runs that call none of its functions are not even loaded."""
    arguments = dict.fromkeys(_list_arguments(guard))
    scope = (*guard.conditions, *guard.exceptions)
    fields = [(part.function, part.field) for part in scope if isinstance(part, FieldReturned)]
    wanted = {function for function, _ in (*arguments, *fields)}
    seen = defaultdict[str, dict[str, Counter[str]]](lambda: {"passed": Counter(), "failed": Counter()})
    for run in islice((run for run in runs if not wanted.isdisjoint(run.called)), MAX_RUNS):
        side = "passed" if run.passed else "failed"
        for call in run.recorded.calls:
            for function, argument in arguments:
                if call.function == function and argument in call.arguments:
                    seen[f"{function}[{argument}]"][side][_short(call.arguments[argument])] += 1
            for function, field in fields:
                if call.function == function and call.worked:
                    values = {_short(value) for value in field_values(call.result(), field)}
                    seen[f"{function}.{field}"][side].update(values)
    return {place: {side: _write(counts) for side, counts in sides.items()} for place, sides in seen.items()}


def _list_arguments(guard: Guard) -> Iterator[tuple[str, str]]:
    """The arguments whose values tell something. Of a record that was chosen they are mere identifiers."""
    chosen = {
        (pattern.function, test.argument)
        for pattern in guard.patterns
        for test in pattern.conditions
        if test.test in ("picks", "from") and test.value != "task"
    }
    if guard.template in ("covers", "known_value"):
        chosen.add((guard.target, guard.argument))
    return (pair for pair in guard.arguments if pair not in chosen)


def _short(value: Any) -> str:
    """The value as it was written, `00986` too. Of a long text its beginning and its end: letters begin alike."""
    if (number := take_number(value)) is not None:
        return write_number(number)
    text = " ".join(str(value).split())
    half = MAX_CHARS // 2
    return text if len(text) <= MAX_CHARS else f"{text[:half].rstrip()} ... {text[-half:].lstrip()}"


def _write(counts: Counter[str]) -> str:
    """Numbers in order, so that gaps show; anything else by frequency."""
    numbers = {value: number for value in counts if (number := read_number(value)) is not None}
    if counts and len(numbers) == len(counts):
        return _list(_spread(sorted(numbers, key=lambda value: (numbers[value], value))))
    most = MAX_TEXTS if any(len(value) > LONG_CHARS for value in counts) else MAX_VALUES
    left = len(counts) - most
    more = f" and {left} other{'' if left == 1 else 's'}" if left > 0 else ""
    return _list(f"{value} ({count})" for value, count in counts.most_common(most)) + more


def _list(values: Iterable[str]) -> str:
    return "; ".join(values) or "none"


def _spread(numbers: Sequence[str]) -> Sequence[str]:
    step = max(1, -(-len(numbers) // (3 * MAX_VALUES)))
    return numbers[::step]
