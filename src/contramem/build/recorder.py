"""BuildRecorder: the store that a build writes, the bank as it stands and how far the build has come, in step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from contramem.bank.bank import Change
from contramem.bank.card import FunctionCard
from contramem.bank.ledger import Decision, Operation, RunRef
from contramem.bank.patch import Patch
from contramem.bank.store import Store
from contramem.bank.support import CardSupport
from contramem.build.author import Author, Candidate
from contramem.build.call_lists import call_lists_of
from contramem.contrast.packet import Packet
from contramem.contrast.signal import Cite
from contramem.retrieve.requests import request_words
from contramem.traces.trajectory import digest
from contramem.validate.verdict import Refusal


@dataclass
class BuildReport:
    """What a build did."""

    decisions: Counter[str] = field(default_factory=Counter)
    """Accepted decisions on skills, by operation."""
    functions: Counter[str] = field(default_factory=Counter)
    """Accepted decisions on Function Cards, by operation."""
    refused: Counter[str] = field(default_factory=Counter)
    """By the check that refused."""
    packets: int = 0
    deltas: int = 0
    unchanged: int = 0
    """Packets and functions that an earlier build had done already."""

    @property
    def changed(self) -> bool:
        return bool(self.decisions or self.functions or self.refused)


class Provenance(NamedTuple):
    """What a decision on a skill rests on: one packet, and the events of it that show why."""

    packet: Packet
    cites: Sequence[Cite] = ()

    @property
    def support(self) -> CardSupport:
        """What it adds to a card's support."""
        packet = self.packet
        sources = {packet.provenance[cite.run].source for cite in self.cites}
        words = request_words(packet.task, packet.placeholders.originals().values())
        return CardSupport(
            tasks=(packet.task_key,),
            sources=tuple(sources),
            taught_by=packet.identity,
            request_words=(words,),
            call_lists=call_lists_of(packet),
        )

    @property
    def runs(self) -> tuple[RunRef, ...]:
        """The runs that are cited, with the events that show it."""
        packet = self.packet
        events: dict[str, list[int]] = {}
        for cite in self.cites:
            events.setdefault(cite.run, []).append(cite.position)
        outcomes = {run.letter: run.passed for run in packet.runs}
        return tuple(
            RunRef(
                task=packet.task_key,
                source=packet.provenance[letter].source,
                run=packet.provenance[letter].run,
                passed=outcomes[letter],
                origin=str(packet.provenance[letter].origin),
                events=tuple(sorted(set(positions))),
            )
            for letter, positions in events.items()
        )


class BuildRecorder:
    """Kept for one build by one author. Made inside `store.writing(...)`."""

    def __init__(self, store: Store, author: Author) -> None:
        self._store, self._author = store, author
        self._progress = store.progress()
        self.bank = store.bank()
        self.report = BuildReport()

    @property
    def kept_by(self) -> str:
        """The author, as progress names it: another one, or another version, has to do everything itself."""
        by = self._author.attribution
        return f"{by.name}-{by.version}"

    def reached(self, step: str) -> str:
        """What was last noted about a step of the build. Empty: it was not begun."""
        return self._progress.get(step, "")

    def decisions_on(self, card_id: str) -> list[Decision]:
        """All that changed or named a card, oldest first."""
        return [entry.decision for entry in self._store.ledger(card_id)]

    def accepted(
        self,
        operation: Operation,
        candidate: Candidate | FunctionCard,
        reason: str,
        *,
        ground: Provenance | None = None,
        patch: Patch | None = None,
        changes: tuple[Change, ...] = (),
    ) -> Decision:
        """A decision of the author's, to be recorded. Function Cards have no ground: they rest on all packets."""
        return Decision(
            operation=operation,
            reason=reason,
            by=self._author.attribution,
            ability=ground.packet.ability if ground else None,
            candidate=candidate.delta if isinstance(candidate, Candidate) else candidate,
            rule=candidate.rule if isinstance(candidate, Candidate) else None,
            patch=patch,
            changes=changes,
            packet=ground.packet.content_digest if ground else None,
            runs=ground.runs if ground else (),
        )

    def refused(
        self,
        refusals: Sequence[Refusal],
        candidate: Candidate | FunctionCard | None = None,
        *,
        ground: Provenance | None = None,
        patch: Patch | None = None,
    ) -> Decision:
        """What the author proposed, turned down. No candidate: there was none that could be read."""
        self.report.refused.update({refusal.check for refusal in refusals})
        return Decision(
            operation=patch.operation if patch else None,
            accepted=False,
            reason=" ".join(str(refusal) for refusal in refusals),
            by=self._author.attribution,
            ability=ground.packet.ability if ground else None,
            candidate=candidate.delta if isinstance(candidate, Candidate) else candidate,
            rule=candidate.rule if isinstance(candidate, Candidate) else None,
            patch=patch,
            packet=ground.packet.content_digest if ground else None,
            runs=ground.runs if ground else (),
        )

    def record(self, *decisions: Decision, progress: Mapping[str, str]) -> None:
        """Write decisions and how far the build has come in one transaction, with what the author's work cost."""
        spent = self._author.spent()
        if decisions and spent.usage.model_calls:
            decisions = (decisions[0].model_copy(update={"usage": spent.usage}), *decisions[1:])
        self._store.record(*decisions, progress=progress, charged=spent.calls if decisions else ())
        self._progress.update(progress)
        for decision in decisions:
            self.bank = self.bank.changed(decision.changes)
            if decision.accepted and decision.operation:
                counts = self.report.decisions if decision.ability else self.report.functions
                counts[decision.operation] += 1


def digest_of(value: object) -> str:
    """A short, stable name for all that a value holds."""
    return digest(msgspec.json.encode(value, order="deterministic").decode())
