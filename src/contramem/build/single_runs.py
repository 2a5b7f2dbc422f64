"""Joins tasks that have a single run each, by kind, so that they can teach too.

A task with a single run shows no contrast. Passing and failing runs of the same kind of task are put into one packet,
as if they were attempts at one task; tasks with several runs stay as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from contramem.contrast.packet import Packet, packet_of
from contramem.study.run_set import RunSet

MIN_RUNS = 4
"""Minimum number of runs of one kind; with fewer there is nothing to compare."""
MAX_RUNS = 40
"""Maximum number of runs in one packet. A larger kind is divided."""


def put_side_by_side(packets: Sequence[Packet]) -> list[Packet]:
    """The packets, with single runs joined by kind if a kind has runs of both outcomes."""
    single = {packet.task_key: packet for packet in packets if len(packet.recorded) == 1 and not packet.is_contrastive}
    if len(single) < MIN_RUNS:
        return list(packets)
    joined, taken = list[Packet](), set[str]()
    for group in _group_by_kind(list(single.values())):
        packet = _join(group)
        if packet.is_contrastive:
            joined.append(packet)
            taken.update(member.task_key for member in group)
    return [*(packet for packet in packets if packet.task_key not in taken), *joined]


def _group_by_kind(packets: Sequence[Packet]) -> list[list[Packet]]:
    runs = RunSet.of_packets(packets)
    kinds = defaultdict[str, list[Packet]](list)
    for packet in sorted(packets, key=lambda packet: packet.task_key):
        kinds[runs.kind_of_task[packet.task_key]].append(packet)
    groups = [group for _, members in sorted(kinds.items()) for group in _cut(members)]
    return [group for group in groups if len(group) >= MIN_RUNS]


def _cut(members: list[Packet]) -> list[list[Packet]]:
    """Divide into as few equal parts as the limit allows."""
    parts = -(-len(members) // MAX_RUNS)
    return [members[start::parts] for start in range(parts)]


def _join(packets: Sequence[Packet]) -> Packet:
    """One packet of all runs. It is recognized by any of its tasks, so that no card is shown for a task that taught
    it."""
    runs = [run for packet in packets for run in packet.recorded.values()]
    packet = packet_of(runs, packets[0].placeholders.vocabulary)
    identity = tuple(dict.fromkeys(name for member in packets for name in member.identity))
    return replace(packet, identity=identity, scenario_id=None)
