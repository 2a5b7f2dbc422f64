"""Patch: the Curator's decision on one delta, as the smallest edit of the bank (paper, appendix B.1)."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter, model_validator

from contramem.bank.card import Line, SkillDelta, Strict


class _Patch(Strict):
    delta_index: Annotated[int, Field(ge=0)]
    """Which candidate of its packet is decided on, counted from 0."""
    reason: Line
    """Short, and grounded in the evidence."""


class Add(_Patch):
    """The delta says something new: it becomes a card."""

    operation: Literal["ADD"] = "ADD"
    target_card_ids: Annotated[tuple[str, ...], Field(max_length=0)] = ()
    retained_card_id: None = None
    new_or_updated_card: SkillDelta


class _Edit(_Patch):
    """Rewrites one card and keeps its id."""

    target_card_ids: Annotated[tuple[str, ...], Field(min_length=1, max_length=1)]
    retained_card_id: str
    new_or_updated_card: SkillDelta

    @model_validator(mode="after")
    def _keeps_its_target(self) -> _Edit:
        if self.retained_card_id != self.target_card_ids[0]:
            raise ValueError(f"retained_card_id has to be the target, {self.target_card_ids[0]!r}")
        return self


class Amend(_Edit):
    """The delta adds to what one card says, or to what it rests on."""

    operation: Literal["PATCH"] = "PATCH"


class Narrow(_Edit):
    """The delta shows that one card reaches too far."""

    operation: Literal["NARROW"] = "NARROW"


class Merge(_Patch):
    """The delta shows that several cards are one rule: one is retained, the others are retired."""

    operation: Literal["MERGE"] = "MERGE"
    target_card_ids: Annotated[tuple[str, ...], Field(min_length=2)]
    retained_card_id: str
    new_or_updated_card: SkillDelta | None = None
    """None if the text of the retained card stays unchanged."""

    @model_validator(mode="after")
    def _retains_one_target(self) -> Merge:
        if len(set(self.target_card_ids)) < len(self.target_card_ids):
            raise ValueError("target_card_ids names a card twice")
        if self.retained_card_id not in self.target_card_ids:
            raise ValueError(f"retained_card_id has to be one of the targets: {', '.join(self.target_card_ids)}")
        return self


class Noop(_Patch):
    """The bank says it already; the targets, if any, are the cards that do."""

    operation: Literal["NOOP"] = "NOOP"
    target_card_ids: tuple[str, ...] = ()
    retained_card_id: str | None = None
    new_or_updated_card: None = None

    @model_validator(mode="after")
    def _retains_a_target(self) -> Noop:
        if self.retained_card_id is not None and self.retained_card_id not in self.target_card_ids:
            raise ValueError("retained_card_id has to be one of the targets or null")
        return self


Patch: TypeAlias = Annotated[Add | Amend | Merge | Narrow | Noop, Field(discriminator="operation")]

PATCH: TypeAdapter[Patch] = TypeAdapter(Patch)
"""Parses a patch: `PATCH.validate_json(reply)`."""
