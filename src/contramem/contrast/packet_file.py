"""PacketFile: packets in a temporary file, so that a build has the packets of one ability in memory, not all of
them."""

from __future__ import annotations

import pickle
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from tempfile import SpooledTemporaryFile
from typing import NamedTuple, TypeVar, cast, overload

import msgspec

from contramem.contrast.conventions import SharedValue
from contramem.contrast.packet import Packet, PacketRun, packet_of
from contramem.contrast.signal import Signal
from contramem.contrast.step import find_actions
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.pool import PoolShard
from contramem.traces.trajectory import Trajectory, digest

IN_MEMORY_BYTES = 8 << 20
MAX_HELD = 1_000
"""How many packets stay decoded: as many as an ability has at most, so that each is decoded once."""
MAX_TASKS_OF_FUNCTION = 300
"""How many tasks that call a function its card is made from: a thousand calls show what ten thousand do. They are drawn
by a digest of their keys, so that the same tasks give the same card."""

_decode_runs = msgspec.msgpack.Decoder(tuple[PacketRun, ...]).decode
_decode_recorded = msgspec.msgpack.Decoder(dict[str, Trajectory]).decode
_decode_signals = msgspec.msgpack.Decoder(tuple[Signal, ...]).decode


Finding = TypeVar("Finding")


class PacketRow(NamedTuple):
    """A packet as it is passed between processes and stored on disk."""

    ability: str
    called: tuple[str, ...]
    """The functions with at least one call in the packet that teaches something."""
    encoded: bytes
    content: str
    """The packet's `content_digest`."""
    task_key: str

    def decode(self, vocabulary: Vocabulary) -> Packet:
        return decode_packet(self.encoded, vocabulary)


def keep_finding(packet: Packet, name: str, find: Callable[[Packet], Finding]) -> Finding:
    """What a later stage finds in the packet. It is found once and encoded with the packet."""

    def load() -> Finding:
        if name in packet.findings:
            return cast(Finding, pickle.loads(packet.findings[name]))
        found = find(packet)
        packet.findings[name] = pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
        return found

    return packet.memo.get(("finding", name), load)


def encode_packet(packet: Packet) -> bytes:
    """Encode a packet for another process. Structs are encoded as msgpack: pickle would lose which fields have their
    default value, and so change the packet's digest."""
    runs = [msgspec.structs.replace(run, actions=()) for run in packet.runs]
    parts = [msgspec.msgpack.encode(part) for part in (runs, packet.recorded, packet.signals)]
    bare = replace(packet, runs=(), recorded={}, signals=())
    return pickle.dumps((bare, *parts, packet.content_digest), pickle.HIGHEST_PROTOCOL)


def decode_packet(encoded: bytes, vocabulary: Vocabulary) -> Packet:
    bare, runs, recorded, signals, content_digest = pickle.loads(encoded)
    whole = tuple(msgspec.structs.replace(run, actions=find_actions(run.steps)) for run in _decode_runs(runs))
    packet: Packet = replace(
        bare,
        runs=whole,
        recorded=_decode_recorded(recorded),
        signals=_decode_signals(signals),
        conventions=_count_again(bare.conventions, vocabulary),
    )
    packet.placeholders.use(vocabulary)
    packet.memo.get("content digest", lambda: content_digest)
    return packet


def _count_again(conventions: Iterable[SharedValue], vocabulary: Vocabulary) -> tuple[SharedValue, ...]:
    """Update the counts from this vocabulary: the packet may have been cached when there were fewer runs."""
    counted = (vocabulary.conventions.of(value.function, value.argument, value.value) for value in conventions)
    return tuple(sorted((convention for convention in counted if convention is not None), key=str))


class ContrastPlan(NamedTuple):
    """How packets are made."""

    vocabulary: Vocabulary
    study: Callable[[Packet], object] | None = None
    """Called with each packet where it is made, to add to its findings."""


def contrast_shard(plan: ContrastPlan, shard: PoolShard) -> list[PacketRow]:
    """Make the packets of some tasks. A job for an engine."""
    return [_make_row(plan, packet_of(runs, plan.vocabulary)) for runs in shard.decode()]


