"""Condition: one way to make a memory from reference runs. What comes out is measured the same way for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from contramem.bank.calls import StoredExchange
from contramem.bank.store import Store
from contramem.build.model.answering import AskNow
from contramem.build.model.author import ModelChoice
from contramem.evaluate.baselines import Judge
from contramem.evaluate.conditions.reference import Reference
from contramem.inject.provider import MemoryProvider
from contramem.llm.calls import ModelCaller
from contramem.llm.exchange import Exchange

RULES = "rules"
NOTHING = "nothing to build"
ROLLOUTS = 3
"""Runs of a task by one source that `multi-rollout` learns from: as many as the paper has (Ablations)."""


class NotApplicable(Exception):
    """These runs cannot make this memory; the text says why. The row of a table says n/a, the others go on."""


@dataclass(frozen=True)
class ConstructionCost:
    """What making a memory took. Replies that an earlier build had paid for count like new ones."""

    by: str
    """`rules`, the name of a model, or `nothing to build`."""
    trajectories: int = 0
    """Runs that it was made from."""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    """None: the price of some call is not known."""
    seconds: float = 0.0
    """On the wall, contrasting included. With replies out of a store, the time without asking."""

    @classmethod
    def of_calls(cls, by: str, trajectories: int, calls: Iterable[StoredExchange], seconds: float) -> ConstructionCost:
        made = list(calls)
        costs = [call.cost_usd for call in made]
        return cls(
            by=by,
            trajectories=trajectories,
            calls=len(made),
            tokens_in=sum(call.tokens_in for call in made),
            tokens_out=sum(call.tokens_out for call in made),
            cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
            seconds=seconds,
        )


@dataclass(frozen=True)
class BuiltMemory:
    """What a condition made: help for an agent, an order of runs where it defines one, and what it all takes."""

    provider: MemoryProvider
    items: int
    """Cards, runs, workflows, bullets: what the memory counts itself in."""
    unit: str
    tokens: int
    """Of the whole memory in words. What one task gets of it is measured when it is given."""
    construction: ConstructionCost
    judge: Judge | None = None
    """Orders the runs of a task. None: this memory defines no order."""
    parts: Mapping[str, Judge] = field(default_factory=dict)
    """What the order is made of, for an honest reading."""


@dataclass(frozen=True)
class ByModel:
    """A model that writes memories. Replies are kept in stores, so that nothing is paid for twice."""

    choice: ModelChoice
    caller: ModelCaller

    def asking(self, store: Store) -> tuple[Exchange, AskNow]:
        exchange = Exchange(store)
        return exchange, AskNow(self.caller, exchange)


@dataclass(frozen=True)
class ConditionInputs:
    """What every condition is given."""

    reference: Reference
    folder: Path
    """For the stores of banks and replies. One that is kept is gone on from."""
    target: str | None = None
    """The source whose own runs `self` and `multi-rollout` learn from."""
    model: ByModel | None = None
    """None: by rules."""
    profile: str = "default"
    """How cards are retrieved and shown."""
    ability_profiles: Mapping[str, str] = field(default_factory=dict)
    """Other profiles for some abilities."""
    rollouts: int = ROLLOUTS
    reassesses: bool = True
    """Are cards held against all runs in the end?"""
    pool: Reference | None = None
    """All runs, where `reference` has only some of each source: a target's own memory may need more of its own."""
    kept: dict[str, object] = field(default_factory=dict, repr=False, compare=False)
    """What several conditions are made of: built once, by whichever comes first."""

    @property
    def by(self) -> str:
        return self.model.choice.name if self.model else RULES

    def own(self, rollouts: int) -> Reference:
        """The target's own runs."""
        if self.target is None:
            raise NotApplicable("there is no target: name the source whose runs it learns from")
        return (self.pool or self.reference).only(self.target, rollouts)

    def store(self, name: str, reference: Reference) -> Path:
        """Where the store of that name is for these runs."""
        return self.folder / f"{name}-{reference.digest}.db"


class Condition(Protocol):
    """Made once, builds any number of memories."""

    @property
    def name(self) -> str:
        """As `--conditions` takes it."""

    @property
    def about(self) -> str:
        """One line."""

    @property
    def uses_cards(self) -> bool:
        """It is a bank of cards, which does not depend on the tasks that will be run."""

    @property
    def uses_own_runs(self) -> bool:
        """It learns from the target's own runs, so every target has its own memory."""

    def build(self, inputs: ConditionInputs) -> BuiltMemory:
        """The memory, or NotApplicable."""


@dataclass(frozen=True)
class FunctionCondition:
    """A condition made of a function."""

    name: str
    about: str
    build: Callable[[ConditionInputs], BuiltMemory]
    uses_cards: bool = False
    uses_own_runs: bool = False
