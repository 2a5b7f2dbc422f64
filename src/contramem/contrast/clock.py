"""The clock of a task: when each step happened, in seconds after the first. Kept only for tasks in which some run
waits.

Elsewhere, times only show how fast a model answered. That teaches nothing and would separate runs that did the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contramem.traces.trajectory import Event, Trajectory

SECONDS = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_NUMBERS = "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty".split()
_VALUES = {**{word: number for number, word in enumerate(_NUMBERS[:12], 1)}, "fifteen": 15, "twenty": 20, "thirty": 30,
           "a": 1, "an": 1, "half an": 0.5}  # fmt: skip
_DURATION = re.compile(
    rf"\b(\d+(?:\.\d+)?|half an|an?|{'|'.join(_NUMBERS)})[ -]({'|'.join(SECONDS)})s?\b", re.IGNORECASE
)


class Duration(NamedTuple):
    """A length of time named in a text."""

    text: str
    seconds: float


def has_clock(runs: Iterable[Trajectory]) -> bool:
    """Does some run wait, in a trace that records times?"""
    return any(_waits(event) and event.time is not None for run in runs for event in run.events)


def _waits(event: Event) -> bool:
    return event.actor == "agent" and (event.kind == "wait" or event.effect == "wait")


def seconds_since_start(run: Trajectory) -> dict[int, float]:
    """By position; events without a time are left out."""
    times = [(event.position, event.time) for event in run.events if event.time is not None]
    return {position: round(time - times[0][1], 1) for position, time in times}


def durations_in(text: str) -> Iterator[Duration]:
    """The lengths of time that a request names (deadlines, intervals, waits), each once."""
    seen = set()
    for match in _DURATION.finditer(text):
        number, unit = match[1].lower(), match[2].lower()
        seconds = (_VALUES[number] if number in _VALUES else float(number)) * SECONDS[unit]
        if seconds not in seen:
            seen.add(seconds)
            yield Duration(match[0], seconds)
