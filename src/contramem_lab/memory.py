"""Memories of an experiment: built once by their condition, frozen on disk with a hash, and loaded from there.

Two controls are no memories: the plan of the task's own solution (the most that text could achieve), and the cards of
an unrelated task (what any text achieves).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from contramem.bank.frozen import load_frozen, write_frozen
from contramem.build.model.author import ModelChoice
from contramem.build.model.prompts import Prompts
from contramem.errors import UsageError
from contramem.inject.provider import MemoryProvider, MemoryRun, TextMemory
from contramem.inject.run import Memory
from contramem.llm.client import ModelSettings, price_of
from contramem.llm.exchange import Budget, ModelCaller
from contramem.prompts import render
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import Profile, profile_named
from contramem.traces.trajectory import Trajectory, digest
from contramem_lab.condition import BuiltMemory, ByModel, ConditionInputs, ConstructionCost, NotApplicable, Reference
from contramem_lab.conditions import CONDITIONS
from contramem_lab.config import ConditionsConfig, ConstructionConfig, ExperimentConfig, Grouping, TargetConfig
from contramem_lab.environment import AnyEnvironment, SelfRunningEnvironment
from contramem_lab.jobs import ResultFolder, writable
from contramem_lab.opened import OpenedExperiment, RunnableTask
from contramem_lab.split import SplitTask, leaks_from_bank, refuse_leaks

if TYPE_CHECKING:
    from contramem.llm.client import ProviderModel


PLAN = "prompts/plan.jinja"


def plan_of(environment: AnyEnvironment, task_id: str) -> str:
    """The functions of the task's solution, in order, without arguments. Empty if no solution is known."""
    solution = None if isinstance(environment, SelfRunningEnvironment) else environment.solution(task_id)
    if solution is None:
        return ""
    names = [call.function.rpartition(".")[2] for calls in solution.turns for call in calls]
    return render(
        PLAN, "contramem_lab", steps=[(name, len(list(times))) for name, times in groupby(names)]
    ).text.strip()


def text_for_another_task(provider: MemoryProvider, task: str, others: Mapping[str, Query]) -> str:
    """What `provider` says for one of `others`: the first, in an order specific to the task, with an answer."""
    shuffled = sorted(others, key=lambda key: digest(f"{task}\n{key}"))
    texts = (provider.begin(others[key]).guidance.text for key in shuffled)
    return next((text for text in texts if text), "")


CEILING, WRONG_CARD = "ceiling", "wrong-card"
CONTROLS = {
    CEILING: "the functions of the task's own solution, as a plan",
    WRONG_CARD: "the cards of a task that has nothing to do with this one",
}


def ceiling(places: Mapping[str, RunnableTask]) -> TextMemory:
    """Shows every task its own plan."""
    by_wording = _by_wording(places)

    def write(query: Query) -> str:
        place = by_wording[query.task]
        return plan_of(place.environment, place.task_id)

    return TextMemory(write)


def wrong_card(memory: MemoryProvider, places: Mapping[str, RunnableTask]) -> TextMemory:
    """Shows every task what `memory` says for a task that shares neither app nor family with it."""
    by_wording = _by_wording(places)

    def write(query: Query) -> str:
        unrelated = _pick_unrelated(by_wording[query.task], places)
        return text_for_another_task(memory, query.task, {key: place.query for key, place in unrelated.items()})

    return TextMemory(write)


def _by_wording(places: Mapping[str, RunnableTask]) -> dict[str, RunnableTask]:
    return {place.task.wording: place for place in places.values()}


def _pick_unrelated(place: RunnableTask, places: Mapping[str, RunnableTask]) -> dict[str, RunnableTask]:
    """Tasks unrelated to this one: of other apps or, if all share their apps, of other families."""
    here = place.task
    others = {key: other for key, other in places.items() if other != place}
    far = {key: other for key, other in others.items() if not set(other.task.apps) & set(here.apps)}
    near = {key: other for key, other in others.items() if other.task.family != here.family}
    return far or near or others


