"""Bank: all cards, served or not. An immutable value: each patch gives a new bank.

A Patch is the Curator's decision on one delta, as the smallest edit of the bank (paper, appendix B.1). CardSupport is
the evidence for a card: kept beside it, in ledger and store, and never shown to an agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from operator import attrgetter, itemgetter
from typing import Annotated, Any, Literal, TypeAlias, assert_never, get_args

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    model_serializer,
    model_validator,
)

from contramem.bank.card import AnyCard, Card, FunctionCard, Line, SkillCard, SkillDelta, Strict, same_text, skill_id
from contramem.errors import PatchError, UsageError


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


class StoredRule(Strict):
    """The kind of a rule, and its facts. `contramem.build.rules` reads and writes them."""

    kind: str
    facts: dict[str, JsonValue]


Scope: TypeAlias = Literal["universal", "finalization"]
"""`universal` cards are for every task of their ability, `finalization` cards for its end (paper, A.8)."""

Grade: TypeAlias = Literal["enforced", "proven", "observed", "open"]
"""Why a rule is believed. Enforced: a tool refuses otherwise. Proven: more than chance explains. Observed: seen in
runs, with nothing against it. Open: several readings fit the same runs, and none of them is a guard."""
GRADES: tuple[Grade, ...] = get_args(Grade)
"""Best first."""

Count = Annotated[int, Field(ge=0)]
Names = Annotated[tuple[str, ...], AfterValidator(lambda names: tuple(sorted(set(names))))]
"""A set, sorted so that it is always stored as the same bytes."""


def drop_call_lists(fields: Any) -> Any:
    """The fields of a card or its support without the lists of calls that banks of earlier versions have."""
    if not isinstance(fields, dict) or "call_lists" not in fields:
        return fields
    return {name: value for name, value in fields.items() if name != "call_lists"}


def rename_key(fields: dict[str, Any], name: str, stored: str) -> dict[str, Any]:
    """The fields in order, with one renamed as it is stored. Pydantic 2.11 has a setting for this, but the runtime is
    installed beside agents that pin 2.10."""
    return {stored if field == name else field: value for field, value in fields.items()}


COUNTED = {
    "kept": "passing runs that kept it",
    "kept in vain": "failing runs that kept it: they failed for another reason",
    "broken": "failing runs that broke it",
    "contradicted": "passing runs that broke it, which speaks against the rule",
}
"""What is counted about a guard, wherever people see it. Cards keep all but `kept in vain`."""


class GuardSupport(Strict):
    """Counts of how the runs of a card behaved under a guard."""

    held: Count = 0
    """Passing runs that kept it."""
    broken: Count = 0
    """Failing runs that broke it."""
    contradicted: Count = 0
    """Passing runs that broke it."""

    def by_name(self) -> dict[str, int]:
        """As people are told: see COUNTED."""
        return {"kept": self.held, "broken": self.broken, "contradicted": self.contradicted}

    def __add__(self, other: GuardSupport) -> GuardSupport:
        return GuardSupport(
            held=self.held + other.held,
            broken=self.broken + other.broken,
            contradicted=self.contradicted + other.contradicted,
        )


GuardCountsByText = Annotated[dict[str, GuardSupport], AfterValidator(lambda counts: dict(sorted(counts.items())))]


class UnseenRuns(Strict):
    """What a guard would have done in runs that its card has not seen."""

    passing: Count = 0
    """Passing runs to which it applies."""
    false_stops: Count = 0
    """Passing runs that it would have stopped."""
    caught: Count = 0
    """Failing runs that it would have stopped."""
    limit: Annotated[float, Field(ge=0, le=1)] = 0.01
    """The share of false stops that is accepted."""

    @property
    def is_above_limit(self) -> bool:
        return self.false_stops > self.limit * self.passing

    def __str__(self) -> str:
        return f"{self.false_stops} of {_count(self.passing, 'passing run')} stopped, {self.caught} failing"


class ArgumentFacts(Strict):
    """How the observed calls of a function give one argument."""

    forms: dict[str, str] = Field(default_factory=dict)
    """The common forms of its values, most common first, each with its wording on cards. Empty if values are words of a
    vocabulary or objects."""
    sources: tuple[str, ...] = ()
    """The places that most values come from, as guards write them: `task`, `user`, `App.function` or
    `App.function.field`. Empty if that is not clear."""
    form_rules: tuple[str, ...] = ()
    """Usage rules that only say how to write it."""


class CardSupport(Strict):
    """The evidence for one card. Sets instead of counts, so that the same task seen twice counts once."""

    model_config = ConfigDict(populate_by_name=True)

    tasks: Names = ()
    """Tasks whose runs show the rule: keys, or digests of them."""
    sources: Names = ()
    """Models or agents whose runs show it."""
    contradicted_by: Names = ()
    """Tasks in which a passing run did otherwise."""
    taught_by: Names = ()
    """Digests of task id, task text and scenario, so that a card is not tested on the task that taught it."""
    request_words: Names = ()
    """The words of each request that taught the card, masked and unordered. Searched, never shown."""
    arguments: dict[str, ArgumentFacts] = Field(default_factory=dict)
    """For a Function Card: what the calls show about each argument, compared with guards in a frozen bank."""
    scope: Scope | None = None
    grade: Grade | None = None
    """None if it was not assessed, or the card makes no claim that runs could show."""
    guard_counts: GuardCountsByText = Field(default_factory=dict, validation_alias="support")
    """By guard, as the card writes it; for a card that a query checks, by what identifies the query. Stored as
    `support`."""

    unseen: dict[str, UnseenRuns] = Field(default_factory=dict)
    """By guard: runs on which it was replayed to see whom it would stop."""

    _drop_call_lists = model_validator(mode="before")(drop_call_lists)

    @model_serializer(mode="wrap")
    def _store(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = rename_key(write(self), "guard_counts", "support")
        if not self.unseen:  # so that older versions can read it
            fields.pop("unseen", None)
        if not self.arguments:  # as in all Skill Cards
            fields.pop("arguments", None)
        return fields

    def __add__(self, more: CardSupport) -> CardSupport:
        """The combined support. The newer scope and grade win, if set; guard counts add up."""
        guard_counts = dict(self.guard_counts)
        for guard, counts in more.guard_counts.items():
            guard_counts[guard] = guard_counts.get(guard, GuardSupport()) + counts
        return CardSupport(
            tasks=self.tasks + more.tasks,
            sources=self.sources + more.sources,
            contradicted_by=self.contradicted_by + more.contradicted_by,
            taught_by=self.taught_by + more.taught_by,
            request_words=self.request_words + more.request_words,
            arguments=self.arguments | more.arguments,
            scope=more.scope or self.scope,
            grade=more.grade or self.grade,
            guard_counts=guard_counts,
            unseen=self.unseen | more.unseen,
        )

    def __str__(self) -> str:
        sources = [_count(len(self.sources), "source")] if self.sources else []
        against = [f"contradicted by {_count(len(self.contradicted_by), 'task')}"] if self.contradicted_by else []
        return ", ".join([_count(len(self.tasks), "task"), *sources, *against])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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

    def changes_to(self, other: Bank) -> tuple[Change, ...]:
        """The changes that turn this bank into the other; a card missing from that is retired."""
        changes = [Change(before=self.entries.get(card_id), after=entry) for card_id, entry in other.entries.items()]
        for card_id in sorted({*self.entries} - {*other.entries}):
            entry = self.entries[card_id]
            changes.append(Change(before=entry, after=entry.model_copy(update={"status": "retired"})))
        return tuple(change for change in changes if change.before != change.after)

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
                card = SkillCard.of(text, self.free_id(ability, text.title, text.skill.core_rule), ability)
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

    def free_id(self, ability: str, title: str, rule: str) -> str:
        """The id of a new card that is known by these words."""
        ids = (skill_id(ability, title, rule, copy) for copy in count(1))
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
