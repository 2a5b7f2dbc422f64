"""Quorum: cards that too few sources support are kept and keep learning, but are not served."""

from __future__ import annotations

from collections.abc import Sequence

from contramem.bank.bank import Bank, BankEntry, Change
from contramem.bank.card import SkillCard
from contramem.bank.ledger import Act, Attribution, Decision, LedgerEntry
from contramem.bank.store import Store

QUORUM = Attribution(kind="rules", name="quorum")


def hold_to_quorum(store: Store, least: int) -> Bank:
    """Record the decisions of the quorum and return the bank. A quorum of 1 changes nothing."""
    if least > 1:
        with store.writing("build"):
            store.record(*quorum_decisions(store.bank(), store.ledger(), least))
    return store.bank()


def quorum_decisions(bank: Bank, ledger: Sequence[LedgerEntry], least: int) -> list[Decision]:
    """Mute cards with fewer than `least` sources, and unmute cards that the quorum muted and that now have enough."""
    muted_by: dict[str, Attribution] = {}
    for decided in ledger:
        if decided.decision.operation == "MUTE":
            muted_by.update(dict.fromkeys(decided.decision.card_ids, decided.decision.by))
    decisions = []
    for card_id, entry in sorted(bank.entries.items()):
        if entry.status == "active" and not entry.has_quorum(least):
            decisions.append(_decide(entry, "MUTE", least))
        elif entry.status == "muted" and muted_by.get(card_id) == QUORUM and entry.has_quorum(least):
            decisions.append(_decide(entry, "ACCEPT", least))
    return decisions


def _decide(entry: BankEntry, act: Act, least: int) -> Decision:
    seen = len(entry.support.sources)
    reason = f"Runs of {seen} source{'' if seen == 1 else 's'} show it; this bank serves what {least} or more show."
    after = entry.model_copy(update={"status": "muted" if act == "MUTE" else "active"})
    ability = entry.card.ability if isinstance(entry.card, SkillCard) else None
    return Decision(
        operation=act, reason=reason, by=QUORUM, ability=ability, changes=(Change(before=entry, after=after),)
    )
