"""Notes about the tasks of one part of a build, as they are kept for the next build."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from contramem.contrast.observation import Observation, observe
from contramem.contrast.packet import Packet
from contramem.contrast.packet_file import PacketGroup, digest_runs
from contramem.kept_work import Work, digest_parts
from contramem.notes import PartNotes, TaskNotes, notes_of

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


class AllNotes(NamedTuple):
    """The notes about a part and about each of its tasks, by a digest of the task's runs."""

    part: PartNotes
    tasks: dict[bytes, TaskNotes]

    def encode(self) -> bytes:
        return pickle.dumps(tuple(self), pickle.HIGHEST_PROTOCOL)


def hand_out(kept: bytes, packets: Iterable[Packet]) -> AllNotes:
    """Give each packet the notes about its runs, in place of those of another part."""
    before = AllNotes(*pickle.loads(kept)) if kept else AllNotes(PartNotes(), {})
    now = AllNotes(PartNotes(before.part.answers), {})
    for packet in packets:
        task = digest_runs(packet)
        notes = now.tasks[task] = vars(packet)["notes"] = before.tasks.get(task) or TaskNotes()
        notes.part = now.part
    return now


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
