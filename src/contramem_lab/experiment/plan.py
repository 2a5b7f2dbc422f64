"""Plan: the runs that an experiment consists of, and which of them exist already."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from contramem_lab.experiment.config import EnvironmentConfig
from contramem_lab.experiment.folder import ResultFolder, file_name
from contramem_lab.experiment.folds import Fold
from contramem_lab.experiment.jobs import Job, jobs_to_do, seed_of
from contramem_lab.experiment.memory_builder import NO_MEMORY, MemoryBuilder
from contramem_lab.experiment.opened import OpenedExperiment, limits_of
from contramem_lab.experiment.self_running import SELF_RUNNING, task_digest
from contramem_lab.split import SplitTask


def tasks_to_test(opened: OpenedExperiment, fold: Fold) -> list[SplitTask]:
    """The tasks that are run for this fold."""
    keys = fold.held_out if opened.config.conditions.on == "held_out" else fold.reference
    return opened.are_run(keys)


@dataclass(frozen=True)
class Arm:
    """One target under one condition, with the memory of one fold."""

    condition: str
    target: str
    fold: int
    memory: str
    """A digest of the memory shown to its runs. Empty: none."""
    folder: Path


def jobs_to_collect(opened: OpenedExperiment, folder: ResultFolder) -> list[Job]:
    """The reference runs to make: each collected target on each task that teaches in some fold."""
    tasks = opened.are_run(sorted({key for fold in opened.folds for key in fold.reference}))
    return [
        _job(opened, Arm(NO_MEMORY, target, 0, "", folder.reference / file_name(target)), task, trial)
        for target in opened.config.sources.collect
        for task in tasks
        for trial in range(opened.config.sources.target_trials.get(target, opened.config.sources.trials))
    ]


def jobs_to_test(opened: OpenedExperiment, folder: ResultFolder, builders: Sequence[MemoryBuilder]) -> list[Job]:
    """Every target under every condition on every tested task.

    Ordered by task, so that the results can be compared if somebody stops it: a task has its runs under all conditions
    or under none.
    """
    assert opened.config.environment is not None
    arms = {builder.fold: list(_arms(opened, folder, builder)) for builder in builders}
    return [
        _job(opened, arm, task, trial)
        for trial in range(opened.config.environment.trials)
        for builder in builders
        for task in builder.tested
        for arm in arms[builder.fold]
        if opened.is_wanted(arm.condition, arm.target, task.ability)
    ]


def _arms(opened: OpenedExperiment, folder: ResultFolder, builder: MemoryBuilder) -> Iterator[Arm]:
    for condition in opened.config.conditions.run:
        for target in opened.config.targets:
            memory = "" if condition == NO_MEMORY else builder.inputs(condition, target)
            yield Arm(condition, target, builder.fold, memory, folder.runs / condition / file_name(target))


def _job(opened: OpenedExperiment, arm: Arm, task: SplitTask, trial: int) -> Job:
    place = opened.places[task.key]
    seed = seed_of(opened.config.seed, arm.target, task.key, trial)
    return Job(
        condition=arm.condition,
        target=arm.target,
        fold=arm.fold,
        environment=place.environment.name,
        task_id=place.task_id,
        trial=trial,
        seed=seed,
        inputs=_inputs(opened, arm, task, seed),
        folder=arm.folder,
    )


def _inputs(opened: OpenedExperiment, arm: Arm, task: SplitTask, seed: int) -> str:
    environment = opened.config.environment
    assert environment is not None
    target = opened.config.targets[arm.target]
    parts = [
        arm.memory,
        msgspec.to_builtins(target),
        opened.code_digest(target.python),
        [opened.code_digest(name) for name in environment.names],
        _environment_settings(opened, environment, task),
        task.key,
        task.wording,
        msgspec.to_builtins(limits_of(environment, task.ability)),
        seed,
        version("contramem"),
    ]
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()


def _environment_settings(opened: OpenedExperiment, environment: EnvironmentConfig, task: SplitTask) -> list[Any]:
    """What else a run depends on in an environment with its own settings. Empty for others, so their runs stay
    valid."""
    settings = [msgspec.to_builtins(getattr(environment, name)) for name in environment.names if name in SELF_RUNNING]
    return [*settings, task_digest(opened.places[task.key].task)] if settings else []


@dataclass(frozen=True)
class PlannedRuns:
    """What is to be run of one target under one condition."""

    what: str
    target: str
    runs: int
    done: int
    calls: int
    """An upper bound: the step limit for each remaining run."""
    cost_usd: float | None
    """An upper bound from the token limit. None: no limit, or no price."""


def rows(opened: OpenedExperiment, jobs: Iterable[Job], label: str | None = None) -> Iterator[PlannedRuns]:
    """Jobs by condition and target."""
    groups: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        groups.setdefault((label or job.condition, job.target), []).append(job)
    for (what, target), group in groups.items():
        open_jobs = jobs_to_do(group)
        yield PlannedRuns(what, target, len(group), len(group) - len(open_jobs), _calls(opened, open_jobs),
                  _cost(opened, target, open_jobs))  # fmt: skip


def _calls(opened: OpenedExperiment, jobs: Sequence[Job]) -> int:
    return sum(_limits(opened, job).steps for job in jobs)


def _limits(opened: OpenedExperiment, job: Job) -> Any:
    assert opened.config.environment is not None
    return limits_of(opened.config.environment, opened.tasks[f"{job.environment}/{job.task_id}"].ability)


def _cost(opened: OpenedExperiment, target: str, jobs: Sequence[Job]) -> float | None:
    price = opened.price(target)
    if price is None:
        return 0.0 if opened.config.targets[target].kind == "python" else None
    tokens = [_limits(opened, job).tokens for job in jobs]
    if None in tokens:
        return None
    return sum(max(price.of(count, 0), price.of(0, count)) for count in tokens)


def split_json(opened: OpenedExperiment) -> dict[str, Any]:
    """The split as stored and published."""
    abilities = {key: task.ability for key, task in opened.tasks.items()}
    return {
        "by": opened.config.split.by,
        "seed": opened.config.seed if opened.config.split.seed is None else opened.config.split.seed,
        "folds": [
            {
                "reference": list(fold.reference),
                "held_out": list(fold.held_out),
                "abilities": {
                    side: dict(sorted(Counter(abilities[key] for key in keys).items()))
                    for side, keys in (("reference", fold.reference), ("held_out", fold.held_out))
                },
            }
            for fold in opened.folds
        ],
    }
