"""The cards of one ability that are nearest to a packet or a delta, by the BM25 that agents are served with."""

from __future__ import annotations

from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard, SkillDelta
from contramem.build.curation import known
from contramem.contrast.packet import Packet
from contramem.retrieve.profiles import PROFILES
from contramem.retrieve.shelf import Shelf
from contramem.retrieve.tokens import tokenize

FOR_REFLECTOR, FOR_CURATOR = 4, 5
_PROFILE = PROFILES["gaia2"]  # any shared word is enough: who reads the cards judges them


def related_to_packet(packet: Packet, bank: Bank, limit: int = FOR_REFLECTOR) -> list[SkillCard]:
    """By the words of the task and the functions that its runs call."""
    functions = sorted({step.function for run in packet.runs for step in run.actions if step.function})
    return _nearest(f"{packet.task} {' '.join(functions)}", functions, packet.ability, bank, limit)


def related_to_delta(delta: SkillDelta, ability: str, bank: Bank, limit: int = FOR_CURATOR) -> list[SkillCard]:
    """By what the delta would be found by, were it a card."""
    words = f"{delta.title} {delta.applies_when} {' '.join(delta.tags)} {delta.skill.core_rule}"
    return _nearest(words, delta.functions_used, ability, bank, limit)


def _nearest(
    words: str, functions: list[str] | tuple[str, ...], ability: str, bank: Bank, limit: int
) -> list[SkillCard]:
    cards = [one.card for one in known(bank, ability)]
    if not cards:
        return []
    shelf = Shelf(cards)
    apps = frozenset(function.partition(".")[0] for function in functions)
    ranking = shelf.rank(tokenize(words), apps, _PROFILE)
    found = (shelf.cards[number] for number in shelf.best(ranking, limit, ranking.fits))
    return [card for card in found if isinstance(card, SkillCard)]
