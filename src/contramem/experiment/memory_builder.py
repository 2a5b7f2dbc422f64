"""Builds the memories of one fold, each by its condition, and freezes them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import version

import msgspec

from contramem.bank.frozen import load_frozen
from contramem.build.model.author import ModelChoice
from contramem.build.model.prompts import Prompts
from contramem.errors import UsageError
from contramem.evaluate.conditions import (
    CONDITIONS,
    BuiltMemory,
    ByModel,
    ConditionInputs,
    ConstructionCost,
    NotApplicable,
    Reference,
)
from contramem.evaluate.split import SplitTask
from contramem.experiment import controls, leakage
from contramem.experiment.config import ConstructionConfig
from contramem.experiment.folder import ResultFolder, writable
from contramem.experiment.memory import Facts, ProfiledProvider, freeze_memory, frozen_memory, place_of
from contramem.experiment.opened import OpenedExperiment, RunnableTask
from contramem.inject.provider import MemoryProvider
from contramem.inject.run import Memory
from contramem.llm.calls import Budget, ModelCaller
from contramem.llm.price import price_of
from contramem.llm.request import ModelSettings
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Trajectory

OWN_RUNS = ("self", "multi-rollout")
"""Conditions that are made of the target's own runs."""
NO_MEMORY = "none"
CARDS = ("contramem", "function-only", "skill-only", "self", "multi-rollout", "append-only")


