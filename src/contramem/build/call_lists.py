"""Call lists: what the passing runs of a task called, up to their last write. Small models follow such a list.

A list is kept with the Function Card of that write, and with the request that it was for: what has to be called before
a write depends on what is asked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from contramem.bank.support import CallList
from contramem.build.rules.steps import is_successful_write, working_calls
from contramem.contrast.packet import Packet, PacketRun
from contramem.retrieve.requests import request_words

MAX_CALLS = 6
"""A longer list is a plan for one task rather than a habit."""
MAX_LISTS = 60
"""Of one write. Of more, those stay whose calls most tasks have in common."""


class CallListsByWrite:
    """The lists of many tasks, by the write they end in."""

    def __init__(self, packets: Iterable[Packet]) -> None:
        self._by_write = defaultdict[str, list[CallList]](list)
        for packet in packets:
            if call_list := call_list_of(packet):
                self._by_write[call_list.calls[-1]].append(call_list)

    def lists_for(self, function: str) -> tuple[CallList, ...]:
        """Those that end in `function`; none if nobody wrote with it last."""
        lists = self._by_write.get(function, ())
        tasks = Counter(item.calls for item in lists)
        return tuple(sorted(lists, key=lambda item: (-tasks[item.calls], item.calls, item.taught_by))[:MAX_LISTS])


def call_list_of(packet: Packet) -> CallList | None:
    """The list that most passing runs have, the shorter of two. None: they write nothing, or do very much."""
    lists = Counter(_calls_up_to_last_write(run) for run in packet.runs if run.passed and run.counts)
    calls = min(lists, key=lambda calls: (-lists[calls], len(calls), calls), default=())
    if not 0 < len(calls) <= MAX_CALLS:
        return None
    words = request_words(packet.task, packet.placeholders.originals().values())
    return CallList(calls=calls, request=words, taught_by=packet.identity)


def _calls_up_to_last_write(run: PacketRun) -> tuple[str, ...]:
    """Each function once, where it was first called; the last write stands at the end."""
    steps = working_calls(run)
    writes = [number for number, step in enumerate(steps) if is_successful_write(step)]
    if not writes:
        return ()
    last = steps[writes[-1]].function
    before = dict.fromkeys(step.function for step in steps[: writes[-1]] if step.function != last)
    return (*before, last)
