"""Cards in a model's or a person's own words.

They say more than their guards check. So a guard that fails is dropped from the card, and the text is retired only if
enough runs count against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from contramem.bank.bank import CardSupport
from contramem.build.learning import LearningCard, rewrite
from contramem.build.reassessment import (
    MAX_CONTRADICTED,
    Reassessment,
    do_without,
    narrow_guard,
    narrow_text,
    no_better,
)
from contramem.build.rules.support import Replays, follow_record, replays, support_from
from contramem.contrast.packet import Packet
from contramem.guards.guard import Guard, guards_of


class GuardOutcome(NamedTuple):
    """What happens to one guard of such a card."""

    guard: Guard | None
    """None: it is dropped from the card."""
    reason: str = ""
    """Why it is dropped or narrowed."""
    against: bool = False
    """Enough runs count against the guard, and so against the card that states it."""


def reassess_own_words(card: LearningCard, packets: Sequence[Packet]) -> Reassessment:
    """Replay each guard. The text stays, except for the trigger, which names where a narrowed guard applies."""
    unreadable = [f"{text} cannot be read." for text in card.card.guards if not guards_of((text,))]
    guards = guards_of(card.card.guards)
    outcomes = [_judge_guard(guard, card, packets) for guard in guards]
    left = [outcome.guard for outcome in outcomes if outcome.guard is not None]
    conditions = [outcome.guard.when for outcome in outcomes if outcome.guard is not None and outcome.reason]
    support = _without_counts_of_others(card.support, left) + support_from(replays(left, packets))
    reasons = [*unreadable, *(outcome.reason for outcome in outcomes if outcome.reason)]
    text = rewrite(card.card, guards=tuple(map(str, left)))
    if guards and not left and all(outcome.against for outcome in outcomes):
        return Reassessment("RETIRE", " ".join(reasons), support, rewrite(card.card))
    if conditions:
        return Reassessment("NARROW", " ".join(reasons), support, narrow_text(card.card, text.guards, conditions))
    if reasons:
        reason = f"{' '.join(reasons)} The card stays, and this is no longer checked."
        return Reassessment("PATCH", reason, support, text)
    return Reassessment("PATCH", f"Checked against all runs: {support}.", support, rewrite(card.card))


def _judge_guard(guard: Guard, card: LearningCard, packets: Sequence[Packet]) -> GuardOutcome:
    replayed, record = replays((guard,), packets), follow_record((guard,), packets)
    if record.speaks_against_it:
        return GuardOutcome(None, f"{guard}: {no_better(record)}", against=True)
    supporting, contradicted = _tasks(card, replayed, packets)
    if not contradicted:
        return GuardOutcome(guard)
    contradiction = f"{guard}: {do_without(len(contradicted))}"
    narrower = narrow_guard(guard, replayed, card.card.functions_used)
    if narrower is not None and len(contradicted) <= len(supporting):
        return GuardOutcome(narrower, f"{contradiction} It holds where {narrower.when} is called.")
    if len(contradicted) > MAX_CONTRADICTED * len(supporting) and not record.makes_a_difference:
        return GuardOutcome(None, contradiction)
    return GuardOutcome(guard)


def _tasks(card: LearningCard, replayed: Replays, packets: Sequence[Packet]) -> tuple[set[str], set[str]]:
    """Tasks for and against a guard: those available now, and those counted earlier."""
    at_hand = {packet.task_key for packet in packets}
    against = {packet.task_key for packet, each in replayed if each.contradicts}
    against |= set(card.support.contradicted_by) - at_hand
    supporting = {packet.task_key for packet, each in replayed if each.supports}
    return (supporting | set(card.support.tasks) - at_hand) - against, against


def _without_counts_of_others(support: CardSupport, guards: Sequence[Guard]) -> CardSupport:
    """The card's support without the counts of guards that it no longer has."""
    stated = {str(guard) for guard in guards}
    counts = {text: count for text, count in support.guard_counts.items() if text in stated}
    return support.model_copy(update={"guard_counts": counts})
