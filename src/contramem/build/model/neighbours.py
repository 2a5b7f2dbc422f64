"""Finds the cards of one ability that are nearest to a packet or a delta, by the paper's BM25."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard, SkillDelta
from contramem.build.learning import learning_cards
from contramem.contrast.packet import Packet
from contramem.retrieve.card_index import CardIndex
from contramem.retrieve.profiles import PROFILES, Profile
from contramem.retrieve.scorer import plain_bm25
from contramem.retrieve.tokens import tokenize

FOR_REFLECTOR, FOR_CURATOR = 3, 3
"""Of 127 cards that a strong model chose to edit, or said to hold a delta already, among five, 124 were the nearest
three."""
_LOOSE = PROFILES["gaia2"]  # any shared word is enough
_CLOSE = replace(_LOOSE, floor=3.0)
"""A delta is compared by all its words, and nearly every card shares one. On the shipped runs this floor finds every
card that states the same rule, with 23 % fewer tokens than none."""


def relate_to_packet(packet: Packet, bank: Bank, limit: int = FOR_REFLECTOR) -> list[SkillCard]:
    """The nearest cards by the words of the task and the functions that its runs call."""
    functions = sorted({step.function for run in packet.runs for step in run.actions if step.function})
    return _nearest(f"{packet.task} {' '.join(functions)}", functions, packet.ability, bank, limit, _LOOSE)


def relate_to_delta(delta: SkillDelta, ability: str, bank: Bank, limit: int = FOR_CURATOR) -> list[SkillCard]:
    """The nearest cards by the searchable text of the delta."""
    words = f"{delta.title} {delta.applies_when} {' '.join(delta.tags)} {delta.skill.core_rule}"
    return _nearest(words, delta.functions_used, ability, bank, limit, _CLOSE)


def _nearest(
    words: str, functions: Sequence[str], ability: str, bank: Bank, limit: int, profile: Profile
) -> list[SkillCard]:
    cards = [entry.card for entry in learning_cards(bank, ability)]
    if not cards:
        return []
    index = CardIndex(cards, plain_bm25)
    apps = frozenset(function.partition(".")[0] for function in functions)
    ranking = index.rank(tokenize(words), apps, profile)
    best = (index.cards[number] for number in index.best(ranking, limit, ranking.fits))
    return [card for card in best if isinstance(card, SkillCard)]
