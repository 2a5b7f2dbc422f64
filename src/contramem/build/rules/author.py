"""RuleAuthor: the three jobs of construction by rules. No model, no network; the same runs give the same cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contramem.bank.bank import Bank
from contramem.bank.card import FunctionCard
from contramem.bank.ledger import Attribution
from contramem.build.author import AuthorCost, Candidate, Curation
from contramem.build.rules.across import find_shared_lessons
from contramem.build.rules.curate import curate
from contramem.build.rules.mine import find_lessons
from contramem.build.rules.shared_lesson import SharedLesson
from contramem.contrast.observation import Observation
from contramem.contrast.packet import Packet
from contramem.contrast.packets import keep_finding
from contramem.contrast.vocabulary import Vocabulary
from contramem.mining.functions import build_function_card
from contramem.traces.trajectory import Tool

RULES_VERSION = "12"
"""Incremented whenever the rules would write different cards from the same runs."""


def find_candidates(packet: Packet) -> Sequence[Candidate]:
    """What the rules learn from one task. Kept with the packet, so that it can be found where the packet is made."""
    return keep_finding(packet, "candidates", _find_candidates)


def _find_candidates(packet: Packet) -> Sequence[Candidate]:
    return tuple(Candidate(lesson.text, lesson.cites, lesson.rule.store()) for lesson in find_lessons(packet))


class RuleAuthor:
    """Writes cards by aggregation, deviance mining and evidence."""

    attribution = Attribution(kind="rules", name="rules", version=RULES_VERSION)

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self._vocabulary = vocabulary or Vocabulary()

    def build_function(
        self, function: str, observations: Sequence[Observation], tool: Tool | None
    ) -> FunctionCard | None:
        if tool is None and all(observation.error for observation in observations):
            # Models call tools that do not exist; a function that never worked and is not documented may be one of
            # them.
            return None
        return build_function_card(function, observations, tool, self._vocabulary)

    def reflect(self, packet: Packet, bank: Bank | None = None) -> Sequence[Candidate]:
        return find_candidates(packet)

    def reflect_across(self, packets: Sequence[Packet]) -> Sequence[tuple[Candidate, Packet]]:
        return [_candidate_of(shared) for shared in find_shared_lessons(packets)]

    def curate(self, candidates: Mapping[int, Candidate], packet: Packet, bank: Bank) -> Mapping[int, Curation]:
        index, candidate = next(iter(candidates.items()))
        return {index: curate(index, candidate, packet, bank)}

    def spent(self) -> AuthorCost:
        return AuthorCost()


def _candidate_of(shared: SharedLesson) -> tuple[Candidate, Packet]:
    lesson, packet, also = shared
    return Candidate(lesson.text, lesson.cites, lesson.rule.store(), also), packet
