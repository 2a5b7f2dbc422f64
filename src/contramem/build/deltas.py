"""DeltasFrom: lessons and Function Cards from another store's ledger, for a bank that differs only in curation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from contramem.bank.bank import Bank
from contramem.bank.card import FunctionCard, SkillDelta
from contramem.bank.ledger import Attribution, Decision, LedgerEntry
from contramem.build.author import Author, AuthorCost, Candidate, Curation
from contramem.build.rules.kinds.convention import Convention
from contramem.contrast.observation import Observation
from contramem.contrast.packet import Packet
from contramem.contrast.signal import Cite
from contramem.errors import UsageError
from contramem.traces.trajectory import Tool


class DeltasFrom:
    """Looks up earlier reflections, refused deltas included, instead of reflecting; curates as `curator` does."""

    def __init__(self, ledger: Iterable[LedgerEntry], curator: Author, where: str) -> None:
        self._curator = curator
        self._where = where
        self._cards: dict[str, FunctionCard] = {}
        by_packet = defaultdict[str, dict[str, list[Decision]]](lambda: defaultdict(list))
        for entry in ledger:
            decision = entry.decision
            if isinstance(decision.candidate, FunctionCard):
                self._cards[decision.candidate.tool] = decision.candidate
            elif isinstance(decision.candidate, SkillDelta) and decision.packet:
                by_packet[decision.packet][str(decision.by)].append(decision)
        # If several authors reflected on a packet, the last one counts.
        self._deltas = {packet: list(authors.values())[-1] for packet, authors in by_packet.items()}
        names = sorted({str(decision.by) for decisions in self._deltas.values() for decision in decisions})
        by_model = any(decision.by.kind == "model" for decisions in self._deltas.values() for decision in decisions)
        self.attribution = Attribution(
            # The author of the words, which decides how they are reassessed.
            kind="model" if by_model else curator.attribution.kind,
            name=curator.attribution.name,
            version=f"{curator.attribution.version}, deltas of {' and '.join(names) or 'nobody'}",
        )

    def check(self, packets: Sequence[Packet]) -> None:
        """Raise an error unless the store has learned from some of exactly these runs."""
        if not any(packet.content_digest in self._deltas for packet in packets):
            raise UsageError(
                f"--deltas-from {self._where}: has no delta for any of these {len(packets)} tasks. Give the same runs "
                "that it was built from, with the same --sources, --rollouts and --ability."
            )

    def build_function(
        self, function: str, observations: Sequence[Observation], tool: Tool | None
    ) -> FunctionCard | None:
        return self._cards.get(function)

    def reflect(self, packet: Packet, bank: Bank) -> Sequence[Candidate]:
        decisions = self._deltas.get(packet.content_digest, ())
        return [_candidate(decision, packet) for decision in decisions if not _is_shared(decision)]

    def reflect_across(self, packets: Sequence[Packet]) -> Sequence[tuple[Candidate, Packet]]:
        by_digest = {packet.content_digest: packet for packet in packets}
        return [
            (_candidate(decision, by_digest[digest]), by_digest[digest])
            for digest, decisions in self._deltas.items()
            if digest in by_digest
            for decision in decisions
            if _is_shared(decision)
        ]

    def curate(self, candidates: Mapping[int, Candidate], packet: Packet, bank: Bank) -> Mapping[int, Curation]:
        return self._curator.curate(candidates, packet, bank)

    def spent(self) -> AuthorCost:
        return self._curator.spent()


def _is_shared(decision: Decision) -> bool:
    """Was the lesson found by looking at all tasks of an ability?"""
    return decision.rule is not None and decision.rule.kind == Convention.KIND


def _candidate(decision: Decision, packet: Packet) -> Candidate:
    assert isinstance(decision.candidate, SkillDelta)
    letters = {(identity.source, identity.run): letter for letter, identity in packet.provenance.items()}
    own = (
        run for run in decision.runs if run.task == packet.task_key
    )  # others show it too, if it was found across tasks
    places = ((letters[run.source, run.run], position) for run in own for position in run.events)
    return Candidate(decision.candidate, tuple(Cite(*place) for place in places), decision.rule)
