"""CardSupport: the evidence for a card. Kept beside the card, in ledger and store, and never shown to an agent."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from contramem.bank.card import Strict

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
    """For a Function Card: what the calls show about each argument, for comparison with guards (settlement.py)."""
    scope: Scope | None = None
    grade: Grade | None = None
    """None if it was not assessed, or the card makes no claim that runs could show."""
    guard_counts: GuardCountsByText = Field(default_factory=dict, validation_alias="support")
    """By guard, as the card writes it; for a card that a query checks, by what identifies the query. Stored as
    `support`."""

    _drop_call_lists = model_validator(mode="before")(drop_call_lists)

    @model_serializer(mode="wrap")
    def _store(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = rename_key(write(self), "guard_counts", "support")
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
        )

    def __str__(self) -> str:
        parts = [_count(len(self.tasks), "task")]
        if self.sources:
            parts.append(_count(len(self.sources), "source"))
        if self.contradicted_by:
            parts.append(f"contradicted by {_count(len(self.contradicted_by), 'task')}")
        return ", ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
