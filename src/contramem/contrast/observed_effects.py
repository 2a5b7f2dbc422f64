"""Observed effects: functions that change something though their name says that they read, or says nothing.

A read that is repeated with the same arguments should give the same again. Where it does not, and a single function was
called in between, that function changed what was read. One run may be an accident and some reads change by themselves
(a clock, a queue), so several tasks have to show it, by a read that stays the same when nothing is changed in between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from contramem.contrast.bounded_set import add_up_to
from contramem.traces.trajectory import Event, Trajectory

MIN_TASKS = 2
"""That show a change, and as many that show the read unchanged without one."""

_encode = msgspec.json.Encoder(order="deterministic").encode


class Reread(NamedTuple):
    """A read, made again later in the same run."""

    reader: str
    between: frozenset[str]
    """Other functions that were called since."""
    changed: bool


class ObservedEffects:
    """What repeated reads show, over all tasks."""

    def __init__(self) -> None:
        # Of no more tasks than are asked for: further ones change nothing.
        self._same: defaultdict[str, set[str]] = defaultdict(set)
        self._restless: set[str] = set()
        self._changed: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self._named: dict[str, bool] = {}
        """Functions seen between reads; whether something better than their name says that they only read."""

    def learn(self, run: Trajectory) -> None:
        effects = {event.function: event for event in run.events if event.function}
        for reread in _find_rereads(run):
            may_change = {name for name in reread.between if effects[name].effect not in ("read", "unknown")}
            if not reread.between:
                self._count_alone(reread, run.task_key)
            elif len(reread.between) == 1 and not may_change:
                (name,) = reread.between
                self._named[name] = self._named.get(name, False) or effects[name].effect_given
                if reread.changed:
                    add_up_to(MIN_TASKS, self._changed[reread.reader, name], [run.task_key])
                else:
                    add_up_to(MIN_TASKS, self._same[reread.reader], [run.task_key])

    def _count_alone(self, reread: Reread, task: str) -> None:
        if reread.changed:
            self._restless.add(reread.reader)
        else:
            add_up_to(MIN_TASKS, self._same[reread.reader], [task])

    def add(self, other: ObservedEffects) -> None:
        """Count what was learned from other tasks."""
        for reader, tasks in other._same.items():
            add_up_to(MIN_TASKS, self._same[reader], tasks)
        for pair, tasks in other._changed.items():
            add_up_to(MIN_TASKS, self._changed[pair], tasks)
        self._restless |= other._restless
        for name, given in other._named.items():
            self._named[name] = self._named.get(name, False) or given

    def writers(self) -> frozenset[str]:
        """Functions that change what others read, against their name."""
        return frozenset(
            name
            for (reader, name), tasks in self._changed.items()
            if len(tasks) >= MIN_TASKS
            and len(self._same[reader]) >= MIN_TASKS
            and reader not in self._restless
            and not self._named[name]
        )


def _find_rereads(run: Trajectory) -> Iterator[Reread]:
    last: dict[tuple[str, bytes], tuple[int, object]] = {}
    since: list[str] = []
    for event in run.events:
        if event.actor != "agent":
            last.clear()  # users and environments change things on their own
        elif event.function and not _has_worked(event):
            if event.effect != "read":
                last.clear()  # nobody knows what it did before it failed
        elif event.function:
            if event.effect == "read" and event.result is not None:
                key = (event.function, _encode(event.arguments))
                if key in last:
                    place, content = last[key]
                    between = frozenset(since[place:]) - {event.function}
                    yield Reread(event.function, between, content != event.result.content)
                last[key] = (len(since) + 1, event.result.content)
            since.append(event.function)


def _has_worked(event: Event) -> bool:
    return event.result is not None and not event.result.error


def correct_effects(run: Trajectory, writers: frozenset[str]) -> Trajectory:
    """The run with the calls of `writers` as writes; the same run where it makes none."""
    if not any(event.function in writers for event in run.events):
        return run
    events = (
        msgspec.structs.replace(event, effect="write") if event.function in writers else event for event in run.events
    )
    return msgspec.structs.replace(run, events=tuple(events))
