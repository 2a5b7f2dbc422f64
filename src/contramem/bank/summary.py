"""A bank in numbers: cards by ability and status, decisions by operation, refusals by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from contramem.bank.bank import Bank
from contramem.bank.frozen import freeze, parse_frozen
from contramem.bank.ledger import LedgerEntry


@dataclass(frozen=True)
class BankSummary:
    """Counts of cards and decisions. A frozen file has no decisions."""

    functions: int
    skills: dict[str, int]
    """Number of served cards by ability."""
    statuses: dict[str, int]
    unreviewed: int
    """Number of served cards that no person has reviewed."""
    content_sha256: str
    """The hash of the bank if it were frozen now."""
    operations: dict[str, int]
    refused: dict[str, int]
    """By reason."""
    cost_usd: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def summarize(bank: Bank, ledger: Iterable[LedgerEntry] = ()) -> BankSummary:
    """Count `bank`, and the decisions of its `ledger` if it has one."""
    decisions = [entry.decision for entry in ledger]
    header = parse_frozen(freeze(bank), "the bank").header
    return BankSummary(
        functions=header.functions,
        skills=header.skills,
        statuses=_counts(entry.status for entry in bank.entries.values()),
        unreviewed=sum(not bank.entries[card.card_id].reviewed for card in bank.cards),
        content_sha256=header.content_sha256,
        operations=_counts(decision.operation or "" for decision in decisions if decision.accepted),
        refused=_counts(decision.reason for decision in decisions if not decision.accepted),
        cost_usd=sum(decision.usage.cost_usd or 0.0 for decision in decisions),
    )


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0])))
