"""What an experiment needs and lacks, and the runs that it consists of. All that is missing is reported at once."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from contramem.errors import UsageError, nearest
from contramem.retrieve.profiles import profile_named
from contramem_lab.conditions import CONDITIONS
from contramem_lab.config import EnvironmentConfig, ExperimentConfig, ExperimentFile
from contramem_lab.environment import open_environment
from contramem_lab.jobs import Job, ResultFolder, file_name, jobs_to_do, seed_of
from contramem_lab.memory import CONTROLS, NO_MEMORY, MemoryBuilder
from contramem_lab.opened import (
    SELF_RUNNING,
    OpenedExperiment,
    check_are,
    limits_of,
    open_self_running,
    paths_of,
    task_digest,
)
from contramem_lab.split import Fold, SplitTask


def check_sense(file: ExperimentFile) -> None:
    """Find what no machine could run: unknown names, parts that contradict each other."""
    config = file.config
    names = {**CONDITIONS, **CONTROLS}
    for name in config.conditions.run:
        if name not in names:
            raise UsageError(
                f"{file.path}: conditions.run: there is no condition {name!r}{nearest(name, names)} "
                f"It takes {', '.join(names)}."
            )
    _check_only(file)
    for profile in (config.conditions.profile, *config.conditions.ability_profiles.values()):
        if profile is not None:
            profile_named(profile)
    for name in config.sources.collect:
        if name not in config.targets:
            raise UsageError(
                f"{file.path}: sources.collect: there is no target {name!r}{nearest(name, config.targets)}"
            )
    for complaint in _contradictions(file):
        raise UsageError(f"{file.path}: {complaint}")


def _check_only(file: ExperimentFile) -> None:
    """Check that the conditions and targets in `only` exist."""
    config = file.config
    for condition, only in config.conditions.only.items():
        for what, name, names in [
            ("condition in conditions.run", condition, config.conditions.run),
            *(("target", target, tuple(config.targets)) for target in only.targets),
        ]:
            if name not in names:
                raise UsageError(f"{file.path}: conditions.only: there is no {what} {name!r}{nearest(name, names)}")


def _contradictions(file: ExperimentFile) -> Iterator[str]:
    config = file.config
    if not config.sources.paths and not config.sources.collect:
        yield "sources: there is nothing to learn from. Name recorded runs in paths, or targets in collect."
    if not config.targets:
        yield "targets: there is an [environment] and nobody to run in it. Add a [targets.NAME] table."
    elif "none" not in config.conditions.run:
        yield "conditions.run: 'none' is missing; it is what the others are compared with."
    if config.environment.runs is not None:
        if "{condition}" not in config.environment.runs or "{target}" not in config.environment.runs:
            yield "environment.runs: write {condition} and {target} where they stand in the path."
        if controls := [name for name in config.conditions.run if name in CONTROLS]:
            yield f"conditions.run: {controls[0]} needs an environment that is run here."
    if config.construction.author == "model" and config.construction.model is None:
        yield "construction.model: author is 'model', and none is named."
    if config.construction.self_curated:
        yield from _without_author(config)
    for name, target in config.targets.items():
        if target.kind == "python" and ".py:" not in target.python:
            yield f"targets.{name}.python: write it as file.py:name."


def _without_author(config: ExperimentConfig) -> Iterator[str]:
    """What keeps targets from writing their own memories."""
    if config.construction.budget_usd is not None:
        yield "construction.budget_usd: self_curated means several authors, and no budget covers them all."
    for name, target in config.targets.items():
        if target.kind == "python" or target.provider:
            yield f"construction.self_curated: targets.{name} is not an OpenAI-compatible server."


def missing(file: ExperimentFile) -> list[str]:
    """What is missing: packages, data, keys. Empty: it can run."""
    return [*_packages(file), *_data(file), *_keys(file)]


def _packages(file: ExperimentFile) -> Iterator[str]:
    config = file.config
    for package in config.needs:
        if find_spec(package.partition(".")[0]) is None:
            yield f"package {package}: not installed"
    if config.environment.runs is None:
        for name in config.environment.names:
            if ".py:" in name:
                continue
            try:
                open_self_running(name, file).tasks() if name in SELF_RUNNING else open_environment(name)
                if name == "are":
                    check_are(config.environment.are)
            except UsageError as error:
                yield f"environment {name}: {error}"
    asked = _runs_here(file) and any(target.kind == "openai" for target in config.targets.values())
    if (asked or config.construction.author == "model") and find_spec("pydantic_ai") is None:
        yield "package pydantic-ai: pip install 'contramem[llm]'"


def _data(file: ExperimentFile) -> Iterator[str]:
    config = file.config
    for pattern in config.sources.paths:
        if not paths_of(file, pattern):
            yield f"data for sources.paths: nothing at {file.beside(pattern)}"
    lists = [name[1:] for name in (*config.split.reference_tasks, *config.split.held_out_tasks) if name.startswith("@")]
    named = [("split", name) for name in lists]
    named += [("split.tasks", config.split.tasks)] if config.split.tasks else []
    named += [("sources.outcomes", config.sources.outcomes)] if config.sources.outcomes else []
    named += [("sources.effects", config.sources.effects)] if config.sources.effects else []
    named += [("construction.bank", config.construction.bank)] if config.construction.bank else []
    for key, name in named:
        if not file.beside(name).exists():
            yield f"file for {key}: nothing at {file.beside(name)}"
    for name in config.environment.names if config.environment.runs is None else ():
        if ".py:" in name and not file.beside(name.rpartition(":")[0]).exists():
            yield f"file for environment.names: nothing at {file.beside(name.rpartition(':')[0])}"


def _keys(file: ExperimentFile) -> Iterator[str]:
    config = file.config
    wanted = _target_keys(file) if _runs_here(file) else {}
    if config.construction.author == "model" and config.construction.key:
        wanted.setdefault(config.construction.key, []).append("construction")
    yield from _unset(wanted)


def _target_keys(file: ExperimentFile) -> dict[str, list[str]]:
    wanted: dict[str, list[str]] = {}
    for name, target in file.config.targets.items():
        variable = target.key or (None if target.url else "OPENAI_API_KEY")
        if target.kind == "openai" and variable:
            wanted.setdefault(variable, []).append(f"target {name}")
    return wanted


def _unset(wanted: dict[str, list[str]]) -> Iterator[str]:
    for variable, who in wanted.items():
        if not os.environ.get(variable):
            yield f"key ${variable}: not set ({', '.join(who)})"


def later(file: ExperimentFile) -> Iterator[str]:
    """What an outside runner will need; memories can be built without it."""
    environment = file.config.environment
    if environment.runs is None:
        return
    for name in environment.names:
        try:
            open_environment(name)
        except UsageError as error:
            yield f"environment {name}: {error}"
    yield from _unset(_target_keys(file))
    cells = [(condition, target) for condition in file.config.conditions.run for target in file.config.targets]
    absent = [cell for cell in cells if not paths_of(file, environment.runs.format(condition=cell[0], target=cell[1]))]
    if absent:
        yield f"runs: {len(absent)} of {len(cells)} folders like {file.beside(environment.runs)} are not there"


def _runs_here(file: ExperimentFile) -> bool:
    return file.config.environment.runs is None


def refuse_missing(file: ExperimentFile, absent: list[str]) -> None:
    """Raise one error with the whole list, if anything is missing."""
    if not absent:
        return
    things = "1 thing is" if len(absent) == 1 else f"{len(absent)} things are"
    lines = [f"{file.config.name} cannot run here: {things} missing:", *(f"  - {thing}" for thing in absent)]
    if needed := list(later(file)):
        lines += ["And then, for the runs, which are made elsewhere:", *(f"  - {thing}" for thing in needed)]
    raise UsageError("\n".join(lines))


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