def _make_row(plan: ContrastPlan, packet: Packet) -> PacketRow:
    if plan.study is not None:
        plan.study(packet)
    called = {step.function for run in packet.runs for step in run.actions if step.function}
    encoded = encode_packet(packet)
    return PacketRow(packet.ability, tuple(sorted(called)), encoded, packet.content_digest, packet.task_key)


def learn_shard(_: None, shard: PoolShard) -> Vocabulary:
    """Learn the vocabulary of some tasks. A job for an engine."""
    return Vocabulary(shard.decode())


class _Place(NamedTuple):
    """The position of a packet in the file, and the keys it is grouped by."""

    ability: str
    called: tuple[str, ...]
    content: str
    task_key: str
    offset: int
    length: int


def _draw(numbered: tuple[int, _Place]) -> tuple[str, str]:
    """The order in which packets are drawn from many: the same whatever else there is."""
    key = numbered[1].task_key
    return digest(key), key


class PacketGroup(NamedTuple):
    """Packets that are processed together, by their numbers in the file."""

    numbers: tuple[int, ...]
    ability: str = ""
    functions: tuple[str, ...] = ()
    """The functions whose cards they make, if the group is not an ability."""
    content: str = ""
    """A digest of the packets, if it is known without reading them."""

    @property
    def size(self) -> int:
        """How many functions or tasks are decided on."""
        return len(self.functions or self.numbers)


class PacketFile(Sequence[Packet]):
    """Packets in insertion order. Recently used ones stay decoded."""

    def __init__(self, rows: Iterable[PacketRow], vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._spool = SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115  (lives as long as this does)
        self._places: list[_Place] = []
        self._held: OrderedDict[int, Packet] = OrderedDict()
        offset = 0
        for row in rows:
            self._spool.write(row.encoded)
            self._places.append(_Place(row.ability, row.called, row.content, row.task_key, offset, len(row.encoded)))
            offset += len(row.encoded)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Packet: ...
    @overload
    def __getitem__(self, index: slice) -> list[Packet]: ...
    def __getitem__(self, index: int | slice) -> Packet | list[Packet]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        packet = self._held.get(number)
        if packet is None:
            packet = self._held[number] = decode_packet(self.read_encoded(number), self.vocabulary)
            if len(self._held) > MAX_HELD:
                self._held.popitem(last=False)
        else:
            self._held.move_to_end(number)
        return packet

    def read_encoded(self, number: int) -> bytes:
        """A packet in its encoded form, as stored in the file."""
        place = self._places[number]
        self._spool.seek(place.offset)
        return self._spool.read(place.length)

    def by_ability(self) -> list[PacketGroup]:
        """The packets of each ability, abilities by name."""
        numbers: dict[str, list[int]] = defaultdict(list)
        for number, place in enumerate(self._places):
            numbers[place.ability].append(number)
        return [self._group(packets, ability=ability) for ability, packets in sorted(numbers.items())]

    def by_function(self) -> list[PacketGroup]:
        """The packets from which the card of each function is made. Functions that are called in the same packets form
        one group, as long as all their packets fit in memory."""
        numbers: dict[str, list[int]] = defaultdict(list)
        for number, place in sorted(enumerate(self._places), key=_draw):
            for function in place.called:
                if len(numbers[function]) < MAX_TASKS_OF_FUNCTION:
                    numbers[function].append(number)
        groups: list[PacketGroup] = []
        functions: list[str] = []
        together: set[int] = set()
        for function, packets in sorted(numbers.items()):
            if functions and len(together | set(packets)) > MAX_HELD:
                groups.append(self._group(together, functions=functions))
                functions, together = [], set()
            functions.append(function)
            together |= set(packets)
        return [*groups, self._group(together, functions=functions)] if functions else groups

    def _group(self, numbers: Iterable[int], ability: str = "", functions: Iterable[str] = ()) -> PacketGroup:
        chosen = tuple(sorted(numbers))
        content = digest("\n".join(self._places[number].content for number in chosen))
        return PacketGroup(chosen, ability, tuple(functions), content)

    @property
    def task_keys(self) -> frozenset[str]:
        return frozenset(place.task_key for place in self._places)

    def close(self) -> None:
        """Release the temporary file."""
        self._spool.close()

    def __enter__(self) -> PacketFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
