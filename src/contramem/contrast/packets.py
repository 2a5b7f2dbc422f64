"""The vocabulary and the packets of a collection, computed some tasks at a time on an engine.

Packets lie in the cache of the collection: a build has those of one ability in memory, and the next one makes only
those whose runs changed.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from typing import NamedTuple, TypeVar, cast, overload

import msgspec

from contramem.collection.cache import Cache, Job, digest_parts
from contramem.collection.runs import Collection, Shard
from contramem.contrast.conventions import SharedValue
from contramem.contrast.packet import Packet, PacketRun, packet_of
from contramem.contrast.signal import Signal
from contramem.contrast.step import find_actions
from contramem.contrast.vocabulary import TRUST, Trust, Vocabulary
from contramem.engine import SERIAL, Engine
from contramem.errors import UsageError
from contramem.progress import Progress, no_progress
from contramem.traces.trajectory import Trajectory, digest

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
    """A packet as it is passed between processes and cached."""

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
    counted = (vocabulary.shared(value.function, value.argument, value.value) for value in conventions)
    return tuple(sorted((convention for convention in counted if convention is not None), key=str))


class ContrastPlan(NamedTuple):
    """How packets are made."""

    vocabulary: Vocabulary
    study: Callable[[Packet], object] | None = None
    """Called with each packet where it is made, to add to its findings."""


def contrast_shard(plan: ContrastPlan, shard: Shard) -> list[PacketRow]:
    """Make the packets of some tasks. A job for an engine."""
    return [_make_row(plan, packet_of(runs, plan.vocabulary)) for runs in shard.decode()]


def _make_row(plan: ContrastPlan, packet: Packet) -> PacketRow:
    if plan.study is not None:
        plan.study(packet)
    called = {step.function for run in packet.runs for step in run.actions if step.function}
    encoded = encode_packet(packet)
    return PacketRow(packet.ability, tuple(sorted(called)), encoded, packet.content_digest, packet.task_key)


def learn_shard(trust: Trust, shard: Shard) -> Vocabulary:
    """Learn the vocabulary of some tasks. A job for an engine."""
    return Vocabulary(shard.decode(), trust)


class _Place(NamedTuple):
    """Where a packet is in the cache, and what it is grouped by."""

    ability: str
    called: tuple[str, ...]
    content: str
    task_key: str
    key: bytes


def _draw(numbered: tuple[int, _Place]) -> tuple[str, str]:
    """The order in which packets are drawn from many: the same whatever else there is."""
    key = numbered[1].task_key
    return digest(key), key


class PacketGroup(NamedTuple):
    """Packets that are processed together, by their numbers."""

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


class Packets(Sequence[Packet]):
    """Packets by task key. Recently used ones stay decoded."""

    def __init__(self, cache: Cache, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._cache = cache
        self._places: list[_Place] = []
        self._held: OrderedDict[int, Packet] = OrderedDict()

    def store(self, key: bytes, row: PacketRow) -> None:
        """Add a packet, and cache it."""
        self._cache.put(_STAGE, key, pickle.dumps(tuple(row), pickle.HIGHEST_PROTOCOL))
        self.add(key, row)

    def add(self, key: bytes, row: PacketRow) -> None:
        """Add a packet that is in the cache."""
        self._places.append(_Place(row.ability, row.called, row.content, row.task_key, key))

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
            packet = self._held[number] = self._load(number)
            if len(self._held) > MAX_HELD:
                self._held.popitem(last=False)
        else:
            self._held.move_to_end(number)
        return packet

    def _load(self, number: int) -> Packet:
        row = load_row(self._cache, self._places[number].key)
        if row is None:
            raise UsageError("a packet that was just made is gone: somebody changed the file of runs. Start again.")
        return decode_packet(row.encoded, self.vocabulary)

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


def learn_vocabulary(
    collection: Collection,
    engine: Engine = SERIAL,
    on_progress: Progress = no_progress,
    trust: Trust = TRUST,
) -> Vocabulary:
    """Learn from all runs which values are words of the interface."""
    groups = list(collection.groups())
    jobs = (Job(digest_parts(group.content, trust), partial(collection.read_tasks, group.keys)) for group in groups)
    total = sum(len(group.keys) for group in groups)

    def parts() -> Iterator[Vocabulary]:
        done = 0
        for group, part in zip(groups, collection.cache.compute(engine, learn_shard, jobs, trust), strict=True):
            done += len(group.keys)
            on_progress("vocabulary", done, total)
            yield part

    return Vocabulary.combine(parts(), trust)


def contrast_selected(
    collection: Collection,
    task_keys: Sequence[str],
    vocabulary: Vocabulary,
    engine: Engine = SERIAL,
    on_progress: Progress = no_progress,
    study: Callable[[Packet], object] | None = None,
) -> Packets:
    """Put the runs of each of these tasks side by side, with values as placeholders and the signals that separate the
    runs. `study` is called with each packet where it is made; what it adds to the packet's findings is cached with it.
    The packets are read from the collection, which must stay open."""
    plan, cache, packets = ContrastPlan(vocabulary, study), collection.cache, Packets(collection.cache, vocabulary)
    keys = _cache_keys(collection, task_keys, vocabulary)
    cached = cache.find(_STAGE, list(keys.values())) if cache.lasting else set[bytes]()
    shards = _shards(collection, [task for task in task_keys if keys[task] not in cached], on_progress)
    made = chain.from_iterable(engine.map(contrast_shard, shards, plan))
    for task, key in keys.items():
        row = load_row(cache, key) if key in cached else None
        if row is not None:
            packets.add(key, row)
        elif key in cached:  # it is damaged
            packets.store(key, contrast_shard(plan, collection.read_tasks([task]))[0])
        else:
            packets.store(key, next(made))
    return packets


_STAGE = "contrast"
_numbers = count()


def load_row(cache: Cache, key: bytes) -> PacketRow | None:
    """A packet from the cache."""
    value = cache.get(_STAGE, key)
    return None if value is None else PacketRow(*pickle.loads(value))


def _cache_keys(collection: Collection, task_keys: Sequence[str], vocabulary: Vocabulary) -> dict[str, bytes]:
    """By task: a digest of all that its packet is made from. In a temporary collection, any name will do."""
    if not collection.cache.lasting:
        number = next(_numbers)
        return {task: f"{number} {task}".encode() for task in task_keys}
    digest_for = vocabulary.digest_for
    return {task: collection.digest(task) + digest_for(collection.functions(task)) for task in task_keys}


def _shards(collection: Collection, task_keys: Sequence[str], on_progress: Progress) -> Iterator[Shard]:
    done = 0
    for shard in collection.shards(task_keys):
        yield shard
        done += len(shard.tasks)
        on_progress("contrasting", done, len(task_keys))


def contrast_tasks(collection: Collection, vocabulary: Vocabulary, engine: Engine = SERIAL) -> Iterator[Packet]:
    """The packet of each task, one at a time, ordered by task key."""
    for rows in engine.map(contrast_shard, collection.shards(), ContrastPlan(vocabulary)):
        yield from (row.decode(vocabulary) for row in rows)


def contrast_all(collection: Collection, vocabulary: Vocabulary, engine: Engine = SERIAL) -> list[Packet]:
    """The packets of all tasks in one list. Memory grows with the number of tasks."""
    return list(contrast_tasks(collection, vocabulary, engine))
