"""PastDecision: what later steps of a build ask about an earlier decision, read without the cards that it changed.

A card that a thousand tasks teach has a thousand decisions, each with the card before and after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

import msgspec

from contramem.bank.ledger import Attribution, Decision
from contramem.bank.support import Scope


class PastDecision(NamedTuple):
    """A decision that was made."""

    by: Attribution
    reason: str
    writes: bool
    """Did it set the text of a card?"""
    scopes: Mapping[str, tuple[Scope | None, Scope | None]]
    """For each card that it changed: the scope before and after."""

    @classmethod
    def of(cls, decision: Decision) -> PastDecision:
        scopes = {
            change.card_id: (change.before.support.scope if change.before else None, change.after.support.scope)
            for change in decision.changes
        }
        return cls(decision.by, decision.reason, decision.writes, scopes)


class _StoredSupport(msgspec.Struct):
    scope: Scope | None = None


class _StoredEntry(msgspec.Struct):
    footing: _StoredSupport = msgspec.field(default_factory=_StoredSupport)


class _StoredChange(msgspec.Struct):
    after: _StoredEntry
    before: _StoredEntry | None = None


class _StoredDecision(msgspec.Struct):
    by: msgspec.Raw
    reason: str
    operation: str | None = None
    candidate: msgspec.Raw = msgspec.Raw(b"null")


_decode_decision = msgspec.json.Decoder(_StoredDecision).decode
_decode_change = msgspec.json.Decoder(_StoredChange).decode


def read_past(decision: str, changes: Iterable[tuple[str, str]]) -> PastDecision:
    """Read a decision as the store keeps it, with its changes by card id. Raises msgspec.DecodeError."""
    stored, scopes = _decode_decision(decision), dict[str, tuple[Scope | None, Scope | None]]()
    for card_id, text in changes:
        change = _decode_change(text)
        scopes[card_id] = change.before.footing.scope if change.before else None, change.after.footing.scope
    has_text = bytes(stored.candidate) != b"null" or stored.operation in ("EDIT", "IMPORT")
    return PastDecision(_read_author(bytes(stored.by)), stored.reason, bool(scopes) and has_text, scopes)


@lru_cache(maxsize=256)
def _read_author(text: bytes) -> Attribution:
    return Attribution.model_validate_json(text)
