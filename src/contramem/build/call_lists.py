"""Call lists: what the passing runs of a task called, up to their last write. Small models follow such a list.

A list is stored with the Function Card of that write, together with the request it was for: what must be called before
a write depends on the request.
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
"""Per write. If there are more, the lists whose calls most tasks share are kept."""


class CallListsByWrite:
    """The lists of many tasks, by the write they end with."""

    def __init__(self, packets: Iterable[Packet]) -> None:
        self._by_write = defaultdict[str, list[CallList]](list)
        for packet in packets:
            if call_list := call_list_of(packet):
                self._by_write[call_list.calls[-1]].append(call_list)

    def lists_for(self, function: str) -> tuple[CallList, ...]:
        """The lists that end with `function`; none if it was never the last write."""
        lists = self._by_write.get(function, ())
        tasks = Counter(item.calls for item in lists)
        return tuple(sorted(lists, key=lambda item: (-tasks[item.calls], item.calls, item.taught_by))[:MAX_LISTS])


def call_list_of(packet: Packet) -> CallList | None:
    """The list that most passing runs share; on a tie, the shorter. None: they write nothing, or make too many
    calls."""
    calls, words = _find_calls(packet)
    return CallList(calls=calls, request=words, taught_by=packet.identity) if calls else None


def _find_calls(packet: Packet) -> tuple[tuple[str, ...], str]:
    """The calls of the list and the words of the request; empty if there is no list."""
    lists = Counter(_calls_up_to_last_write(run) for run in packet.runs if run.passed and run.counts)
    calls = min(lists, key=lambda calls: (-lists[calls], len(calls), calls), default=())
    if not 0 < len(calls) <= MAX_CALLS:
        return (), ""
    return calls, request_words(packet.task, packet.placeholders.originals().values())


def _calls_up_to_last_write(run: PacketRun) -> tuple[str, ...]:
    """Each function once, in order of its first call; the last write comes last."""
    steps = working_calls(run)
    writes = [number for number, step in enumerate(steps) if is_successful_write(step)]
    if not writes:
        return ()
    last = steps[writes[-1]].function
    before = dict.fromkeys(step.function for step in steps[: writes[-1]] if step.function != last)
    return (*before, last)
