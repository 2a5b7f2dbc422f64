"""Bank: all cards, served or not. An immutable value: each decision gives a new bank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from operator import attrgetter, itemgetter
from typing import Any, Literal, TypeAlias, assert_never

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from contramem.bank.card import AnyCard, Card, FunctionCard, SkillCard, SkillDelta, Strict, same_text, skill_id
from contramem.bank.patch import Add, Amend, Merge, Narrow, Noop, Patch
from contramem.bank.stored_rule import StoredRule
from contramem.bank.support import GRADES, CardSupport, Grade, rename_key
from contramem.errors import PatchError, UsageError

Status: TypeAlias = Literal["active", "muted", "pinned", "retired"]
"""Active and pinned cards are served to agents. A build may not rewrite or retire a pinned card. Muted cards keep
learning without being served. Retired cards are kept for the record, and so that a rejected lesson is recognized."""


class BankEntry(Strict):
    """A card in the bank, with its status and support."""

    model_config = ConfigDict(populate_by_name=True)

    card: AnyCard
    status: Status = "active"
    support: CardSupport = Field(default=CardSupport(), validation_alias="footing")
    """Stored as `footing`."""
    reviewed: bool = False
    """Whether a person has approved this text."""
    rule: StoredRule | None = None
    """The rule that the text was generated from. None if a model or a person wrote the text."""

    @model_serializer(mode="wrap")
    def _store(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return rename_key(write(self), "support", "footing")

    @property
    def served(self) -> bool:
        return self.status in ("active", "pinned")

    def has_quorum(self, least: int) -> bool:
        """Whether runs of at least `least` sources show it. A card that a person approved needs none."""
        return self.reviewed or self.status == "pinned" or len(self.support.sources) >= least

    def rewrite(
        self, text: SkillDelta | FunctionCard, support: CardSupport, rule: StoredRule | None = None
    ) -> BankEntry:
        """The card with a new text, generated from `rule`. A new version, unless the text is the same."""
        card = self.card
        if isinstance(card, SkillCard) and isinstance(text, SkillDelta):
            new: Card = SkillCard.of(text, card.card_id, card.ability, card.version)
        elif isinstance(text, FunctionCard) and text.card_id == card.card_id:
            new = text
        else:
            raise PatchError(f"{card.card_id} cannot be rewritten as {getattr(text, 'card_id', 'a skill')}.")
        if same_text(new, card):
            return self.model_copy(update={"support": support, "rule": rule or self.rule})
        new = new.model_copy(update={"version": card.version + 1})
        return self.model_copy(update={"card": new, "support": support, "reviewed": False, "rule": rule})


class Change(Strict):
    """What one decision does to one card. Cards are never deleted, so there always is an `after`."""

    before: BankEntry | None
    after: BankEntry

    @property
    def card_id(self) -> str:
        return self.after.card.card_id


@dataclass(frozen=True)
class Bank:
    """Function Cards and the Skill Cards of each ability, by id, each with its status."""

    entries: Mapping[str, BankEntry] = field(default_factory=dict)

    @property
    def cards(self) -> tuple[Card, ...]:
        """All served cards, functions first."""
        return self.functions + self.skills

    @cached_property
    def functions(self) -> tuple[FunctionCard, ...]:
        """Served Function Cards, sorted by id."""
        return tuple(card for card in self._served if isinstance(card, FunctionCard))

    @cached_property
    def skills(self) -> tuple[SkillCard, ...]:
        """Served Skill Cards, sorted by ability and id."""
        skills = (card for card in self._served if isinstance(card, SkillCard))
        return tuple(sorted(skills, key=attrgetter("ability", "card_id")))

    @cached_property
    def _served(self) -> tuple[Card, ...]:
        return tuple(entry.card for _, entry in sorted(self.entries.items(), key=itemgetter(0)) if entry.served)

    @property
    def abilities(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(card.ability for card in self.skills))

    def skills_of(self, ability: str) -> tuple[SkillCard, ...]:
        """Served Skill Cards of one ability, sorted by id."""
        return tuple(card for card in self.skills if card.ability == ability)

    def function(self, tool: str) -> FunctionCard | None:
        """The served card of `App.function`."""
        entry = self.entries.get(f"function::{tool}")
        return entry.card if entry and entry.served and isinstance(entry.card, FunctionCard) else None

    def find(self, name: str) -> BankEntry:
        """The only card whose id is or begins with `name`, with or without `skill::` or `function::`, or the card of
        the only function with that name in any app."""
        if name in self.entries:
            return self.entries[name]
        begins = (name, f"skill::{name}", f"function::{name}")
        named = [card_id for card_id in self.entries if card_id.endswith(f".{name}")]
        matches = named or [card_id for card_id in self.entries if card_id.startswith(begins)]
        if len(matches) == 1:
            return self.entries[matches[0]]
        if matches:
            listed = ", ".join(matches[:4]) + (", ..." if matches[4:] else "")
            raise UsageError(f"{len(matches)} cards match {name!r}: {listed}. Give more of the name.")
        raise UsageError(f"there is no card {name!r} in this bank. `contramem cards list` lists them.")

    def first_made_from(self, ability: str, delta: SkillDelta) -> BankEntry | None:
        """The card that was first added with the title and rule of `delta`, whatever its text and status are now."""
        return self.entries.get(skill_id(ability, delta.title, delta.skill.core_rule))

    def of_grade(self, lowest: Grade | None) -> Bank:
        """The bank without Skill Cards below a grade. Cards without a grade stay, because chance was not assessed."""
        if lowest is None:
            return self
        good = GRADES[: GRADES.index(lowest) + 1]
        return Bank({name: entry for name, entry in self.entries.items() if entry.support.grade in (None, *good)})

    def of_sources(self, least: int) -> Bank:
        """The bank without cards that fewer than `least` sources show."""
        return Bank({name: entry for name, entry in self.entries.items() if entry.has_quorum(least)})

    def combine_support(self, card_ids: Iterable[str]) -> CardSupport:
        """The combined support of these cards."""
        return sum((self.entries[card_id].support for card_id in card_ids), CardSupport())

    def apply(self, patch: Patch, ability: str, support: CardSupport | None = None) -> Bank:
        """The bank after `patch`. Raises PatchError if the patch does not fit."""
        return self.with_changes(self.plan(patch, ability, support))

    def with_changes(self, changes: Iterable[Change]) -> Bank:
        """The bank after `changes`. The `before` of each must equal the card as it is here."""
        entries = dict(self.entries)
        for change in changes:
            if entries.get(change.card_id) != change.before:
                raise PatchError(f"{change.card_id} has changed since this decision was made.")
            entries[change.card_id] = change.after
        return Bank(entries)

    def plan(
        self, patch: Patch, ability: str, support: CardSupport | None = None, rule: StoredRule | None = None
    ) -> tuple[Change, ...]:
        """The changes that `patch` makes. `support` is the support of the resulting card, by default that of all
        targets, and `rule` is what its text was generated from."""
        targets = [self._target(card_id, ability, patch) for card_id in patch.target_card_ids]
        if support is None:
            support = self.combine_support(patch.target_card_ids)
        match patch:
            case Noop():
                return ()
            case Add(new_or_updated_card=text):
                card = SkillCard.of(text, self._free_id(ability, text), ability)
                return (Change(before=None, after=BankEntry(card=card, support=support, rule=rule)),)
            case Amend(new_or_updated_card=text) | Narrow(new_or_updated_card=text):
                return (_rewrite(targets[0], text, support, rule),)
            case Merge(retained_card_id=retained, new_or_updated_card=text):
                return tuple(
                    _rewrite(entry, text or entry.card, support, rule)
                    if entry.card.card_id == retained
                    else _retire(entry)
                    for entry in targets
                )
            case _:
                assert_never(patch)

    def plan_function(self, card: FunctionCard, support: CardSupport) -> tuple[Change, ...]:
        """The changes that a newly built Function Card makes: none if its text and support are those in the bank."""
        entry = self.entries.get(card.card_id)
        if entry is None:
            return (Change(before=None, after=BankEntry(card=card.model_copy(update={"version": 1}), support=support)),)
        if entry.status == "retired":
            raise PatchError(f"{card.card_id} was retired. Revert that decision before building it again.")
        change = _rewrite(entry, card, support)
        same = change.after.card == entry.card and change.after.support == entry.support
        return () if same else (change,)

    def _target(self, card_id: str, ability: str, patch: Patch) -> BankEntry:
        entry = self.entries.get(card_id)
        if entry is None or not isinstance(entry.card, SkillCard):
            raise PatchError(f"{patch.operation} names {card_id!r}, which is not a Skill Card of this bank.")
        if entry.card.ability != ability:
            raise PatchError(
                f"{patch.operation} for ability {ability!r} names {card_id}, a card of {entry.card.ability!r}."
            )
        if entry.status == "retired":
            raise PatchError(f"{patch.operation} names {card_id}, which was retired.")
        return entry

    def _free_id(self, ability: str, text: SkillDelta) -> str:
        ids = (skill_id(ability, text.title, text.skill.core_rule, copy) for copy in count(1))
        return next(card_id for card_id in ids if card_id not in self.entries)


def _rewrite(
    entry: BankEntry, text: SkillDelta | FunctionCard, support: CardSupport, rule: StoredRule | None = None
) -> Change:
    after = entry.rewrite(text, support, rule)
    if entry.status == "pinned" and after.card != entry.card:
        raise PatchError(f"{entry.card.card_id} is pinned, so a build may not rewrite it.")
    return Change(before=entry, after=after)


def _retire(entry: BankEntry) -> Change:
    if entry.status == "pinned":
        raise PatchError(f"{entry.card.card_id} is pinned, so a build may not retire it.")
    return Change(before=entry, after=entry.model_copy(update={"status": "retired"}))
