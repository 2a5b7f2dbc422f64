"""The ledger as a timeline, and what a page says about one decision."""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import Response

from contramem.bank.card_list import saying
from contramem.bank.difference import FieldDifference, field_differences
from contramem.bank.ledger import LedgerEntry
from contramem.server.pages import Visit

DECISIONS = 50
"""On a page."""


class DecisionRow(NamedTuple):
    """A decision in a list."""

    number: int
    at: str
    operation: str
    accepted: bool
    by: str
    kind: str
    reason: str
    cards: tuple[tuple[str, str], ...]
    """Id and text."""
    differences: tuple[FieldDifference, ...]
    status: str
    can_undo: bool


def decision_row(entry: LedgerEntry, card_id: str | None = None) -> DecisionRow:
    decision = entry.decision
    changes = [change for change in decision.changes if card_id in (None, change.card_id)]
    change = changes[0] if changes else None
    before, after = (change.before, change.after) if change else (None, None)
    moved = f"{before.status} → {after.status}" if before and after and before.status != after.status else ""
    return DecisionRow(
        entry.number,
        entry.at[:19].replace("T", " "),
        decision.operation or "",
        decision.accepted,
        str(decision.by),
        decision.by.kind,
        decision.reason,
        tuple((change.card_id, saying(change.after.card)) for change in decision.changes)
        or tuple((name, name) for name in decision.card_ids),
        field_differences(before.card, after.card) if before and after else (),
        moved,
        bool(decision.changes),
    )


def decided(visit: Visit) -> LedgerEntry | None:
    """The decision that the address names. What a page says about it comes from the ledger, never from the address."""
    number = visit.number("decided")
    return next((entry for entry in visit.project.store.ledger_page(number + 1, 1) if entry.number == number), None)


def notice(entry: LedgerEntry | None) -> str:
    """What was done by a decision that was just made."""
    if entry is None:
        return ""
    if entry.decision.reverts:
        return f"Decision {entry.number} undoes decision {entry.decision.reverts}."
    return f"Decision {entry.number}: {(entry.decision.operation or '').lower()} {', '.join(entry.decision.card_ids)}."


def ledger(visit: Visit, problem: str = "", status: int = 200) -> Response:
    """Every decision, newest first."""
    last = visit.project.current().decision
    before = min(visit.number("before", last + 1), last + 1)
    entries = visit.project.store.ledger_page(before, DECISIONS)
    older = entries[-1].number if entries and entries[-1].number > 1 else None
    newer = before + DECISIONS if before <= last else None
    return visit.page(
        "ledger.html", status,
        rows=[decision_row(entry) for entry in entries], older=older, newer=newer, last=last,
        note=notice(decided(visit)), problem=problem,
    )  # fmt: skip
