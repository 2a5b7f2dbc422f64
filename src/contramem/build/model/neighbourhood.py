"""What a Curator is shown beside the deltas of a packet: the cards that are near them, and what their functions do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard, SkillDelta
from contramem.build.author import Candidate
from contramem.build.model.neighbours import relate_to_delta

MAX_FUNCTION_LINES = 16
"""What the Curator is told of the functions of the deltas."""
WHOLE_CARDS = 1
"""Cards that are shown whole for each delta, nearest first; the others in brief. Of 108 cards that a strong model chose
to patch, 92 were the nearest: a Curator that chooses another is shown it whole when it is asked again."""


class Neighbourhood:
    """The deltas of one packet, by their numbers, and the cards of the bank that are nearest to each."""

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
    """What it is called, and its rule."""
    return f"- {card.title}: {card.skill.core_rule}"


def card_text(card: SkillCard) -> str:
    """All that the card says, without what it rests on."""
    return _compact(card, {"card_id": card.card_id})


def _compact(text: SkillDelta, named: Mapping[str, object]) -> str:
    """What is decided on is the rule: evidence stays with the card that it was found for."""
    fields: dict[str, Any] = text.model_dump(mode="json", include=set(SkillDelta.model_fields) - {"evidence"})
    return json.dumps({**named, **_drop_empty(fields)}, ensure_ascii=False)


def _drop_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _drop_empty(part) for key, part in value.items() if part not in ("", [], {})}
    return value
