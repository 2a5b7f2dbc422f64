"""The cards of one ability that are nearest to a packet or a delta, by the paper's BM25, as a Curator sees them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard, SkillDelta
from contramem.build.author import Candidate
from contramem.build.learning import learning_cards
from contramem.contrast.packet import Packet
from contramem.retrieve.card_index import CardIndex
from contramem.retrieve.profiles import PROFILES, Profile
from contramem.retrieve.scorer import plain_bm25
from contramem.retrieve.tokens import tokenize

FOR_REFLECTOR, FOR_CURATOR = 3, 3
"""Of 127 cards that a strong model chose to edit, or said to hold a delta already, among five, 124 were the nearest
three."""
MAX_FUNCTION_LINES = 16
"""How many functions of the deltas are described to the Curator."""
WHOLE_CARDS = 1
"""How many cards are shown in full for each delta, nearest first; the others in brief. Of 108 cards that a strong model
chose to patch, 92 were the nearest. A Curator that chooses another one is asked again with that card in full."""
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


class Neighbourhood:
    """The deltas of one packet by index, and the nearest cards of the bank."""

    def __init__(self, candidates: Mapping[int, Candidate], ability: str, bank: Bank) -> None:
        self._deltas = {index: candidate.delta for index, candidate in candidates.items()}
        nearest = [relate_to_delta(delta, ability, bank) for delta in self._deltas.values()]
        self.whole = {card.card_id: card for cards in nearest for card in cards[:WHOLE_CARDS]}
        self.brief = {
            card.card_id: card for cards in nearest for card in cards[WHOLE_CARDS:] if card.card_id not in self.whole
        }
        used = dict.fromkeys(name for delta in self._deltas.values() for name in delta.functions_used)
        self.functions = [card for name in used if (card := bank.function(name)) is not None][:MAX_FUNCTION_LINES]

    @property
    def card_ids(self) -> set[str]:
        return self.whole.keys() | self.brief.keys()

    def delta_lines(self) -> str:
        return "\n".join(_compact(delta, {"delta_index": index}) for index, delta in self._deltas.items())

    def card_lines(self) -> str:
        return "\n".join(map(card_text, self.whole.values()))

    def brief_lines(self) -> str:
        return "\n".join(f"{card.card_id} {card_in_brief(card)}" for card in self.brief.values())

    def function_lines(self) -> str:
        return "\n".join(f"{card.tool}: {card.what_it_does}" for card in self.functions)


def card_in_brief(card: SkillCard) -> str:
    """The title and rule of a card."""
    return f"- {card.title}: {card.skill.core_rule}"


def card_text(card: SkillCard) -> str:
    """The text of a card as JSON, without its evidence."""
    return _compact(card, {"card_id": card.card_id})


def _compact(text: SkillDelta, named: Mapping[str, object]) -> str:
    """Evidence is left out, because the decision is about the rule."""
    fields: dict[str, Any] = text.model_dump(mode="json", include=set(SkillDelta.model_fields) - {"evidence"})
    return json.dumps({**named, **_drop_empty(fields)}, ensure_ascii=False)


def _drop_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _drop_empty(part) for key, part in value.items() if part not in ("", [], {})}
    return value
