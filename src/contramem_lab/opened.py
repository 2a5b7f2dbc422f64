"""What an experiment file names, opened: environments, targets, recorded runs and tasks."""

from __future__ import annotations

import csv
import glob
import hashlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from contramem.errors import UsageError
from contramem.llm.client import Price, price_of
from contramem.retrieve.hit import Query
from contramem.traces.effects import read_effects
from contramem.traces.outcomes import read_outcomes
from contramem.traces.read import read_traces
from contramem.traces.reader import ReadOptions
from contramem.traces.trajectory import Trajectory
from contramem_lab import config as table
from contramem_lab.config import AreConfig, EnvironmentConfig, ExperimentFile, TargetConfig
from contramem_lab.environment import AnyEnvironment, SelfRunningEnvironment, Task, open_environment
from contramem_lab.split import Finder, Fold, SplitTask, divide, matches
from contramem_lab.target import Target

SELF_RUNNING = ("are", "appworld")


def open_self_running(name: str, file: ExperimentFile) -> SelfRunningEnvironment:
    """The environment with the settings from the file."""
    environment = file.config.environment
    return _open_are(file, environment) if name == "are" else _open_appworld(file, environment)


def _open_are(file: ExperimentFile, environment: EnvironmentConfig) -> SelfRunningEnvironment:
    from contramem_lab.are import BUILT_IN
    from contramem_lab.are_runs import AreEnvironment

    if not environment.scenarios:
        raise UsageError("environment.scenarios: name the folders or files of the scenarios.")
    places = tuple(place if place in BUILT_IN else str(file.beside(place)) for place in environment.scenarios)
    return AreEnvironment(places, are_settings(environment.are))


def are_settings(config: AreConfig) -> Any:
    from contramem_lab.are import AreSettings, Judge, TimeRuntime

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
    from contramem_lab.are import find_installation

    find_installation()
    are_settings(config).judge.check()


def are_target(name: str, target: TargetConfig, engine: Any) -> Any:
    """The target in the form ARE needs. `engine` is the user's own, called in this process."""
    from contramem_lab.are import AreTarget

    extra = dict(target.extra)
    if target.reasoning_effort is not None:
        extra["reasoning_effort"] = target.reasoning_effort
    if target.temperature is not None:
        extra["temperature"] = target.temperature
    return AreTarget(name, target.model, target.provider, target.url, engine, extra, target.key)


def _open_appworld(file: ExperimentFile, environment: EnvironmentConfig) -> SelfRunningEnvironment:
    from contramem_lab.appworld import AppWorldEnvironment

    config = environment.appworld
    return AppWorldEnvironment(config.url, file.beside(config.data), config.datasets, config.experiment)


def task_digest(task: Task) -> str:
    """A digest of a scenario's file: other content is another run."""
    place = Path(getattr(task, "place", ""))
    return hashlib.sha256(place.read_bytes()).hexdigest() if place.is_file() else ""


@dataclass(frozen=True)
class RunnableTask:
    """A task and where it can be run."""

    environment: AnyEnvironment
    task_id: str

    @property
    def task(self) -> Task:
        return self.environment.tasks()[self.task_id]

    @property
    def query(self) -> Query:
        """The query for a memory."""
        return self.task.query(self.environment.tools(self.task_id))


