"""Provenance: the runs behind a decision about a skill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contramem.bank.bank import CardSupport
from contramem.bank.ledger import RunRef
from contramem.contrast.packet import Packet
from contramem.contrast.signal import Cite
from contramem.retrieve.requests import request_words
from contramem.traces.task_key import TaskKey


class Provenance(NamedTuple):
    """What a decision about a skill is based on: a packet, and the events that show why."""

    packet: Packet
    cites: Sequence[Cite] = ()
    also: tuple[Provenance, ...] = ()
    """Other tasks that show the same, if the lesson was found across tasks."""

    @property
    def support(self) -> CardSupport:
        """What it adds to a card's support."""
        shown = (self, *self.also)
        return CardSupport(
            tasks=tuple(each.packet.task_key for each in shown),
            sources=tuple(each.packet.provenance[cite.run].source for each in shown for cite in each.cites),
            taught_by=tuple(name for each in shown for name in each.packet.identity),
            request_words=tuple(map(_request_words, shown)),
        )

    @property
    def runs(self) -> tuple[RunRef, ...]:
        """The cited runs, with the events that show it."""
        return tuple(run for each in (self, *self.also) for run in _cited_runs(each))

    def leave_out(self, tasks: Sequence[str]) -> Provenance:
        """The same without other tasks that are among these, in whatever words."""
        known = name_tasks(tasks)
        return self._replace(
            also=tuple(each for each in self.also if known.isdisjoint(name_tasks([each.packet.task_key])))
        )


def name_tasks(keys: Sequence[str]) -> set[str]:
    """The tasks of these keys. One task may have several, if it was put in several ways."""
    return {TaskKey.parse(key).task for key in keys}


def _request_words(shown: Provenance) -> str:
    return request_words(shown.packet.task, shown.packet.placeholders.originals().values())


def _cited_runs(shown: Provenance) -> Iterator[RunRef]:
    packet = shown.packet
    events: dict[str, list[int]] = {}
    for cite in shown.cites:
        events.setdefault(cite.run, []).append(cite.position)
    outcomes = {run.letter: run.passed for run in packet.runs}
    for letter, positions in events.items():
        yield RunRef(
            task=packet.task_key,
            source=packet.provenance[letter].source,
            run=packet.provenance[letter].run,
            passed=outcomes[letter],
            origin=str(packet.provenance[letter].origin),
            events=tuple(sorted(set(positions))),
        )