class Authors:
    """The models that write memories, opened on first use and closed together."""

    def __init__(self, config: ExperimentConfig) -> None:
        self._construction = config.construction
        self._targets = {table.source or name: (name, table) for name, table in config.targets.items()}
        self._authors: dict[str | None, ByModel] = {}
        self._models: list[ProviderModel] = []

    def __enter__(self) -> Authors:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for model in self._models:
            model.close()

    def author_of(self, source: str | None) -> ByModel | None:
        """The author of a memory of the runs of one `source`, or of all runs. None: rules."""
        construction = self._construction
        if construction.author == "rules":
            return None
        own = source if construction.self_curated and source in self._targets else None
        if own not in self._authors:
            self._authors[own] = self._open(
                construction if own is None else _by_target(construction, self._targets[own])
            )
        return self._authors[own]

    def _open(self, construction: ConstructionConfig) -> ByModel:
        from contramem.llm.client import ProviderModel

        assert construction.model is not None, "checked before"
        settings = ModelSettings(temperature=construction.temperature, reasoning_effort=construction.reasoning_effort)
        choice = ModelChoice(
            construction.model, settings, Prompts(construction.suite), every_function=construction.every_function
        )
        budget = _budget(construction)
        model = ProviderModel(construction.model, base_url=construction.url, key_from=construction.key)
        self._models.append(model)
        return ByModel(choice, ModelCaller(model, budget=budget))


def _by_target(construction: ConstructionConfig, named: tuple[str, TargetConfig]) -> ConstructionConfig:
    """The same construction by a target, reached in the same way as the target."""
    name, target = named
    return msgspec.structs.replace(
        construction,
        model=f"openai:{target.model or name}",
        url=target.url,
        key=target.key,
        reasoning_effort=target.reasoning_effort,
    )


def _budget(construction: ConstructionConfig) -> Budget | None:
    if construction.budget_usd is None:
        return None
    price = price_of(construction.model or "")
    if price is None:
        raise UsageError(
            f"construction.budget_usd: the price of {construction.model} is not known, so a budget cannot be enforced."
        )
    return Budget(construction.budget_usd, price)


BANK, SHOWN, FACTS = "bank.jsonl", "shown.jsonl", "memory.json"


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a memory besides the memory itself."""

    condition: str
    fold: int
    target: str | None
    """Whose own runs it is made from, if that matters."""
    inputs: str
    """A digest of what it was made from. With another digest, another memory is built."""
    sha256: str
    """Hash of the bank, or of the texts shown to tasks."""
    items: int
    unit: str
    tokens: int
    construction: dict[str, Any]
    reason: str = ""
    """Why these runs cannot make it. Then there is no memory."""


@dataclass(frozen=True)
class ProfiledProvider:
    """A provider with the experiment's settings: which profile, and what counts as already knowing the task."""

    provider: MemoryProvider
    rules: ConditionsConfig
    by: Grouping
    universal: bool = True
    """Universal cards come first for Time."""

    def begin(self, query: Query, *, run_id: str | None = None) -> MemoryRun:
        if self.rules.allow_same_task:
            query = replace(query, task_id=None, scenario_id=None)
        elif self.by != "scenario":
            # A split by task puts one scenario on both sides on purpose; its other tasks may teach.
            query = replace(query, scenario_id=None)
        if isinstance(self.provider, Memory):
            profile: str | Profile | None = self.rules.profile_of(query.ability)
            if profile == "time":
                profile = time_profile(self.universal)
            return self.provider.begin(query, run_id=run_id, profile=profile)
        return self.provider.begin(query, run_id=run_id)


def time_profile(universal: bool) -> Profile:
    """How cards are shown for Time, with or without slots reserved for universal cards."""
    profile = profile_named("time")
    return profile if universal else replace(profile, universal_skills=0)


