"""Ledger: every decision about a bank, accepted or refused, in order, each sealed. Replaying it gives the bank."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple, TypeAlias

import msgspec
from pydantic import Field, model_validator

from contramem.bank.bank import Bank, Change, Patch, Scope, StoredRule
from contramem.bank.card import FunctionCard, SkillDelta, Strict

Operation: TypeAlias = Literal["ADD", "PATCH", "MERGE", "NARROW", "NOOP"]
"""What an author does with a delta or a newly built Function Card."""
Act: TypeAlias = Literal["RETIRE", "ACCEPT", "EDIT", "MUTE", "PIN", "REJECT", "REVERT", "IMPORT"]
"""Other decisions about cards: RETIRE by evidence or a person, the others by people."""


_WRITING_ACTS = ("EDIT", "IMPORT")


class Attribution(Strict):
    """Who made a decision."""

    kind: Literal["rules", "model", "person"]
    name: Annotated[str, Field(min_length=1)]
    """`rules`, the model's name, or the person's."""
    version: str = ""
    """The version of the rules, or the digest of the model's prompt."""

    def __str__(self) -> str:
        return f"{self.name} ({self.version})" if self.version else self.name


class RunRef(Strict):
    """A run that a decision is based on, and the events in it that show the lesson."""

    task: str
    source: str
    run: str = "0"
    passed: bool | None = None
    origin: str = ""
    """The file it was read from."""
    events: tuple[int, ...] = ()
    """Positions of the events."""


class DecisionCost(Strict):
    """What a decision cost. The rules spend nothing."""

    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """None if nothing was spent, or the price is unknown."""


class Decision(Strict):
    """One decision, with everything needed to explain it, undo it and rebuild the bank."""

    operation: Operation | Act | None
    """None if it was refused before an operation was chosen."""
    accepted: bool = True
    reason: Annotated[str, Field(min_length=1)]
    by: Attribution
    ability: str | None = None
    """None for Function Cards."""
    candidate: SkillDelta | FunctionCard | None = None
    """The delta, or the Function Card, that was decided on."""
    rule: StoredRule | None = None
    """The rule that the candidate's text was generated from. None if an author wrote the text."""
    patch: Patch | None = None
    """The Curator's patch, even if it was refused."""
    changes: tuple[Change, ...] = ()
    packet: str | None = None
    """Digest of the packet."""
    runs: tuple[RunRef, ...] = ()
    usage: DecisionCost = DecisionCost()
    reverts: int | None = None
    """The number of the decision that this one undoes."""

    @model_validator(mode="after")
    def _changes_what_it_says(self) -> Decision:
        if self.changes and (not self.accepted or self.operation == "NOOP"):
            raise ValueError(f"a {'NOOP' if self.accepted else 'refused'} decision changes no card")
        if self.accepted and self.operation is None:
            raise ValueError("an accepted decision names its operation")
        if (self.reverts is None) == (self.operation == "REVERT"):
            raise ValueError("REVERT, and nothing else, names the decision it undoes")
        return self

    @property
    def writes(self) -> bool:
        """Whether it wrote the text of a card. Decisions of a reassessment (build/) only count and narrow."""
        return bool(self.changes) and (self.candidate is not None or self.operation in _WRITING_ACTS)

    @property
    def card_ids(self) -> tuple[str, ...]:
        """The cards that the decision changes or names."""
        named = self.patch.target_card_ids if self.patch else ()
        return tuple(dict.fromkeys([*(change.card_id for change in self.changes), *named]))


@dataclass(frozen=True)
class LedgerEntry:
    """A decision with its number and time."""

    number: int
    """From 1, without gaps."""
    at: str
    """When it was recorded, ISO 8601, UTC."""
    decision: Decision


def fold(entries: Iterable[LedgerEntry], bank: Bank | None = None) -> Bank:
    """Apply the decisions in order to `bank`, or to an empty bank."""
    bank = bank or Bank()
    for entry in entries:
        bank = bank.with_changes(entry.decision.changes)
    return bank


BEGINNING = "0" * 64
"""The seal before the first decision."""


def seal(before: str, number: int, recorded_at: str, decision: str, changes: Iterable[str]) -> str:
    """The seal of a stored decision. It includes the seal `before` it, so that changing, removing or inserting a
    decision invalidates every later seal."""
    hashed = hashlib.sha256(f"{before}\n{number}\n{recorded_at}\n{decision}".encode())
    for change in changes:
        hashed.update(b"\n" + change.encode())
    return hashed.hexdigest()


class PastDecision(NamedTuple):
    """What later steps of a build ask about an earlier decision, read without the cards that it changed: a card that a
    thousand tasks teach has a thousand decisions, each with the card before and after it."""

    by: Attribution
    reason: str
    writes: bool
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
    stored = _decode_decision(decision)
    read = ((card_id, _decode_change(text)) for card_id, text in changes)
    scopes = {
        card_id: (change.before.footing.scope if change.before else None, change.after.footing.scope)
        for card_id, change in read
    }
    writes = bool(scopes) and (bytes(stored.candidate) != b"null" or stored.operation in _WRITING_ACTS)
    return PastDecision(_read_author(bytes(stored.by)), stored.reason, writes, scopes)


@lru_cache(maxsize=256)
def _read_author(text: bytes) -> Attribution:
    return Attribution.model_validate_json(text)
