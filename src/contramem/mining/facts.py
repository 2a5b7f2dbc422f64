"""Facts: what was to be known in a task, whoever looked it up. All runs of a task start from the same data, so what one
run read is true for the others; what a run itself brought about is no fact of its task."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from contramem.collection.results import decode_result
from contramem.contrast.form import is_field
from contramem.guards.dates import WRITTEN_DATE, read_time
from contramem.guards.values import plain_text, read_number
from contramem.privacy.taint import find_tainted_calls
from contramem.traces.argument_parts import name_parts
from contramem.traces.trajectory import Trajectory

MAX_ROWS = 60
"""Longer listings are searched, not chosen from."""
MAX_TEXT = 60
"""No category, number or date is longer."""
ACTS_ALIKE = 0.8
"""The share of a task's runs that must pass the same argument for it to be a fact of the task: what only some runs
bring about is none."""

Record: TypeAlias = dict[str, Any]


class Call(NamedTuple):
    """A call of the agent."""

    function: str
    arguments: Mapping[str, Any]
    worked: bool
    result: Any
    """Decoded; None if it was refused."""
    position: int


@dataclass(slots=True)
class Run:
    """A run that is evidence."""

    trajectory: Trajectory
    task: int
    source: int
    passed: bool
    calls: list[Call]
    final: str


@dataclass(slots=True)
class Task:
    """What was to be known in a task, under the names that guards give it."""

    key: str
    runs: list[int]
    request: str
    scalars: dict[str, Any] = field(default_factory=dict)
    """By place (`App.function.field`), what one look shows."""
    lists: dict[str, list[Record]] = field(default_factory=dict)
    """By place (`App.function` or `App.function.name`), the records that it lists."""
    given: dict[tuple[str, str], Any] = field(default_factory=dict)
    """By function and argument, what nearly all runs passed."""
    chosen: dict[tuple[str, str, str], Record] = field(default_factory=dict)
    """By function, argument and place of a list, the record that nearly all runs named."""
    dates: list[str] = field(default_factory=list)
    """In the request."""
    numbers: list[float] = field(default_factory=list)
    """In the request."""


def read_run(run: Trajectory, task: int, source: int) -> Run:
    """A run without the calls that follow from planted text: they teach nothing."""
    tainted, calls, final = find_tainted_calls(run), list[Call](), ""
    for event in run.events:
        if event.actor != "agent":
            continue
        if event.function and event.position not in tainted:
            worked = event.result is None or event.result.error is None
            content = event.result.content if worked and event.result is not None else None
            result = decode_result(content) if content is not None else None
            calls.append(Call(event.function, name_parts(event.arguments), worked, result, event.position))
        elif event.kind == "final":
            final = event.text
    return Run(run, task, source, bool(run.outcome.passed), calls, final)


def know(key: str, indices: list[int], runs: Sequence[Run], reads: frozenset[str]) -> Task:
    """What the runs of a task read; the first state that was seen counts. `reads` are functions that only look."""
    task = Task(key, indices, runs[indices[0]].trajectory.task)
    seen: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for index in indices:
        once = set[tuple[str, str]]()
        for call in runs[index].calls:
            if call.function in reads and isinstance(call.result, (dict, list)):
                name = call.function, repr(sorted(call.arguments.items(), key=lambda item: item[0]))
                if name not in once:
                    once.add(name)
                    seen[name[0]][name[1]].append(call.result)
    for function, by_arguments in seen.items():
        most = max(by_arguments.values(), key=len)
        if len(by_arguments) == 1 or 2 * len(most) >= sum(map(len, by_arguments.values())):
            shown = show(function, most[0])
            task.scalars |= shown.scalars
            task.lists |= {place: list(rows) for place, rows in shown.lists.items()}
    task.dates = list(dict.fromkeys(WRITTEN_DATE.findall(task.request)))
    task.numbers = [float(number) for number in _NUMBERS.findall(task.request)][:4]
    return task


_NUMBERS = re.compile(r"(?<![\w.,/:-])(\d+(?:\.\d+)?)(?![\w/:-]|[.,]\d)")


class Shown(NamedTuple):
    """The fields and the lists in a result."""

    scalars: dict[str, Any]
    lists: dict[str, list[Record]]


def show(function: str, result: Any) -> Shown:
    """What a result shows, under the names that guards give it: the shortest that only one field has."""
    leaves, lists = list[tuple[tuple[str, ...], Any]](), list[tuple[tuple[str, ...], list[Record]]]()
    _collect((), result, leaves, lists)
    names = Counter(path[-1] for path, _ in leaves)
    columns = {name for _, rows in lists if len(rows) > 1 for row in rows for name in row}
    scalars = {}
    for path, value in leaves:
        unique = names[path[-1]] == 1 and path[-1] not in columns
        scalars[f"{function}.{path[-1] if unique or len(path) == 1 else '.'.join(path[-2:])}"] = value
    alone = len(lists) == 1 and (not lists[0][0] or len(lists[0][0]) == 1)
    places = {function if alone or not path else f"{function}.{'.'.join(path)}": rows for path, rows in lists}
    return Shown(scalars, places)


def _collect(path: tuple[str, ...], node: Any, leaves: list[Any], lists: list[Any]) -> None:
    if isinstance(node, dict):
        inner = list(node.values())
        if not path and len(inner) > 1 and all(isinstance(value, dict) for value in inner):
            lists.append((path, [_flatten(value) for value in inner][:MAX_ROWS]))
            return
        for name, value in node.items():
            if _is_name(name):
                _collect((*path, str(name)), value, leaves, lists)
    elif isinstance(node, (list, tuple)):
        rows = [_flatten(item) for item in node if isinstance(item, dict)][:MAX_ROWS]
        if rows or not node:
            lists.append((path, rows))
            if len(rows) == 1:
                for name, value in rows[0].items():
                    leaves.append(((*path, name), value))
        elif path:
            leaves.append((path, tuple(node)))
    elif path:
        leaves.append((path, node))


@lru_cache(maxsize=1 << 12)
def _is_name(key: str) -> bool:
    """Is it the name of a field, and no value that a record is kept under? Guards write names without brackets."""
    return is_field(key) and not re.search(r"[\s\[\]()=<>!,\"]", key)


def _flatten(record: Record, around: str = "") -> Record:
    """`{"a": {"b": 1}}` as `{"a.b": 1}`."""
    flat: Record = {}
    for name, value in record.items():
        if not _is_name(name):
            continue
        if isinstance(value, dict):
            flat |= _flatten(value, f"{around}{name}.")
        else:
            flat[f"{around}{name}"] = tuple(value) if isinstance(value, list) else value
    return flat


def find_given(tasks: Sequence[Task], runs: Sequence[Run], reads: frozenset[str]) -> None:
    """Note what nearly all runs of each task passed alike, and which record of a list it names."""
    for task in tasks:
        passed = defaultdict[tuple[str, str], list[Any]](list)
        for index in task.runs:
            by_slot = defaultdict[tuple[str, str], list[Any]](list)
            for call in runs[index].calls:
                if call.function not in reads:
                    for name, value in call.arguments.items():
                        by_slot[call.function, name].append(value)
            for slot, values in by_slot.items():
                if len(values) == 1 and not isinstance(values[0], dict):
                    passed[slot].append(values[0])
        for slot, values in passed.items():
            top, count = Counter(map(repr, map(canon, values))).most_common(1)[0]
            if len(values) >= max(2, ACTS_ALIKE * len(task.runs)) and count >= ACTS_ALIKE * len(values):
                value = next(value for value in values if repr(canon(value)) == top)
                if len(str(value)) <= MAX_TEXT and not isinstance(value, list):
                    task.given[slot] = value
        for (function, argument), value in task.given.items():
            for place, rows in task.lists.items():
                named = [row for row in rows if any(plain_text(own) == plain_text(value) for own in row.values())]
                if len(named) == 1 and len(rows) > 1 and len(str(value)) > 2 and not isinstance(value, bool):
                    task.chosen[function, argument, place] = named[0]


# Values


@lru_cache(maxsize=1 << 15, typed=True)
def _canon_text(value: str) -> Any:
    if len(value) > MAX_TEXT:
        return value
    if (number := _number_in(value)) is not None:
        return round(number, 4)
    if (time := read_time(value)) is not None and (time.hour, time.minute) == (0, 0):
        return time.date()
    return value.strip().casefold()


def _number_in(text: str) -> float | None:
    """The number that a text spells; codes such as `007` are texts."""
    if text[:1] == "0" and len(text) > 1 and text[1] != ".":
        return None
    return read_number(text) if not text.endswith("%") else None


def canon(value: Any) -> Any:
    """Equal for the same number, day or text, however it is written."""
    if isinstance(value, str):
        return _canon_text(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return round(float(value), 4)
    if isinstance(value, (list, tuple)):
        return tuple(map(canon, value))
    return repr(value)


def number_of(value: Any) -> float | None:
    return found if isinstance(found := canon(value), float) and not isinstance(value, bool) else None


def day_of(value: Any) -> date | None:
    """The day of a date or time."""
    time = time_of(value)
    return time.date() if time is not None else None


def time_of(value: Any) -> datetime | None:
    return read_time(value) if isinstance(value, str) and len(value) < MAX_TEXT else None


def rank_of(value: Any) -> float | str | None:
    """What records are ordered by: numbers, dates, times of day; one list has values of one sort."""
    if (number := number_of(value)) is not None:
        return number
    if (time := time_of(value)) is not None:
        return time.timestamp() if time.year > 1970 else None
    return None if not isinstance(value, str) or not re.fullmatch(r"\d\d:\d\d(:\d\d)?", value) else value


def fields_named(rows: Sequence[Record]) -> Iterator[str]:
    """The fields of records, in order."""
    return iter(dict.fromkeys(name for row in rows[:5] for name in row))
