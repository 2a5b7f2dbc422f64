"""Conventions: values that passing runs of several tasks share although neither the request nor a result shows them.

A lot size, a desk, a code, a unit: such a value belongs to the organization, not to one task, so a card may contain it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

from contramem.contrast.form import parse_recorded
from contramem.contrast.placeholder_types import ROLES, names_where
from contramem.contrast.plain_words import (
    could_be_a_choice,
    is_unknown_constant,
    may_name_constant,
    sorts_things,
)
from contramem.contrast.seen_texts import SeenTexts
from contramem.contrast.values import is_time, kind_by_form
from contramem.traces.effects import words
from contramem.traces.plain_names import is_choice
from contramem.traces.secret_names import is_secret_name
from contramem.traces.shell import is_command_line
from contramem.traces.trajectory import Event, Trajectory

MIN_TASKS, MIN_SOURCES = 3, 2
"""A value shared by fewer tasks or sources may belong to one task, or be the habit of one agent."""
MAX_CHARS = 32
ROUND = 50
"""A lot size or a limit of four digits is a multiple of this. Other long numbers were drawn, as PINs are."""
_LONG_NUMBER = re.compile(r"-?\d{4,}")

Slot: TypeAlias = tuple[str, str]
"""A function and the name of one of its arguments."""
_JOINED_BEFORE = re.compile(r"[\w.\-]")
_JOINED_AFTER = re.compile(r"[\w.\-]*\w")
"""What makes a word part of a longer one. A full stop alone ends a sentence."""
_PAIR = re.compile(r"[^\W\d_]\s?[:=]\s")
"""`pass: hazel`: a value with a name of its own, which may be that of anything."""
_PERSONAL = names_where(lambda type_: type_.belongs_to_somebody)
_NEVER = ROLES["PHONE"] | frozenset(
    """password passwd secret token key pin credential credentials text body content message description subject title
    query comment note notes summary reply answer input""".split()
)
_ACCOUNT = ["bank", "account"]
"""Of a person, where other accounts are of a ledger."""


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
        self._tasks: dict[Slot, dict[object, set[str]]] = defaultdict(partial(defaultdict, set))
        self._sources: dict[Slot, dict[object, set[str]]] = defaultdict(partial(defaultdict, set))

    def learn(self, run: Trajectory) -> None:
        """Learn from a run. Only passing runs show what is wanted."""
        if not run.outcome.passed:
            return
        visible, task = _Shown(run.task), run.task_key
        for event in run.events:
            if event.function and event.actor == "agent" and not (event.result is not None and event.result.error):
                for slot, value in _arguments(event):
                    if not visible.holds(value):
                        self._tasks[slot][value].add(task)
                        self._sources[slot][value].add(run.source)
            visible.observe(event)

    def add(self, other: Conventions) -> None:
        """Add what was learned from other runs."""
        for own, others in ((self._tasks, other._tasks), (self._sources, other._sources)):
            for slot, values in others.items():
                for value, names in values.items():
                    own[slot][value] |= names

    def keeps(self, function: str, argument: str, value: object) -> bool:
        """Is `value` a convention where it fills this argument?"""
        slot = (function, argument)
        return (
            slot in self._tasks
            and len(self._tasks[slot].get(value, ())) >= MIN_TASKS
            and len(self._sources[slot].get(value, ())) >= MIN_SOURCES
            and (sorts_things(argument) or not is_unknown_constant(self._tasks[slot]))
        )

    def of(self, function: str, argument: str, value: object) -> SharedValue | None:
        """The convention behind a value, if it is one."""
        if not isinstance(value, (str, int, float)) or not self.keeps(function, argument, value):
            return None
        slot = (function, argument)
        return SharedValue(function, argument, value, len(self._tasks[slot][value]), len(self._sources[slot][value]))

    def list_kept(self, function: str) -> list[tuple[str, str]]:
        """The conventions of a function: pairs of argument and value, as written."""
        slots = [(name, argument) for name, argument in self._tasks if name == function]
        return sorted(
            (slot[1], repr(value)) for slot in slots for value in self._tasks[slot] if self.keeps(*slot, value)
        )

    def values(self) -> Iterator[object]:
        """The values of all conventions."""
        for slot, values in self._tasks.items():
            yield from (value for value in values if self.keeps(*slot, value))


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
        if is_command_line(event.function, name):
            continue
        if isinstance(value, (str, int, float)) and not isinstance(value, bool) and _may_be_shared(value, name):
            yield (event.function, name), value


def _may_be_shared(value: str | int | float, name: str) -> bool:
    named = words(name)
    if not _NEVER.isdisjoint(named[-1:]) or named[-2:] == _ACCOUNT or not may_name_constant(name):
        return False
    if _LONG_NUMBER.fullmatch(str(value)) and int(value) % ROUND and not sorts_things(name):
        return False
    if not isinstance(value, str):
        return True
    if named[-1:] == ["number"] and not any(map(str.isdigit, value)):
        return False  # it may be what somebody remembers it by
    if not 1 < len(value) <= MAX_CHARS or is_time(value) or kind_by_form(value) in _PERSONAL or _PAIR.search(value):
        return False
    return is_choice(value) and could_be_a_choice(value) and not is_secret_name(name, value)