class OpenedExperiment:
    """Everything is opened on first use."""

    def __init__(self, file: ExperimentFile) -> None:
        self.file = file
        self.config = file.config
        self.problems: list[str] = []
        """Recorded runs that could not be read."""
        self.unrunnable: dict[str, str] = {}
        """By task key: why a task turned out to be impossible to run."""

    @property
    def runs_here(self) -> bool:
        """Does this process run the targets, rather than an outside runner or nobody?"""
        return self.config.environment.runs is None

    @cached_property
    def environments(self) -> dict[str, AnyEnvironment]:
        """By the name that runs will have. Empty if nothing is run here."""
        if not self.runs_here:
            return {}
        opened = [self._environment(name) for name in self.config.environment.names]
        return {environment.name: environment for environment in opened}

    def _environment(self, name: str) -> AnyEnvironment:
        if name in SELF_RUNNING:
            return open_self_running(name, self.file)
        if ".py:" not in name:
            return open_environment(name)
        environment: AnyEnvironment = python_object(self.file.beside(name))()
        return environment

    @cached_property
    def places(self) -> dict[str, RunnableTask]:
        """Where each task can be run, by its key in the split."""
        return {
            f"{environment.name}/{task_id}": RunnableTask(environment, task_id)
            for environment in self.environments.values()
            for task_id in environment.tasks()
        }

    def are_run(self, keys: Iterable[str]) -> list[SplitTask]:
        """The tasks that the file wants run. Recorded runs of the others can still teach."""
        tasks = [self.tasks[key] for key in keys]
        wanted = self.config.environment.tasks
        if not wanted:
            return tasks
        self._check_patterns(wanted)
        return [task for task in tasks if any(matches(pattern, task.environment, task.id) for pattern in wanted)]

    def _check_patterns(self, patterns: Iterable[str]) -> None:
        for pattern in patterns:
            if not any(matches(pattern, task.environment, task.id) for task in self.tasks.values()):
                raise UsageError(f"environment.tasks: no task is called {pattern}.")

    def is_wanted(self, condition: str, target: str, ability: str) -> bool:
        """Does the file ask for this condition here?"""
        only = self.config.conditions.only.get(condition)
        return only is None or only.covers(target, ability)

    def target(self, name: str) -> Any:
        """The target of that table, in the form the environment needs."""
        target = self.config.targets[name]
        made = python_object(self.file.beside(target.python))() if target.kind == "python" else None
        if self.config.environment.names == ("are",):
            return are_target(name, target, made)
        return made or self._openai_target(name, target)

    def _openai_target(self, name: str, target: table.TargetConfig) -> Target:
        from contramem_lab.target import OpenAITarget

        effort = {"reasoning_effort": target.reasoning_effort} if target.reasoning_effort else {}
        return OpenAITarget(
            target.model or name,
            base_url=target.url,
            mode=target.mode,
            temperature=target.temperature,
            max_tokens=target.max_reply_tokens,
            timeout_s=target.timeout_s,
            key_from=target.key or "OPENAI_API_KEY",
            extra=effort | target.extra,
            name=name,
        )

    def price(self, target: str) -> Price | None:
        """The price of its tokens, if known."""
        table_ = self.config.targets[target]
        if table_.price is not None:
            return Price(*table_.price)
        return price_of(table_.model or target) if table_.kind == "openai" and table_.url is None else None

    def code_digest(self, reference: str) -> str:
        """A digest of the Python file with the user's own target or environment. Empty for ours."""
        if ".py:" not in reference:
            return ""
        return hashlib.sha256(self.file.beside(reference).with_name(_file_of(reference)).read_bytes()).hexdigest()

    def source_paths(self) -> list[Path]:
        """The files and folders with recorded runs; globs are expanded."""
        return [path for pattern in self.config.sources.paths for path in paths_of(self.file, pattern)]

    @cached_property
    def recorded(self) -> list[Trajectory]:
        """Recorded runs of the requested sources."""
        sources = self.config.sources
        if not sources.paths:
            return []
        options = self.read_options(outcomes=sources.outcomes)
        reading = read_traces(self.source_paths(), options)
        runs = list(reading)
        self.problems.extend(map(str, reading.problems))
        if not runs:
            first = f" First problem: {self.problems[0]}" if self.problems else ""
            raise UsageError(f"sources.paths: no run could be read.{first}")
        if sources.only:
            there = {run.source for run in runs}
            if absent := [name for name in sources.only if name not in there]:
                raise UsageError(
                    f"sources.only: no runs of {', '.join(absent)}. They are of {', '.join(sorted(there))}."
                )
            runs = [run for run in runs if run.source in sources.only]
        return runs

    def read_options(self, outcomes: str | None = None) -> ReadOptions:
        sources = self.config.sources
        return ReadOptions(
            format=sources.format,
            fields=sources.map,
            outcomes=read_outcomes(self.file.beside(outcomes)) if outcomes else None,
            app=sources.app,
            ability=sources.ability,
            effects=read_effects(self.file.beside(sources.effects)) if sources.effects else {},
        )

    @cached_property
    def tasks(self) -> dict[str, SplitTask]:
        """All tasks, by key: from a list, from the environments, or else from the recorded runs."""
        if self.config.split.tasks is not None:
            listed = read_tasks(self.file.beside(self.config.split.tasks))
        elif self.runs_here:
            listed = [_task_of_environment(key, place) for key, place in self.places.items()]
        else:
            listed = [SplitTask.of(run) for run in self.recorded]
        return {task.key: task for task in listed}

    @cached_property
    def folds(self) -> tuple[Fold, ...]:
        rules = self.config.split
        rules = msgspec.structs.replace(
            rules,
            reference_tasks=self._fill_in_files(rules.reference_tasks),
            held_out_tasks=self._fill_in_files(rules.held_out_tasks),
        )
        return divide(self.tasks.values(), rules, self.config.seed if rules.seed is None else rules.seed)

    def _fill_in_files(self, names: Iterable[str]) -> tuple[str, ...]:
        """Replace `@file` by the ids in it."""
        ids: list[str] = []
        for name in names:
            if name.startswith("@"):
                path = self.file.beside(name[1:])
                try:
                    ids.extend(line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
                except OSError as error:
                    raise UsageError(f"{path}: cannot be read ({error.strerror}).") from None
            else:
                ids.append(name)
        return tuple(ids)

    def runs_that_teach(self, fold: Fold, runs: Iterable[Trajectory]) -> list[Trajectory]:
        """Those of `runs` whose tasks are in the reference."""
        teaches = set(fold.reference)
        return [run for run in runs if (task := self._find(run)) is not None and task.key in teaches]

    def strangers(self) -> int:
        """The number of recorded runs whose tasks are unknown."""
        return sum(self._find(run) is None for run in self.recorded)

    @cached_property
    def _find(self) -> Finder:
        return Finder(self.tasks.values())


def _task_of_environment(key: str, place: RunnableTask) -> SplitTask:
    task = place.task
    return SplitTask(key, place.environment.name, task.id, task.ability or "general", task.family, task.wording)


def read_tasks(path: Path) -> list[SplitTask]:
    """A list of tasks as CSV."""
    allowed = {"task_id", "environment", "ability", "scenario_id", "wording"}
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: cannot be read ({error}).") from None
    columns = set(rows[0]) if rows else set()
    if "task_id" not in columns or not columns <= allowed:
        raise UsageError(f"{path}: a list of tasks has the column task_id and any of {', '.join(sorted(allowed))}.")
    return [_task_of_row(row) for row in rows]


def _task_of_row(row: Mapping[str, str | None]) -> SplitTask:
    environment, task_id = row.get("environment") or "", row["task_id"] or ""
    return SplitTask(
        f"{environment}/{task_id}" if environment else task_id,
        environment,
        task_id,
        row.get("ability") or "general",
        row.get("scenario_id") or None,
        row.get("wording") or "",
    )


def paths_of(file: ExperimentFile, pattern: str) -> list[Path]:
    """The paths that match a pattern, sorted; a plain path matches itself if it exists."""
    return [Path(path) for path in sorted(glob.glob(str(file.beside(pattern)), recursive=True))]  # noqa: PTH207


def _file_of(reference: str) -> str:
    return reference.rpartition("/")[2].rpartition(":")[0]


def python_object(reference: Path) -> Callable[[], Any]:
    """`file.py:name`: the object of that name in the file. The file is the user's own, and is executed."""
    name = reference.name.rpartition(":")[2]
    path = reference.with_name(reference.name.rpartition(":")[0])
    module_name = f"contramem_experiment_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise UsageError(f"{path}: there is no such Python file.")
    module = sys.modules.get(module_name) or importlib.util.module_from_spec(spec)
    if module_name not in sys.modules or getattr(module, "__file__", None) != str(path):
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise UsageError(f"{path}: has no {name!r}.")
    value: Callable[[], Any] = getattr(module, name)
    return value


def limits_of(environment: table.EnvironmentConfig, ability: str) -> table.LimitsConfig:
    return environment.ability_limits.get(ability, environment.limits)
