"""Environments with their own agent loop, as an experiment file names them: ARE and AppWorld."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from contramem.errors import UsageError
from contramem_lab.bench.environment import SelfRunningEnvironment, Task
from contramem_lab.experiment.config import AreConfig, EnvironmentConfig, TargetConfig
from contramem_lab.experiment.load import ExperimentFile

SELF_RUNNING = ("are", "appworld")


def open_self_running(name: str, file: ExperimentFile) -> SelfRunningEnvironment:
    """The environment with the settings from the file."""
    environment = file.config.environment
    assert environment is not None
    return _open_are(file, environment) if name == "are" else _open_appworld(file, environment)


def _open_are(file: ExperimentFile, environment: EnvironmentConfig) -> SelfRunningEnvironment:
    from contramem_lab.bench.are.environment import AreEnvironment
    from contramem_lab.bench.are.scenarios import BUILT_IN

    if not environment.scenarios:
        raise UsageError("environment.scenarios: name the folders or files of the scenarios.")
    places = tuple(place if place in BUILT_IN else str(file.beside(place)) for place in environment.scenarios)
    return AreEnvironment(places, are_settings(environment.are))


def are_settings(config: AreConfig) -> Any:
    from contramem_lab.bench.are.settings import AreSettings, Judge, TimeRuntime

    judge = Judge(config.judge, config.judge_model, config.judge_provider, config.judge_url, config.judge_key)
    runtime = TimeRuntime(
        clock=config.clock,
        ticks=config.ticks,
        guards=config.guards,
        clip=config.clip,
        repair=config.repair,
        final_card=config.final_card,
        universal=config.universal,
    )
    return AreSettings(judge, runtime, config.tick_s)


def check_are(config: AreConfig) -> None:
    """Check what a run in ARE requires: the environment in which ARE is installed, and a judge."""
    from contramem_lab.bench.are.installation import find_installation

    find_installation()
    are_settings(config).judge.check()


def are_target(name: str, target: TargetConfig, engine: Any) -> Any:
    """The target in the form ARE needs. `engine` is the user's own, called in this process."""
    from contramem_lab.bench.are.settings import AreTarget

    extra = dict(target.extra)
    if target.reasoning_effort is not None:
        extra["reasoning_effort"] = target.reasoning_effort
    if target.temperature is not None:
        extra["temperature"] = target.temperature
    return AreTarget(name, target.model, target.provider, target.url, engine, extra, target.key)


def _open_appworld(file: ExperimentFile, environment: EnvironmentConfig) -> SelfRunningEnvironment:
    from contramem_lab.bench.appworld.environment import AppWorldEnvironment

    config = environment.appworld
    return AppWorldEnvironment(config.url, file.beside(config.data), config.datasets, config.experiment)


def task_digest(task: Task) -> str:
    """A digest of a scenario's file: other content is another run."""
    place = Path(getattr(task, "place", ""))
    return hashlib.sha256(place.read_bytes()).hexdigest() if place.is_file() else ""
