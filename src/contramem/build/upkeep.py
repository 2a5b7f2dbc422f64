"""Upkeep: when all deltas are decided, every card of an ability is held against all its packets."""

from __future__ import annotations

from collections.abc import Sequence

from contramem.bank.bank import Change
from contramem.bank.ledger import Decision
from contramem.build.curation import LearningCard, known
from contramem.build.generalizing import asks_for
from contramem.build.mining import accepted_chance
from contramem.build.recorder import BuildRecorder, digest_of
from contramem.build.rules import RuleAuthor
from contramem.build.settling import EvidencePool, Reassessment
from contramem.contrast.packet import Packet


def settle(books: BuildRecorder, ability: str, packets: Sequence[Packet]) -> None:
    """Count, narrow and retire. No packet counts twice, however often it is built."""
    state = digest_of([packet.content_digest for packet in packets])
    settled = {f"settled {packet.task_key}": packet.content_digest for packet in packets}
    fresh = [packet for packet in packets if books.reached(f"settled {packet.task_key}") != packet.content_digest]
    waiting = [
        one
        for one in known(books.bank, ability)
        if one.card.guards and books.reached(f"card {one.card.card_id}") != state
    ]
    ruled = {one.card.card_id for one in waiting if _is_ruled(books, one)}
    accepted = accepted_chance(packets) if ruled else 0.0
    for one in waiting:
        evidence = EvidencePool(packets, fresh, accepted if one.card.card_id in ruled else None)
        standing = evidence.standing(one)
        decisions = [_decision(books, one, standing)] if standing.changes(one) else []
        books.record(*decisions, progress={f"card {one.card.card_id}": state})
    _retire_said_twice(books, ability)
    if fresh:
        books.record(progress=settled)


def _is_ruled(books: BuildRecorder, one: LearningCard) -> bool:
    """Did the rules write what the card says, or somebody in words of their own?"""
    writing = [decision.by.kind for decision in books.decisions_on(one.card.card_id) if decision.writes]
    return not writing or writing[-1] == "rules"


def _retire_said_twice(books: BuildRecorder, ability: str) -> None:
    """A way past an error that a card asks for before the call has become superfluous."""
    cards = known(books.bank, ability)
    for one in cards:
        if one.status == "pinned" or not any(asks_for(other.card, one.card) for other in cards):
            continue
        if _is_ruled(books, one):  # what is said in other words is not known to say the same
            reason = "Another card asks beforehand for what this does after the error."
            standing = Reassessment("RETIRE", reason, one.footing, one.card)
            books.record(_decision(books, one, standing), progress={})


def _decision(books: BuildRecorder, one: LearningCard, standing: Reassessment) -> Decision:
    """What evidence says about a card, whoever wrote it, is said by the rules."""
    held = books.bank.entries[one.card.card_id]
    if standing.operation == "RETIRE":
        after = held.model_copy(update={"footing": standing.footing, "status": "retired"})
    else:
        after = held.rewrite(standing.text, standing.footing)
    return Decision(
        operation=standing.operation,
        reason=standing.reason,
        by=RuleAuthor.attribution,
        ability=one.card.ability,
        changes=(Change(before=held, after=after),),
    )
