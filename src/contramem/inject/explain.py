"""Why a run got the guidance that it got: every card that was retrieved, and what became of it."""

from __future__ import annotations

from typing import NamedTuple

from contramem.inject.run import Run
from contramem.retrieve.hit import Hit

MAX_WORDS = 8
_SHOWN, _LISTED = "shown", "one line"


class ShownCard(NamedTuple):
    """A retrieved card and what becomes of it."""

    card_id: str
    kind: str
    name: str
    fate: str
    score: float
    relevance: float
    apps: float
    words: str
    """The words of the request that it was found by, with what each contributes."""
    applies: str
    guards: str


def explain_guidance(run: Run) -> list[ShownCard]:
    """The cards that a run is shown, then those in one line, then the others, each by score."""
    guidance, retrieval = run.guidance, run.retrieval
    hits = [*guidance.hits, *((*retrieval.skills, *retrieval.functions) if retrieval else ())]
    found = {hit.card.card_id: _explain(hit, run) for hit in hits}
    for card in guidance.listed_cards:  # not looked for: the list is of all that fit the agent's functions
        found.setdefault(
            card.card_id,
            ShownCard(card.card_id, "skill", card.title, _LISTED, 0.0, 0.0, 0.0, "", card.applies_when, ""),
        )
    return sorted(found.values(), key=lambda card: (card.fate != _SHOWN, card.fate != _LISTED, -card.score))


def _explain(hit: Hit, run: Run) -> ShownCard:
    guidance, card = run.guidance, hit.card
    fate = "not shown: it does not fit well enough, or others fit better"
    if card.card_id in guidance.listed:
        fate = _LISTED
    elif card.card_id in guidance.card_ids:
        fate = _SHOWN
    elif card.card_id in guidance.left_out:
        fate = "left out: over the budget"
    words = ", ".join(f"{word} {part:.2f}" for word, part in list(hit.terms.items())[:MAX_WORDS])
    return ShownCard(
        card.card_id, hit.kind, hit.name, fate, round(float(hit.score), 3), round(float(hit.relevance), 3),
        round(float(hit.prior), 3), words, getattr(card, "applies_when", ""), "; ".join(getattr(card, "guards", ())),
    )  # fmt: skip
