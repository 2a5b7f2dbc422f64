"""Ledger: every decision about a bank, accepted or refused, in order. Replaying it gives the bank."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from contramem.bank.bank import Bank, Change
from contramem.bank.card import FunctionCard, SkillDelta, Strict
from contramem.bank.patch import Patch
from contramem.bank.stored_rule import StoredRule

Operation: TypeAlias = Literal["ADD", "PATCH", "MERGE", "NARROW", "NOOP"]
"""What an author does with a delta or a newly built Function Card."""
Act: TypeAlias = Literal["RETIRE", "ACCEPT", "EDIT", "MUTE", "PIN", "REJECT", "REVERT", "IMPORT"]
"""Other decisions about cards: RETIRE by evidence or a person, the others by people."""


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
        """Whether the decision wrote the text of a card. Decisions of a reassessment (build/) only count and narrow."""
        return bool(self.changes) and (self.candidate is not None or self.operation in ("EDIT", "IMPORT"))

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
