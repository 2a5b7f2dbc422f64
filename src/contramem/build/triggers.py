"""Where a card's trigger applies: the tasks that it would be shown for, and those that taught it.

A trigger is prose, which no program can check. Retrieval decides at run time whether an agent reads the card, so the
same ranking decides which runs can count against it. A rule for refunds is not wrong because a search passed without
it.
"""

from __future__ import annotations

from collections.abc import Sequence

from contramem.bank.bank import Bank
from contramem.build.learning import learning_cards
from contramem.contrast.packet import Packet
from contramem.retrieve.card_index import CardIndex
from contramem.retrieve.profiles import PROFILES
from contramem.retrieve.scorer import plain_bm25
from contramem.retrieve.tokens import tokenize

PROFILE = PROFILES["gaia2"]
"""The loosest profile: three cards of an ability, and any shared word is enough."""


class Triggers:
    """The Skill Cards of one ability and the tasks that each is for."""

    def __init__(self, bank: Bank, ability: str, packets: Sequence[Packet]) -> None:
        cards = [card.card for card in learning_cards(bank, ability)]
        index = CardIndex(cards, plain_bm25) if cards else None
        self._shown = {packet.task_key: _find_shown(packet, index) for packet in packets} if index else {}
        self._taught = {card.card.card_id: set(card.support.tasks) for card in learning_cards(bank, ability)}

    def where(self, card_id: str, packets: Sequence[Packet]) -> list[Packet]:
        """The packets that the card is for."""
        return [
            packet
            for packet in packets
            if packet.task_key in self._taught.get(card_id, ()) or card_id in self._shown.get(packet.task_key, ())
        ]


def _find_shown(packet: Packet, index: CardIndex) -> frozenset[str]:
    """The cards that an agent would be shown for this task."""
    functions = {step.function for run in packet.runs for step in run.actions if step.function}
    apps = frozenset(function.partition(".")[0] for function in functions)
    ranking = index.rank(tokenize(packet.task), apps, PROFILE)
    return frozenset(index.cards[number].card_id for number in index.best(ranking, PROFILE.skills, ranking.fits))
