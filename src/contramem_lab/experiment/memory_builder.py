"""Builds the memories of one fold, each by its condition, and freezes them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import version

import msgspec

from contramem.bank.frozen import load_frozen
from contramem.inject.provider import MemoryProvider
from contramem.inject.run import Memory
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Trajectory
from contramem_lab.conditions import (
    CONDITIONS,
    BuiltMemory,
    ConditionInputs,
    ConstructionCost,
    NotApplicable,
    Reference,
)
from contramem_lab.experiment import controls, leakage
from contramem_lab.experiment.authors import Authors
from contramem_lab.experiment.folder import ResultFolder, writable
from contramem_lab.experiment.memory import Facts, ProfiledProvider, freeze_memory, frozen_memory, place_of
from contramem_lab.experiment.opened import OpenedExperiment, RunnableTask
from contramem_lab.split import SplitTask

NO_MEMORY = "none"


def uses_own_runs(condition: str) -> bool:
    """Does every target have its own memory? Controls have none."""
    return condition in CONDITIONS and CONDITIONS[condition].uses_own_runs


def uses_cards(condition: str) -> bool:
    """Is the memory a bank, independent of the tasks that are run?"""
    return condition in CONDITIONS and CONDITIONS[condition].uses_cards


@dataclass
class MemoryBuilder:
    """Makes the memories of one fold on first use."""

    opened: OpenedExperiment
    folder: ResultFolder
    fold: int
    runs: Sequence[Trajectory]
    """The runs that may be learned from."""
    tested: Sequence[SplitTask]
    """Tasks that will be run or judged."""
    authors: Authors | None = None
    """None: nothing is built by a model."""
    _memories: dict[str, tuple[Facts, MemoryProvider | None]] = field(default_factory=dict)
    _inputs_by_source: dict[str | None, ConditionInputs] = field(default_factory=dict)

    @cached_property
    def reference(self) -> Reference:
        return Reference(self.runs)

    @cached_property
    def shared_reference(self) -> Reference:
        """What memories of all sources learn from."""
        rollouts = self.opened.config.construction.rollouts
        return self.reference if rollouts is None else self.reference.limit_rollouts(rollouts)

    def inputs(self, condition: str, target: str | None) -> str:
        """A digest of everything that the memory depends on."""
        config = self.opened.config
        parts = [
            condition,
            self._source(condition, target),
            self.reference.digest,
            msgspec.to_builtins(config.construction),
            msgspec.to_builtins(config.conditions) | {"run": ()} | ({"only": {}} if config.conditions.only else {}),
            config.split.by,
            [task.key for task in self.tested] if not uses_cards(condition) else [],
            version("contramem"),
        ]
        return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()

    def memory(self, condition: str, target: str | None) -> tuple[Facts, MemoryProvider | None]:
        """The memory and its facts. No provider: these runs cannot make it; the facts say why."""
        source = self._source(condition, target)
        place = place_of(condition, self.fold, source)
        if place not in self._memories:
            inputs = self.inputs(condition, target)
            self._memories[place] = frozen_memory(self.folder, place, inputs) or self._freeze(condition, source, inputs)
            facts, provider = self._memories[place]
            self._check(facts, provider)
        facts, provider = self._memories[place]
        return facts, None if provider is None else self._apply_profile(provider)

    def build(self, condition: str, source: str | None) -> BuiltMemory:
        """The memory as its condition makes it, with the ordering of runs that it defines."""
        if condition in controls.CONTROLS:
            return self._control(condition)
        if uses_own_runs(condition) and source not in self.reference.sources:
            raise NotApplicable(f"none of the runs to learn from are of {source}")
        if self.opened.config.construction.bank is not None and condition == "contramem":
            return self._load_bank()
        return CONDITIONS[condition].build(self._condition_inputs(source))

    def _source(self, condition: str, target: str | None) -> str | None:
        if not uses_own_runs(condition) or target is None:
            return None
        table = self.opened.config.targets.get(target)
        return (table.source if table and table.source else None) or target

    def _condition_inputs(self, source: str | None) -> ConditionInputs:
        if source not in self._inputs_by_source:
            profile = self.opened.config.conditions.profile or "default"
            stores = self.folder.memory / "stores"
            with writable(stores):
                stores.mkdir(parents=True, exist_ok=True)
            self._inputs_by_source[source] = ConditionInputs(
                self.shared_reference,
                stores,
                source,
                self.authors.author_of(source) if self.authors else None,
                profile,
                ability_profiles=self.opened.config.conditions.ability_profiles,
                reassesses=self.opened.config.construction.reassess,
                pool=self.reference,
            )
        return self._inputs_by_source[source]

    def _apply_profile(self, provider: MemoryProvider) -> ProfiledProvider:
        config = self.opened.config
        universal = config.environment is None or config.environment.are.universal
        return ProfiledProvider(provider, config.conditions, config.split.by, universal)

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
        freeze_memory(self.folder, place, empty, built, self._apply_profile(built.provider), self._queries)
        memory = frozen_memory(self.folder, place, inputs)
        assert memory is not None, "it was written just now"
        return memory

    @property
    def _queries(self) -> dict[str, Query]:
        """The queries for the tested tasks, by key."""
        places = self.opened.places if self.opened.runs_here else {}
        return {task.key: _query(task, places.get(task.key)) for task in self.tested}

    def _control(self, condition: str) -> BuiltMemory:
        places = self.opened.places
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

    def _load_bank(self) -> BuiltMemory:
        bank_file = self.opened.config.construction.bank
        assert bank_file is not None
        bank = load_frozen(self.opened.file.beside(bank_file))
        leakage.refuse(leakage.leaks_from_bank(self.tested, bank, self.opened.config.split.by, bank_file))
        return BuiltMemory(Memory(bank), len(bank.cards), "cards", 0, ConstructionCost(f"given: {bank_file}"))

    def _check(self, facts: Facts, provider: MemoryProvider | None) -> None:
        """Check that nothing built from the reference knows a tested task."""
        config = self.opened.config
        if (
            isinstance(provider, Memory)
            and config.conditions.on == "held_out"
            and not config.conditions.allow_same_task
        ):
            name = place_of(facts.condition, facts.fold, facts.target)
            leakage.refuse(leakage.leaks_from_bank(self.tested, provider.bank, config.split.by, name))


def _query(task: SplitTask, place: RunnableTask | None) -> Query:
    query = place.query if place else Query(task.wording)
    return replace(query, task=task.wording, ability=task.ability, task_id=task.id, scenario_id=task.scenario)
