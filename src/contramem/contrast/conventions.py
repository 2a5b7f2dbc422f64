"""Conventions: values that passing runs of several tasks share although neither the request nor a result shows them.

A lot size, a desk, a code, a unit: such a value belongs to the organization, not to one task. Whether it may be shown
is decided elsewhere (privacy/public.py).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

from contramem.contrast.form import parse_recorded
from contramem.contrast.seen_texts import SeenTexts
from contramem.traces.trajectory import Event, Trajectory

MIN_TASKS, MIN_SOURCES = 3, 2
"""A value shared by fewer tasks or sources may belong to one task, or be the habit of one agent."""
MAX_CHARS = 32

Slot: TypeAlias = tuple[str, str]
"""A function and the name of one of its arguments."""
_JOINED_BEFORE = re.compile(r"[\w.\-]")
_JOINED_AFTER = re.compile(r"[\w.\-]*\w")
"""What makes a word part of a longer one. A full stop alone ends a sentence."""


class SharedValue(NamedTuple):
    """A convention, and how many tasks and sources share it."""

    function: str
    argument: str
    value: str | int | float
    tasks: int
    sources: int


class Conventions:
    """Learned run by run, and queried once all runs have been seen."""

    def __init__(self) -> None:
        self._tasks: dict[Slot, Counter[object]] = defaultdict(Counter)
        self._sources: dict[Slot, dict[object, set[str]]] = defaultdict(partial(defaultdict, set))

    def learn(self, runs: Iterable[Trajectory]) -> None:
        """Learn from all runs of one task. Only passing runs show what is wanted."""
        shared: dict[Slot, dict[object, set[str]]] = defaultdict(partial(defaultdict, set))
        for run in runs:
            if run.outcome.passed:
                for slot, value in _find_unseen(run):
                    shared[slot][value].add(run.source)
        for slot, values in shared.items():
            self._tasks[slot].update(values.keys())
            for value, sources in values.items():
                self._sources[slot][value] |= sources

    def add(self, other: Conventions) -> None:
        """Add what was learned from other tasks."""
        for slot, tasks in other._tasks.items():
            self._tasks[slot].update(tasks)
        for slot, values in other._sources.items():
            for value, sources in values.items():
                self._sources[slot][value] |= sources

    def of(self, function: str, argument: str, value: object) -> SharedValue | None:
        """The value, if passing runs of several tasks and sources share it."""
        tasks = self._tasks.get((function, argument), Counter())[value]
        if not isinstance(value, (str, int, float)) or tasks < MIN_TASKS:
            return None
        sources = len(self._sources[function, argument][value])
        return SharedValue(function, argument, value, tasks, sources) if sources >= MIN_SOURCES else None


def _find_unseen(run: Trajectory) -> Iterator[tuple[Slot, object]]:
    """The values of arguments that neither the request nor a result had shown."""
    visible = _Shown(run.task)
    for event in run.events:
        if event.function and event.actor == "agent" and not (event.result is not None and event.result.error):
            for slot, value in _arguments(event):
                if not visible.holds(value):
                    yield slot, value
        visible.observe(event)


class _Shown:
    """Everything that a run has been shown so far."""

    def __init__(self, task: str) -> None:
        self._texts = SeenTexts()
        self._texts.append(task.lower())

    def observe(self, event: Event) -> None:
        if event.result is not None:
            content = event.result.content
            is_text = isinstance(content, str)
            text = content if is_text else "\n".join(str(leaf.value) for leaf in parse_recorded(content).leaves)
        elif event.actor != "agent":
            text = event.text
        else:
            return
        self._texts.append(text.lower())

    def holds(self, value: object) -> bool:
        wanted = str(value).lower()
        is_word = wanted.isalnum()
        return any(not is_word or _is_token(wanted, text) for text in self._texts.holding(wanted))


def _is_token(word: str, text: str) -> bool:
    """Does `word` stand in `text`, and not only as a part of `word-2` or `my.word`?"""
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if not (start and _JOINED_BEFORE.match(text, start - 1)) and not _JOINED_AFTER.match(text, end):
            return True
        start = text.find(word, end)
    return False


def _arguments(event: Event) -> Iterator[tuple[Slot, str | int | float]]:
    for name, value in event.arguments.items():
        is_short = not isinstance(value, str) or 1 < len(value) <= MAX_CHARS
        if isinstance(value, (str, int, float)) and not isinstance(value, bool) and is_short:
            yield (event.function, name), value
