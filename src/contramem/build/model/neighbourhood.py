"""Neighbourhood: what a Curator sees besides the deltas of a packet: the nearest cards, and what their functions do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard, SkillDelta
from contramem.build.author import Candidate
from contramem.build.model.neighbours import relate_to_delta

MAX_FUNCTION_LINES = 16
"""How many functions of the deltas are described to the Curator."""
WHOLE_CARDS = 1
"""How many cards are shown in full for each delta, nearest first; the others in brief. Of 108 cards that a strong model
chose to patch, 92 were the nearest. A Curator that chooses another one is asked again with that card in full."""


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