def place_of(condition: str, fold: int, target: str | None) -> str:
    """Where a memory is stored in the result folder."""
    return f"memory/fold-{fold + 1}/{condition}{f'@{target}' if target else ''}"


def frozen_memory(folder: ResultFolder, place: str, inputs: str) -> tuple[Facts, MemoryProvider | None] | None:
    """The memory at `place`, if it exists and was made from these inputs. A modified file is refused."""
    document = folder.read_json(f"{place}/{FACTS}")
    if document is None or document.get("inputs") != inputs:
        return None
    facts = msgspec.convert(document, Facts)
    if facts.reason:
        return facts, None
    path = folder.path / place
    if (path / BANK).exists():
        bank = load_frozen(path / BANK)
        _check(path / BANK, bank.header.content_sha256, facts.sha256)
        return facts, Memory(bank)
    content = (path / SHOWN).read_bytes()
    _check(path / SHOWN, hashlib.sha256(content).hexdigest(), facts.sha256)
    rows = map(msgspec.json.decode, content.splitlines())
    texts = {row["task"]: row["text"] for row in rows}
    return facts, TextMemory(lambda query: texts[query.task])


def _check(path: Path, found: str, expected: str) -> None:
    if found != expected:
        raise UsageError(f"{path}: was changed after it was frozen. Delete {path.parent} and run again.")


def freeze_memory(
    folder: ResultFolder,
    place: str,
    facts: Facts,
    built: BuiltMemory,
    profiled: ProfiledProvider,
    queries: Mapping[str, Query],
) -> Facts:
    """Write a memory to its place, with the facts that mark it as complete last. `queries`: the tasks, by key."""
    path = folder.path / place
    for name in (FACTS, BANK, SHOWN):
        (path / name).unlink(missing_ok=True)
    if isinstance(built.provider, Memory):
        path.mkdir(parents=True, exist_ok=True)
        bank = built.provider.bank
        header = write_frozen(path / BANK, bank.to_bank(), bank.header.profile, bank.header.ability_profiles)
        sha256 = header.content_sha256
    else:
        content = b"".join(msgspec.json.encode(_row(profiled, key, query)) + b"\n" for key, query in queries.items())
        folder.write(f"{place}/{SHOWN}", content)
        sha256 = hashlib.sha256(content).hexdigest()
    whole = msgspec.structs.replace(
        facts,
        sha256=sha256,
        items=built.items,
        unit=built.unit,
        tokens=built.tokens,
        construction=asdict(built.construction),
    )
    folder.write_json(f"{place}/{FACTS}", whole)
    return whole


def _row(profiled: ProfiledProvider, key: str, query: Query) -> dict[str, str]:
    return {"key": key, "task": query.task, "text": profiled.begin(query).guidance.text}


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
        if condition in CONTROLS:
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
        return ProfiledProvider(provider, config.conditions, config.split.by, config.environment.are.universal)

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
        if condition == CEILING:
            return BuiltMemory(ceiling(places), len(self.tested), "plans", 0, ConstructionCost("the tasks' makers"))
        facts, cards = self.memory("contramem", None)
        if cards is None:
            raise NotApplicable(facts.reason)
        return BuiltMemory(wrong_card(cards, places), facts.items, facts.unit, facts.tokens, ConstructionCost("rules"))

    def _load_bank(self) -> BuiltMemory:
        bank_file = self.opened.config.construction.bank
        assert bank_file is not None
        bank = load_frozen(self.opened.file.beside(bank_file))
        refuse_leaks(leaks_from_bank(self.tested, bank, self.opened.config.split.by, bank_file))
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
            refuse_leaks(leaks_from_bank(self.tested, provider.bank, config.split.by, name))


def _query(task: SplitTask, place: RunnableTask | None) -> Query:
    query = place.query if place else Query(task.wording)
    return replace(query, task=task.wording, ability=task.ability, task_id=task.id, scenario_id=task.scenario)
