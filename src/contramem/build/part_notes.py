"""Notes about the tasks of one part of a build, as they are kept for the next build."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence

import msgspec

from contramem.contrast.observation import Observation, observe
from contramem.contrast.packet import Packet
from contramem.contrast.packet_file import PacketGroup, digest_runs
from contramem.kept_work import Work, digest_parts
from contramem.notes import TaskNotes, notes_of

_STAGE = "notes"


def read_notes(work: Work, group: PacketGroup) -> bytes:
    """What the last build of such a part kept; empty if there is nothing."""
    key = _key(group)
    return work.get(_STAGE, [key]).get(key, b"")


def keep_notes(work: Work, group: PacketGroup, notes: bytes) -> None:
    work.put(_STAGE, [(_key(group), notes)])


def _key(group: PacketGroup) -> bytes:
    """Names the part, however its tasks have changed: notes are found by the runs of a task."""
    return digest_parts(group.ability, group.functions or group.most_called)


def hand_out(notes: bytes, packets: Iterable[Packet]) -> None:
    """Give each packet the notes about its runs, in place of those of another part."""
    by_task: dict[bytes, TaskNotes] = pickle.loads(notes) if notes else {}
    for packet in packets:
        vars(packet)["notes"] = by_task.get(digest_runs(packet)) or TaskNotes()


def collect(packets: Sequence[Packet]) -> bytes:
    """What was asked about the packets."""
    return pickle.dumps({digest_runs(packet): notes_of(packet) for packet in packets}, pickle.HIGHEST_PROTOCOL)


class _Observed:
    """The observations of one packet. Encoded like the packet itself when they are pickled."""

    def __init__(self, observations: list[Observation]) -> None:
        self.observations = observations

    def __reduce__(self) -> tuple[Callable[[bytes], _Observed], tuple[bytes]]:
        return _decode_observed, (msgspec.msgpack.encode(self.observations),)


_decode = msgspec.msgpack.Decoder(list[Observation]).decode


def _decode_observed(encoded: bytes) -> _Observed:
    return _Observed(_decode(encoded))


def observe_and_note(packet: Packet) -> list[Observation]:
    """Its observations; the next build finds them among its notes."""
    observed: _Observed = notes_of(packet).found.get("observed", lambda: _Observed(list(observe(packet))))
    return observed.observations
