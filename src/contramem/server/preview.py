"""A preview of guidance: what an agent would get for a request and before a call, which cards, why, and what not."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from starlette.responses import Response

from contramem.errors import UsageError
from contramem.inject.run import Run
from contramem.retrieve.hit import Hit
from contramem.server.listing import export_rows
from contramem.server.pages import Visit

MAX_WORDS = 8
MAX_TASK_CHARS = 20_000
_FATES = {"shown": 0, "one line": 1}


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


def preview(visit: Visit) -> Response:
    """Ask as an agent would. Nothing is logged, and no run is kept."""
    task, function = visit.query("task")[:MAX_TASK_CHARS], visit.query("function").strip()
    memory, ability = visit.project.memory()[1].without_log(), visit.query("ability") or None
    if not task:
        return visit.page("preview.html", run=None, task="", function="", given=None, cards=[], problem="", broken=())
    run, problem, arguments = memory.start(task, ability=ability), "", dict[str, Any]()
    try:
        arguments = _arguments(visit.query("arguments"))
    except UsageError as error:
        problem = str(error)
    broken = run.would_break(function, arguments) if function and not problem else ()
    given = run.before_call(function, arguments) if function and not problem else None
    found = {hit.card.card_id: _card(hit, run) for hit in _hits(run)}
    found |= {card_id: _listed(visit, card_id) for card_id in run.guidance.listed if card_id not in found}
    cards = sorted(found.values(), key=lambda card: (_FATES.get(card.fate, 2), -card.score))
    if visit.query("format") in ("csv", "json"):
        return export_rows(visit.query("format"), "preview", cards)
    return visit.page(
        "preview.html", run=run, task=task, function=function, given=given, cards=cards, problem=problem, broken=broken
    )


def _arguments(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text or "{}")
    except ValueError as error:
        raise UsageError(f"The arguments aren't JSON ({error}).") from None
    if not isinstance(arguments, dict):
        raise UsageError('The arguments have to be a JSON object, such as {"ticket_id": 7}.')
    return arguments


def _hits(run: Run) -> list[Hit]:
    retrieval = run.retrieval
    return [*run.guidance.hits, *((*retrieval.skills, *retrieval.functions) if retrieval else ())]


def _listed(visit: Visit, card_id: str) -> ShownCard:
    """A card that was not looked for: the list of rules is of all that fit the agent's functions."""
    return ShownCard(card_id, "skill", visit.card_title(card_id), "one line", 0.0, 0.0, 0.0, "", "", "")


def _card(hit: Hit, run: Run) -> ShownCard:
    guidance, card = run.guidance, hit.card
    fate = "not shown: it does not fit well enough, or others fit better"
    if card.card_id in guidance.listed:
        fate = "one line"
    elif card.card_id in guidance.card_ids:
        fate = "shown"
    elif card.card_id in guidance.left_out:
        fate = "left out: over the budget"
    words = ", ".join(f"{word} {part:.2f}" for word, part in list(hit.terms.items())[:MAX_WORDS])
    return ShownCard(
        card.card_id, hit.kind, hit.name, fate, round(float(hit.score), 3), round(float(hit.relevance), 3),
        round(float(hit.prior), 3), words, getattr(card, "applies_when", ""), "; ".join(getattr(card, "guards", ())),
    )  # fmt: skip
