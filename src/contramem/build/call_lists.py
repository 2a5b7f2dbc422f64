"""Call lists: what the passing runs of a task called, up to their last write. Small models follow such a list."""

from __future__ import annotations

from contramem.bank.support import shortest_by_write
from contramem.build.rules.steps import is_successful_write, working_calls
from contramem.contrast.packet import Packet, PacketRun

MAX_CALLS = 6
"""A longer list is a plan for one task rather than a habit."""


def call_lists_of(packet: Packet) -> tuple[tuple[str, ...], ...]:
    """For each function that a passing run wrote with last: the shortest list that ends in it."""
    lists = [_calls_up_to_last_write(run) for run in packet.runs if run.passed and run.counts]
    return shortest_by_write(tuple(calls for calls in lists if 0 < len(calls) <= MAX_CALLS))


def _calls_up_to_last_write(run: PacketRun) -> tuple[str, ...]:
    """Each function once, where it was first called; the last write stands at the end."""
    steps = working_calls(run)
    writes = [number for number, step in enumerate(steps) if is_successful_write(step)]
    if not writes:
        return ()
    last = steps[writes[-1]].function
    before = dict.fromkeys(step.function for step in steps[: writes[-1]] if step.function != last)
    return (*before, last)
