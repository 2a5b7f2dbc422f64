"""What an experiment needs and lacks. Everything is reported at once, before anything is read or run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec

from contramem.errors import UsageError, nearest
from contramem.retrieve.profiles import profile_named
from contramem_lab.bench.environments import open_environment
from contramem_lab.conditions import CONDITIONS
from contramem_lab.experiment.config import ExperimentConfig
from contramem_lab.experiment.controls import CONTROLS
from contramem_lab.experiment.load import ExperimentFile
from contramem_lab.experiment.opened import paths_of
from contramem_lab.experiment.self_running import SELF_RUNNING, check_are, open_self_running


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
    if config.environment is None:
        if config.sources.collect:
            yield "sources.collect: runs can be made only in an environment, and there is no [environment]."
        if controls := [name for name in config.conditions.run if name in CONTROLS]:
            yield f"conditions.run: {controls[0]} is a control for runs, and there is no [environment] to make them in."
    elif not config.targets:
        yield "targets: there is an [environment] and nobody to run in it. Add a [targets.NAME] table."
    elif "none" not in config.conditions.run:
        yield "conditions.run: 'none' is missing; it is what the others are compared with."
    if config.environment is not None and config.environment.runs is not None:
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
    if config.environment is not None and config.environment.runs is None:
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
    for name in config.environment.names if config.environment and config.environment.runs is None else ():
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
    if environment is None or environment.runs is None:
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
    return file.config.environment is not None and file.config.environment.runs is None


def refuse(file: ExperimentFile, absent: list[str]) -> None:
    """Raise one error with the whole list, if anything is missing."""
    if not absent:
        return
    things = "1 thing is" if len(absent) == 1 else f"{len(absent)} things are"
    lines = [f"{file.config.name} cannot run here: {things} missing:", *(f"  - {thing}" for thing in absent)]
    if needed := list(later(file)):
        lines += ["And then, for the runs, which are made elsewhere:", *(f"  - {thing}" for thing in needed)]
    raise UsageError("\n".join(lines))