@dataclass
class MemoryBuilder:
    """Makes the memories of one fold, when they are first asked for."""

    setting: OpenedExperiment
    folder: ResultFolder
    fold: int
    runs: Sequence[Trajectory]
    """What may be learned from."""
    tested: Sequence[SplitTask]
    """Tasks that will be run, or are judged."""
    model: ByModel | None = None
    _made: dict[str, tuple[Facts, MemoryProvider | None]] = field(default_factory=dict)
    _makings: dict[str | None, ConditionInputs] = field(default_factory=dict)

    @cached_property
    def reference(self) -> Reference:
        return Reference(self.runs)

    def inputs(self, condition: str, target: str | None) -> str:
        """A digest of all that the memory depends on."""
        config = self.setting.config
        parts = [
            condition,
            self._source(condition, target),
            self.reference.digest,
            msgspec.to_builtins(config.construction),
            msgspec.to_builtins(config.conditions) | {"run": ()},
            config.split.by,
            [task.key for task in self.tested] if condition not in CARDS else [],
            version("contramem"),
        ]
        return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()

    def memory(self, condition: str, target: str | None) -> tuple[Facts, MemoryProvider | None]:
        """The memory and the facts about it. No provider: these runs cannot give one, and the facts say why."""
        source = self._source(condition, target)
        place = place_of(condition, self.fold, source)
        if place not in self._made:
            inputs = self.inputs(condition, target)
            self._made[place] = frozen_memory(self.folder, place, inputs) or self._freeze(condition, source, inputs)
            facts, provider = self._made[place]
            self._check(facts, provider)
        facts, provider = self._made[place]
        return facts, None if provider is None else self._fitted(provider)

    def build(self, condition: str, source: str | None) -> BuiltMemory:
        """The memory as its condition makes it, with the order of runs that it defines."""
        if condition in controls.CONTROLS:
            return self._control(condition)
        if condition in OWN_RUNS and source not in self.reference.sources:
            raise NotApplicable(f"none of the runs to learn from are of {source}")
        if self.setting.config.construction.bank is not None and condition == "contramem":
            return self._given()
        return CONDITIONS[condition].build(self._making(source))

    def _source(self, condition: str, target: str | None) -> str | None:
        if condition not in OWN_RUNS or target is None:
            return None
        table = self.setting.config.targets.get(target)
        return (table.source if table and table.source else None) or target

    def _making(self, source: str | None) -> ConditionInputs:
        if source not in self._makings:
            profile = self.setting.config.conditions.profile or "default"
            stores = self.folder.memory / "stores"
            with writable(stores):
                stores.mkdir(parents=True, exist_ok=True)
            self._makings[source] = ConditionInputs(self.reference, stores, source, self.model, profile)
        return self._makings[source]

    def _fitted(self, provider: MemoryProvider) -> ProfiledProvider:
        return ProfiledProvider(provider, self.setting.config.conditions, self.setting.config.split.by)

    def _freeze(self, condition: str, source: str | None, inputs: str) -> tuple[Facts, MemoryProvider | None]:
        place = place_of(condition, self.fold, source)
        empty = Facts(
            condition=condition, fold=self.fold, target=source, inputs=inputs, sha256="", items=0, unit="", tokens=0,
            construction=asdict(ConstructionCost("nothing")),
        )  # fmt: skip
        try:
            built = self.build(condition, source)
        except NotApplicable as reason:
            facts = msgspec.structs.replace(empty, reason=str(reason))
            self.folder.write_json(f"{place}/memory.json", facts)
            return facts, None
        freeze_memory(self.folder, place, empty, built, self._fitted(built.provider), self._queries)
        found = frozen_memory(self.folder, place, inputs)
        assert found is not None, "it was written just now"
        return found

    @property
    def _queries(self) -> dict[str, Query]:
        """What memories are asked about the tasks that are tested, by key."""
        places = self.setting.places if self.setting.runs_here else {}
        return {task.key: _query(task, places.get(task.key)) for task in self.tested}

    def _control(self, condition: str) -> BuiltMemory:
        places = self.setting.places
        if condition == controls.CEILING:
            return BuiltMemory(
                controls.ceiling(places), len(self.tested), "plans", 0, ConstructionCost("the tasks' makers")
            )
        facts, cards = self.memory("contramem", None)
        if cards is None:
            raise NotApplicable(facts.reason)
        return BuiltMemory(
            controls.wrong_card(cards, places), facts.items, facts.unit, facts.tokens, ConstructionCost("rules")
        )

    def _given(self) -> BuiltMemory:
        bank_file = self.setting.config.construction.bank
        assert bank_file is not None
        bank = load_frozen(self.setting.file.beside(bank_file))
        leakage.refuse(leakage.leaks_from_bank(self.tested, bank, self.setting.config.split.by, bank_file))
        return BuiltMemory(Memory(bank), len(bank.cards), "cards", 0, ConstructionCost(f"given: {bank_file}"))

    def _check(self, facts: Facts, provider: MemoryProvider | None) -> None:
        """Whatever was built from the reference knows no task that is tested."""
        config = self.setting.config
        if (
            isinstance(provider, Memory)
            and config.conditions.on == "held_out"
            and not config.conditions.allow_same_task
        ):
            name = place_of(facts.condition, facts.fold, facts.target)
            leakage.refuse(leakage.leaks_from_bank(self.tested, provider.bank, config.split.by, name))


def _query(task: SplitTask, place: RunnableTask | None) -> Query:
    known = place.query if place else Query(task.wording)
    return replace(known, task=task.wording, ability=task.ability, task_id=task.id, scenario_id=task.scenario)


@contextmanager
def author(construction: ConstructionConfig) -> Iterator[ByModel | None]:
    """Who writes the memories: None for rules."""
    if construction.author == "rules":
        yield None
        return
    from contramem.llm.client import ProviderModel

    assert construction.model is not None, "checked before"
    settings = ModelSettings(temperature=construction.temperature, reasoning_effort=construction.reasoning_effort)
    choice = ModelChoice(construction.model, settings, Prompts(construction.suite))
    price = price_of(construction.model)
    if construction.budget_usd is not None and price is None:
        raise UsageError(
            f"construction.budget_usd: nobody says what {construction.model} costs, so no limit can be kept."
        )
    budget = Budget(construction.budget_usd, price) if construction.budget_usd is not None and price else None
    model = ProviderModel(construction.model, base_url=construction.url)
    try:
        yield ByModel(choice, ModelCaller(model, budget=budget))
    finally:
        model.close()
