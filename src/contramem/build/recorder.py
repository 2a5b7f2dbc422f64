"""BuildRecorder: keeps the store, the current bank and the progress of a build in step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from contramem.bank.bank import Change, Patch
from contramem.bank.card import FunctionCard
from contramem.bank.ledger import Decision, Operation, PastDecision
from contramem.bank.store import Store
from contramem.build.author import Author, Candidate
from contramem.build.evidence import Provenance
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
    """By the check that refused it."""
    retired: Counter[str] = field(default_factory=Counter)
    """Lessons that the runs as a whole do not support, by reason."""
    packets: int = 0
    deltas: int = 0
    unchanged: int = 0
    """Packets and functions that an earlier build had already done."""

    @property
    def changed(self) -> bool:
        return bool(self.decisions or self.functions or self.refused)


class BuildRecorder:
    """Serves one build by one author. Create it inside `store.writing(...)`."""

    def __init__(self, store: Store, author: Author) -> None:
        self._store, self._author = store, author
        self._progress = store.progress()
        self.bank = store.bank()
        self.report = BuildReport()
        self._past: dict[str, list[PastDecision]] = {}

    @property
    def kept_by(self) -> str:
        """The author as progress records it: another author or version has to do everything itself."""
        by = self._author.attribution
        return f"{by.name}-{by.version}"

    def look_up(self, step: str) -> str:
        """What was last recorded about a step of the build. Empty: it was not started."""
        return self._progress.get(step, "")

    def decisions_on(self, card_id: str) -> list[PastDecision]:
        """Everything that changed or named a card, oldest first."""
        if card_id not in self._past:  # decisions of this build are added as they are recorded
            self._past[card_id] = list(self._store.past(card_id))
        return self._past[card_id]

    def accept(
        self,
        operation: Operation,
        candidate: Candidate | FunctionCard,
        reason: str,
        *,
        ground: Provenance | None = None,
        patch: Patch | None = None,
        changes: tuple[Change, ...] = (),
    ) -> Decision:
        """A decision of the author, to be recorded. Function Cards have no provenance: they rest on all packets."""
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

    def refuse(
        self,
        refusals: Sequence[Refusal],
        candidate: Candidate | FunctionCard | None = None,
        *,
        ground: Provenance | None = None,
        patch: Patch | None = None,
    ) -> Decision:
        """A refused proposal of the author. No candidate: the proposal was unreadable."""
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
        """Record decisions and progress in one transaction, with the cost of the author's work."""
        spent = self._author.spent()
        if decisions and spent.usage.model_calls:
            decisions = (decisions[0].model_copy(update={"usage": spent.usage}), *decisions[1:])
        self._store.record(*decisions, progress=progress, charged=spent.calls if decisions else ())
        self._progress.update(progress)
        for decision in decisions:
            self._remember(decision)
            self.bank = self.bank.with_changes(decision.changes)
            if decision.accepted and decision.operation:
                counts = self.report.decisions if decision.ability else self.report.functions
                counts[decision.operation] += 1

    def _remember(self, decision: Decision) -> None:
        past = PastDecision.of(decision)
        for card_id in decision.card_ids:
            if card_id not in self.bank.entries:  # a new card has no earlier decisions
                self._past.setdefault(card_id, [])
            if card_id in self._past:
                self._past[card_id].append(past)


def digest_of(value: object) -> str:
    """A short, stable digest of a value's whole content."""
    return digest(msgspec.json.encode(value, order="deterministic").decode())
