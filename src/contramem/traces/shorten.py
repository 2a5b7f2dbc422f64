"""Shorten: a run of very many events is read in part, because the cost of learning from it grows with each of them."""

from __future__ import annotations

import msgspec

from contramem.traces.trajectory import Event, Trajectory

MAX_EVENTS = 4_000
"""Of one run. Three quarters are kept from its beginning and one from its end."""


def shorten(trajectory: Trajectory, max_events: int = MAX_EVENTS) -> Trajectory:
    """The beginning and the end of a run that has more events, with a note of how many are missing between them."""
    left_out = len(trajectory.events) - max_events
    if left_out <= 0:
        return trajectory
    first = max_events * 3 // 4
    gap = trajectory.events[first]
    note = Event(gap.position, "environment", "notification", f"{left_out} events of this run were left out here.")
    events = (*trajectory.events[:first], note, *trajectory.events[first + left_out + 1 :])
    return msgspec.structs.replace(trajectory, events=events)
