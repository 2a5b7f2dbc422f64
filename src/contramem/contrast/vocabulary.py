"""Closed vocabularies: arguments and fields that take few values over many tasks (`INBOX`, `economy`, `pending`).

They belong to the interface, not to a task, so they stay readable where everything else becomes a placeholder. A value
has to prove itself: seen in several tasks, short, and neither a name, a place, an address nor an identifier.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from contramem.contrast.form import parse
from contramem.contrast.values import CATEGORY_ROLES, ROLES, is_time, kind_by_form
from contramem.traces.effects import words
from contramem.traces.trajectory import Tool, Trajectory

MIN_TASKS = 4
"""An argument seen in fewer tasks than this has no vocabulary yet."""
MAX_WORDS = 12
"""One that takes more values than this is open."""
MIN_TASKS_PER_WORD = 2
"""A value of one task only may be that task's own."""
RUNS_PER_TASK_FOR_FIELDS = 3
"""Results are sampled: runs of one task mostly see the same ones."""

_WORD = re.compile(r"[^\W\d_]+(?:[ _\-/][^\W\d_]+){0,2}\d{0,2}")
_LOWER_OR_UPPER = re.compile(r"[a-z0-9 _\-/]+|[A-Z0-9_\-/]+")
_FREE_TEXT_ROLES = frozenset(
    "text body content message description subject title query comment note notes summary reply answer input".split()
)
_PRIVATE_ROLES = frozenset().union(*ROLES.values()) | _FREE_TEXT_ROLES


class Vocabulary:
    """Which values of which argument or field are words of the interface."""

    def __init__(self, tasks: Iterable[list[Trajectory]] = ()) -> None:
        # slot -> value -> tasks it was seen in. A slot with too many values is open, and holds None from then on.
        self._seen: dict[tuple[str, str], dict[object, set[str]] | None] = {}
        self._tasks: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._enums: dict[tuple[str, str], set[object]] = defaultdict(set)
        for runs in tasks:
            self._learn(runs)
        self._words = self._settled()

    def keeps(self, function: str, role: str, value: object) -> bool:
        """Does `value` stay as it is when it fills the argument or field `role` of `function`?"""
        if value is None or isinstance(value, bool):
            return True
        return value in self._words.get((function, role), ())

    def words(self, function: str, role: str) -> frozenset[object]:
        """The closed vocabulary of an argument or field; empty when it has none."""
        return self._words.get((function, role), frozenset())

    def _learn(self, runs: list[Trajectory]) -> None:
        for number, run in enumerate(runs):
            key = run.task_key
            for tool in run.tools if number == 0 else ():
                self._learn_enums(tool)
            for event in run.events:
                if not event.function:
                    continue
                for role, value in scalars(event.arguments):
                    self._count((event.function, role), value, key)
                if event.result is not None and number < RUNS_PER_TASK_FOR_FIELDS:
                    for field, value in parse(event.result.content).leaves:
                        if field:
                            self._count((event.function, field), value, key)

    def _learn_enums(self, tool: Tool) -> None:
        properties = tool.parameters.get("properties")
        for name, schema in properties.items() if isinstance(properties, dict) else ():
            values = schema.get("enum") if isinstance(schema, dict) else None
            if isinstance(values, list):
                self._enums[tool.function, name].update(value for value in values if isinstance(value, (str, int)))

    def _count(self, slot: tuple[str, str], value: object, task: str) -> None:
        values = self._seen.setdefault(slot, {})
        if values is None or not isinstance(value, (str, int)):
            return
        if len(self._tasks[slot]) <= MAX_WORDS * 4:
            self._tasks[slot].add(task)
        tasks = values.setdefault(value, set())
        if len(tasks) < MIN_TASKS_PER_WORD:
            tasks.add(task)
        if len(values) > MAX_WORDS * 2:
            self._seen[slot] = None

    def _settled(self) -> dict[tuple[str, str], frozenset[object]]:
        settled = {slot: frozenset(values) for slot, values in self._enums.items()}
        for slot, values in self._seen.items():
            if values is None or len(self._tasks[slot]) < MIN_TASKS:
                continue
            recurring = {value for value, tasks in values.items() if len(tasks) >= MIN_TASKS_PER_WORD}
            # One odd value does not open a vocabulary, but mostly odd ones do.
            if len(recurring) <= MAX_WORDS and len(values) <= 2 * len(recurring):
                kept = frozenset(value for value in recurring if is_word(value, slot[1]))
                settled[slot] = settled.get(slot, frozenset()) | kept
        return settled


def is_word(value: object, role: str) -> bool:
    """Could `value` be a word of an interface, rather than somebody's name, number or text?"""
    named = set(words(role))
    if isinstance(value, int):
        return abs(value) < 1000 and not named & _PRIVATE_ROLES
    if not isinstance(value, str) or not 1 < len(value) <= 32 or is_time(value):
        return False
    if kind_by_form(value) or not _WORD.fullmatch(value):
        return False
    if named & CATEGORY_ROLES and not named & _FREE_TEXT_ROLES:
        return True
    return _LOWER_OR_UPPER.fullmatch(value) is not None and not named & _PRIVATE_ROLES


def scalars(value: Any, role: str = "") -> Iterator[tuple[str, Any]]:
    """(role, scalar) of everything in an argument; items of a list have the role of the list."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from scalars(child, str(key))
    elif isinstance(value, (list, tuple)):
        for child in value:
            yield from scalars(child, role)
    else:
        yield role, value
