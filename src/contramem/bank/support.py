"""What a card rests on. Kept beside the card, in ledger and store, and never shown to an agent."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from contramem.bank.card import Strict

Scope: TypeAlias = Literal["universal", "finalization"]
"""A card for every task of its ability, or for its end (paper, A.8). None: for the tasks it applies to."""

Grade: TypeAlias = Literal["enforced", "proven", "observed"]
"""Why a rule is believed: a tool refuses otherwise; more than chance explains; or seen, with nothing against it."""
GRADES: tuple[Grade, ...] = get_args(Grade)
"""The best first."""

Count = Annotated[int, Field(ge=0)]
Names = Annotated[tuple[str, ...], AfterValidator(lambda names: tuple(sorted(set(names))))]
"""A set, in the one order that gives the same bytes each time."""


class CallList(Strict):
    """What most passing runs of a task called, up to their last write."""

    calls: Annotated[tuple[str, ...], Field(min_length=1)]
    """Each function once, in the order of the first calls; the write is the last."""
    request: str = ""
    """The words of the task's request, as terms. Searched, never shown."""
    taught_by: Names = ()
    """Digests of task id, task text and scenario, so that a task is not shown its own list."""


def _sort_lists(lists: tuple[CallList, ...]) -> tuple[CallList, ...]:
    return tuple(sorted(set(lists), key=lambda item: (item.calls, item.request, item.taught_by)))


def _read_names(lists: object) -> object:
    """Stores of earlier versions have the names of the calls alone."""
    if not isinstance(lists, list | tuple):
        return lists
    return tuple({"calls": item} if isinstance(item, list | tuple) else item for item in lists)


CallLists = Annotated[tuple[CallList, ...], BeforeValidator(_read_names), AfterValidator(_sort_lists)]


def rename_key(fields: dict[str, Any], name: str, stored: str) -> dict[str, Any]:
    """The fields in their order, with one under the name that stores have for it. A setting of pydantic would do it,
    but only from 2.11 on, and the runtime is installed beside agents that pin 2.10."""
    return {stored if field == name else field: value for field, value in fields.items()}


class GuardSupport(Strict):
    """How a guard fared when it was replayed on the runs behind its card."""

    held: Count = 0
    """On passing runs."""
    broken: Count = 0
    """By failing runs."""
    contradicted: Count = 0
    """Passing runs that broke it."""

    def __add__(self, other: GuardSupport) -> GuardSupport:
        return GuardSupport(
            held=self.held + other.held,
            broken=self.broken + other.broken,
            contradicted=self.contradicted + other.contradicted,
        )


GuardCountsByText = Annotated[dict[str, GuardSupport], AfterValidator(lambda counts: dict(sorted(counts.items())))]


class CardSupport(Strict):
    """The evidence of one card. Sets rather than counts, so that the same task seen twice counts once."""

    model_config = ConfigDict(populate_by_name=True)

    tasks: Names = ()
    """Tasks whose runs showed the rule: keys, or digests of them."""
    sources: Names = ()
    """Models or agents whose runs did."""
    contradicted_by: Names = ()
    """Tasks where a passing run did otherwise."""
    taught_by: Names = ()
    """Digests of task id, task text and scenario, so that a card is not tested on the task that taught it."""
    request_words: Names = ()
    """The words of each request that taught the card, masked and without their order. Searched, never shown."""
    call_lists: CallLists = ()
    """Of a Function Card: what passing runs that ended in this write called. Shown to small models, as a numbered
    list."""
    scope: Scope | None = None
    grade: Grade | None = None
    """None: nobody has asked, or the card says nothing that runs could show."""
    guard_counts: GuardCountsByText = Field(default_factory=dict, validation_alias="support")
    """By guard, as the card writes it. Stored as `support`."""

    @model_serializer(mode="wrap")
    def _store(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return rename_key(write(self), "guard_counts", "support")

    def __add__(self, more: CardSupport) -> CardSupport:
        """Both together. The newer scope wins, if it says one; guard counts add up."""
        guard_counts = dict(self.guard_counts)
        for guard, counts in more.guard_counts.items():
            guard_counts[guard] = guard_counts.get(guard, GuardSupport()) + counts
        return CardSupport(
            tasks=self.tasks + more.tasks,
            sources=self.sources + more.sources,
            contradicted_by=self.contradicted_by + more.contradicted_by,
            taught_by=self.taught_by + more.taught_by,
            request_words=self.request_words + more.request_words,
            call_lists=self.call_lists + more.call_lists,
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
