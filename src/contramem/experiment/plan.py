"""Plan: the runs that an experiment consists of, and which of them are there already."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from contramem.evaluate.split import SplitTask
from contramem.experiment.folder import ResultFolder, file_name
from contramem.experiment.folds import Fold
from contramem.experiment.jobs import Job, left, seed_of
from contramem.experiment.memory_builder import NO_MEMORY, MemoryBuilder
from contramem.experiment.opened import OpenedExperiment, limits_of


def tested(setting: OpenedExperiment, fold: Fold) -> list[SplitTask]:
    """The tasks that are run for this fold."""
    keys = fold.held_out if setting.config.conditions.on == "held_out" else fold.reference
    return setting.are_run(keys)


@dataclass(frozen=True)
class Arm:
    """One target under one condition, with the memory of one fold."""

    condition: str
    target: str
    fold: int
    memory: str
    """A digest of the memory that its runs are shown. Empty: none."""
    folder: Path


def collecting(setting: OpenedExperiment, folder: ResultFolder) -> list[Job]:
    """The runs to make that are learned from: each collected target at each task that teaches in some fold."""
    tasks = setting.are_run(sorted({key for fold in setting.folds for key in fold.reference}))
    return [
        _job(setting, Arm(NO_MEMORY, target, 0, "", folder.reference / file_name(target)), task, trial)
        for target in setting.config.sources.collect
        for task in tasks
        for trial in range(setting.config.sources.trials)
    ]


def testing(setting: OpenedExperiment, folder: ResultFolder, workshops: Sequence[MemoryBuilder]) -> list[Job]:
    """Every target under every condition at every task that is tested.

    Task by task, so that what is done when somebody stops it can be compared: a task's runs are there under all
    conditions or none.
    """
    assert setting.config.environment is not None
    arms = {shop.fold: list(_arms(setting, folder, shop)) for shop in workshops}
    return [
        _job(setting, arm, task, trial)
        for trial in range(setting.config.environment.trials)
        for shop in workshops
        for task in shop.tested
        for arm in arms[shop.fold]
    ]


def _arms(setting: OpenedExperiment, folder: ResultFolder, shop: MemoryBuilder) -> Iterator[Arm]:
    for condition in setting.config.conditions.run:
        for target in setting.config.targets:
            memory = "" if condition == NO_MEMORY else shop.inputs(condition, target)
            yield Arm(condition, target, shop.fold, memory, folder.runs / condition / file_name(target))


def _job(setting: OpenedExperiment, arm: Arm, task: SplitTask, trial: int) -> Job:
    place = setting.places[task.key]
    seed = seed_of(setting.config.seed, arm.target, task.key, trial)
    return Job(
        condition=arm.condition,
        target=arm.target,
        fold=arm.fold,
        environment=place.environment.name,
        task_id=place.task_id,
        trial=trial,
        seed=seed,
        inputs=_inputs(setting, arm, task, seed),
        folder=arm.folder,
    )


def _inputs(setting: OpenedExperiment, arm: Arm, task: SplitTask, seed: int) -> str:
    environment = setting.config.environment
    assert environment is not None
    given = setting.config.targets[arm.target]
    parts = [
        arm.memory,
        msgspec.to_builtins(given),
        setting.code_digest(given.python),
        [setting.code_digest(name) for name in environment.names],
        task.key,
        task.wording,
        msgspec.to_builtins(limits_of(environment, task.ability)),
        seed,
        version("contramem"),
    ]
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()


@dataclass(frozen=True)
class PlannedRuns:
    """What is to be run of one target under one condition."""

    what: str
    target: str
    runs: int
    done: int
    calls: int
    """At most: the limit of steps for each run that is left."""
    cost_usd: float | None
    """At most, from the limit of tokens. None: no limit, or no price."""


def rows(setting: OpenedExperiment, jobs: Iterable[Job], label: str | None = None) -> Iterator[PlannedRuns]:
    """Jobs by condition and target."""
    groups: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        groups.setdefault((label or job.condition, job.target), []).append(job)
    for (what, target), group in groups.items():
        open_jobs = left(group)
        yield PlannedRuns(what, target, len(group), len(group) - len(open_jobs), _calls(setting, open_jobs),
                  _cost(setting, target, open_jobs))  # fmt: skip


def _calls(setting: OpenedExperiment, jobs: Sequence[Job]) -> int:
    return sum(_limits(setting, job).steps for job in jobs)


def _limits(setting: OpenedExperiment, job: Job) -> Any:
    assert setting.config.environment is not None
    return limits_of(setting.config.environment, setting.tasks[f"{job.environment}/{job.task_id}"].ability)


def _cost(setting: OpenedExperiment, target: str, jobs: Sequence[Job]) -> float | None:
    price = setting.price(target)
    if price is None:
        return 0.0 if setting.config.targets[target].kind == "python" else None
    tokens = [_limits(setting, job).tokens for job in jobs]
    if None in tokens:
        return None
    return sum(max(price.of(count, 0), price.of(0, count)) for count in tokens)


def split_json(setting: OpenedExperiment) -> dict[str, Any]:
    """The split as it is kept and published."""
    abilities = {key: task.ability for key, task in setting.tasks.items()}
    return {
        "by": setting.config.split.by,
        "seed": setting.config.seed if setting.config.split.seed is None else setting.config.split.seed,
        "folds": [
            {
                "reference": list(fold.reference),
                "held_out": list(fold.held_out),
                "abilities": {
                    side: dict(sorted(Counter(abilities[key] for key in keys).items()))
                    for side, keys in (("reference", fold.reference), ("held_out", fold.held_out))
                },
            }
            for fold in setting.folds
        ],
    }
