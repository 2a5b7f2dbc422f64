"""Condition: a way to build a memory from reference runs. All memories are measured the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from contramem.bank.model_calls import StoredExchange
from contramem.bank.store import Store
from contramem.build.model.answering import AskNow
from contramem.build.model.author import ModelChoice
from contramem.inject.provider import MemoryProvider
from contramem.llm.exchange import Exchange, ModelCaller
from contramem_lab.baselines import Judge
from contramem_lab.conditions.reference import Reference

RULES = "rules"
NOTHING = "nothing to build"
ROLLOUTS = 3
"""How many runs of a task by one source `multi-rollout` learns from, as in the paper (Ablations)."""


class NotApplicable(Exception):
    """This memory cannot be built from these runs; the text says why. Its table row is n/a; the others continue."""


@dataclass(frozen=True)
class ConstructionCost:
    """What building a memory cost. Replies paid for by an earlier build count like new ones."""

    by: str
    """`rules`, the name of a model, or `nothing to build`."""
    trajectories: int = 0
    """The number of runs that it was built from."""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    """None if the price of some call is unknown."""
    seconds: float = 0.0
    """Wall-clock time, including contrasting. Replies from a store take no time."""

    @classmethod
    def of_calls(cls, by: str, trajectories: int, calls: Iterable[StoredExchange], seconds: float) -> ConstructionCost:
        call_list = list(calls)
        costs = [call.cost_usd for call in call_list]
        return cls(
            by=by,
            trajectories=trajectories,
            calls=len(call_list),
            tokens_in=sum(call.tokens_in for call in call_list),
            tokens_out=sum(call.tokens_out for call in call_list),
            cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
            seconds=seconds,
        )


@dataclass(frozen=True)
class BuiltMemory:
    """A memory built by a condition: guidance for agents, an order of runs if it defines one, and its cost."""

    provider: MemoryProvider
    items: int
    """The number of cards, runs, workflows or bullets."""
    unit: str
    tokens: int
    """The size of the whole memory. What one task gets of it is measured separately."""
    construction: ConstructionCost
    judge: Judge | None = None
    """Orders the runs of a task. None if this memory defines no order."""
    parts: Mapping[str, Judge] = field(default_factory=dict)
    """The parts of the order, measured separately."""


@dataclass(frozen=True)
class ByModel:
    """A model that builds memories. Replies are kept in stores, so that nothing is paid for twice."""

    choice: ModelChoice
    caller: ModelCaller

    def asking(self, store: Store) -> tuple[Exchange, AskNow]:
        exchange = Exchange(store)
        return exchange, AskNow(self.caller, exchange)


@dataclass(frozen=True)
class ConditionInputs:
    """The inputs of every condition."""

    reference: Reference
    folder: Path
    """For the stores of banks and replies. Existing stores are resumed."""
    target: str | None = None
    """The source whose own runs `self` and `multi-rollout` learn from."""
    model: ByModel | None = None
    """None to build by rules."""
    profile: str = "default"
    """The profile for retrieving and showing cards."""
    ability_profiles: Mapping[str, str] = field(default_factory=dict)
    """Other profiles for some abilities."""
    rollouts: int = ROLLOUTS
    reassesses: bool = True
    """Whether cards are checked against all runs at the end of a build."""
    pool: Reference | None = None
    """All runs, if `reference` has only some of each source: a memory from the target's own runs may need more."""
    kept: dict[str, object] = field(default_factory=dict, repr=False, compare=False)
    """Banks that several conditions share, built once by the first that needs them."""

    @property
    def by(self) -> str:
        return self.model.choice.name if self.model else RULES

    def own(self, rollouts: int) -> Reference:
        """The target's own runs."""
        if self.target is None:
            raise NotApplicable("there is no target: name the source whose runs it learns from")
        return (self.pool or self.reference).only(self.target, rollouts)

    def store(self, name: str, reference: Reference) -> Path:
        """The path of the store with this name for these runs."""
        return self.folder / f"{name}-{reference.digest}.db"


class Condition(Protocol):
    """Builds memories from inputs."""

    @property
    def name(self) -> str:
        """As `--conditions` takes it."""

    @property
    def about(self) -> str:
        """One line."""

    @property
    def uses_cards(self) -> bool:
        """Whether it is a bank of cards, which does not depend on the tasks that will be run."""

    @property
    def uses_own_runs(self) -> bool:
        """Whether it learns from the target's own runs, so that every target has its own memory."""

    def build(self, inputs: ConditionInputs) -> BuiltMemory:
        """Build the memory. Raises NotApplicable if these inputs don't allow it."""


@dataclass(frozen=True)
class FunctionCondition:
    """A condition implemented by a function."""

    name: str
    about: str
    build: Callable[[ConditionInputs], BuiltMemory]
    uses_cards: bool = False
    uses_own_runs: bool = False
