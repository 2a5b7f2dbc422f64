"""Selection: of an ability with very many tasks, those that a build learns from.

Past some hundred tasks of one kind, more of them teach nothing new and would only fill the memory. Tasks are drawn
evenly from every kind there is (the functions that its runs call, and whether some passed and some failed), within a
kind by a digest of their keys. So rare kinds are kept, rates within a kind stay as they are, and the same runs give
the same selection in whatever order they come.
"""

from __future__ import annotations

import pickle
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import msgspec

from contramem.contrast.packet import Packet, PacketRun, find_actions, packet_of
from contramem.contrast.signal import Signal
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.pool import PoolShard
from contramem.traces.trajectory import Trajectory, digest

MAX_TASKS = 2_000
"""Of one ability. More than most collections have that we know; memory and time stay the same beyond it."""


class PacketRow(NamedTuple):
    """A packet as it travels between processes, with what selecting it takes."""

    ability: str
    kind: str
    is_contrastive: bool
    task_key: str
    encoded: bytes

    def decode(self) -> Packet:
        return decode_packet(self.encoded)


_decode_runs = msgspec.msgpack.Decoder(tuple[PacketRun, ...]).decode
_decode_recorded = msgspec.msgpack.Decoder(dict[str, Trajectory]).decode
_decode_signals = msgspec.msgpack.Decoder(tuple[Signal, ...]).decode


def encode_packet(packet: Packet) -> bytes:
    """A packet for another process. Structs go as msgpack: pickle would lose which fields have their default, and with
    it the digest of the packet."""
    runs = [msgspec.structs.replace(run, actions=()) for run in packet.runs]
    parts = [msgspec.msgpack.encode(part) for part in (runs, packet.recorded, packet.signals)]
    bare = replace(packet, runs=(), recorded={}, signals=())
    return pickle.dumps((bare, *parts), pickle.HIGHEST_PROTOCOL)


def decode_packet(encoded: bytes) -> Packet:
    bare, runs, recorded, signals = pickle.loads(encoded)
    whole = tuple(msgspec.structs.replace(run, actions=find_actions(run.steps)) for run in _decode_runs(runs))
    packet: Packet = replace(bare, runs=whole, recorded=_decode_recorded(recorded), signals=_decode_signals(signals))
    return packet


def contrast_shard(vocabulary: Vocabulary, shard: PoolShard) -> list[PacketRow]:
    """The packets of some tasks: a job for an engine."""
    return [_row(packet_of(runs, vocabulary)) for runs in shard.decode()]


def learn_shard(_: None, shard: PoolShard) -> Vocabulary:
    """The vocabulary of some tasks: a job for an engine."""
    return Vocabulary(shard.decode())


def _row(packet: Packet) -> PacketRow:
    called = sorted({step.function for run in packet.runs for step in run.actions})
    kind = digest("\n".join([str(bool(packet.passing)), str(bool(packet.failing)), *called]))
    return PacketRow(packet.ability, kind, packet.is_contrastive, packet.task_key, encode_packet(packet))


class Selection:
    """Takes packets one by one and keeps what is selected of those it has seen."""

    def __init__(self, max_tasks: int | None = MAX_TASKS) -> None:
        self._max_tasks = max_tasks
        self._rows: dict[str, list[PacketRow]] = defaultdict(list)
        self.tasks: Counter[str] = Counter()
        """All that were seen, by ability."""
        self.contrastive = 0

    def add(self, row: PacketRow) -> None:
        rows = self._rows[row.ability]
        rows.append(row)
        self.tasks[row.ability] += 1
        self.contrastive += row.is_contrastive
        if self._max_tasks is not None and len(rows) >= 2 * self._max_tasks:
            # What is dropped now would be dropped at the end too: more rows only move it further back.
            self._rows[row.ability] = _select(rows, self._max_tasks)

    def left_out(self) -> dict[str, int]:
        """By ability: how many tasks are not learned from."""
        if self._max_tasks is None:
            return {}
        return {ability: seen - self._max_tasks for ability, seen in self.tasks.items() if seen > self._max_tasks}

    def packets(self) -> list[Packet]:
        """What is selected, in the order of task keys. Empties the selection, so that nothing is held twice."""
        rows = sorted(chain(*self._selected()), key=lambda row: row.task_key, reverse=True)
        self._rows.clear()
        return [rows.pop().decode() for _ in range(len(rows))]

    def _selected(self) -> Iterator[list[PacketRow]]:
        for rows in self._rows.values():
            yield rows if self._max_tasks is None else _select(rows, self._max_tasks)


def _select(rows: Iterable[PacketRow], max_tasks: int) -> list[PacketRow]:
    """The first of each kind, then the second of each kind, and so on."""
    by_kind: dict[str, list[PacketRow]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (digest(row.task_key), row.task_key)):
        by_kind[row.kind].append(row)
    ranked = [(rank, kind, row) for kind, of_kind in by_kind.items() for rank, row in enumerate(of_kind)]
    return [row for *_, row in sorted(ranked)[:max_tasks]]
