"""An experiment from its file to its report, in the order it happens. Running it again continues it."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from contramem.errors import TaskError, UsageError
from contramem.evaluate.report import inputs_of
from contramem.inject.provider import MemoryProvider
from contramem.progress import Progress
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory
from contramem_lab import plan
from contramem_lab.agent import attempt
from contramem_lab.config import ExperimentFile
from contramem_lab.environment import Limits, SelfRunningEnvironment
from contramem_lab.jobs import MARK, Job, ResultFolder, hold_folder, jobs_to_do, perform_all
from contramem_lab.memory import NO_MEMORY, Authors, Facts, MemoryBuilder, uses_own_runs
from contramem_lab.opened import OpenedExperiment, limits_of
from contramem_lab.report import write_report
from contramem_lab.results import Cells, Results, evaluate_runs, read_outside_runs
from contramem_lab.split import SplitTask, leaks_from_runs, refuse_leaks

MANIFEST = "manifest.json"
PACKAGES = (
    "contramem", "bpe-openai", "msgspec", "numpy", "pydantic", "agentdojo", "bfcl-eval", "openai",
    "pydantic-ai-slim",
)  # fmt: skip


def begin_manifest(folder: ResultFolder, opened: OpenedExperiment) -> dict[str, Any]:
    """Record what is known before the first run. Earlier sessions in the same folder stay listed."""
    before = folder.read_json(MANIFEST) or {}
    file = opened.file
    started = {"started": _now(), "config_sha256": file.digest}
    log = {
        "name": opened.config.name,
        "config": {"file": file.path.name, "sha256": file.digest},
        "seed": opened.config.seed,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: installed for name in PACKAGES if (installed := _version(name)) is not None},
        "inputs": [vars(file_digest) for file_digest in inputs_of("sources", opened.source_paths())],
        "sessions": [*before.get("sessions", []), started],
    }
    folder.write_json(MANIFEST, log)
    return log


def end_manifest(folder: ResultFolder, log: dict[str, Any]) -> None:
    """Add the results, with hashes."""
    log["sessions"][-1]["finished"] = _now()
    log["memories"] = {
        str(path.parent.relative_to(folder.memory)): _sha256(path)
        for name in ("bank.jsonl", "shown.jsonl")
        for path in sorted(folder.memory.rglob(name))
    }
    log["runs"] = {
        str(path.relative_to(folder.path)): _sha256(path)
        for root in (folder.reference, folder.runs)
        for path in sorted(root.rglob("*.jsonl"))
    }
    outputs = ("experiment.toml", "split.json", "results.json", "report.html", "report.md")
    log["outputs"] = {name: _sha256(folder.path / name) for name in outputs if (folder.path / name).exists()}
    folder.write_json(MANIFEST, log)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class CellState:
    """The existing runs of one target under one condition."""

    condition: str
    target: str
    runs: int
    passed: int


@dataclass(frozen=True)
class State:
    name: str
    finished: str
    """`finished <time>`, or `unfinished`."""
    reference_tasks: int
    held_out_tasks: int
    runs: tuple[CellState, ...]
    report: str | None


def state_of(folder: ResultFolder) -> State:
    """The current state. Nothing is changed."""
    manifest = folder.read_json(MANIFEST) or {}
    sessions = manifest.get("sessions") or [{}]
    split = folder.read_json("split.json") or {"folds": []}
    last = sessions[-1].get("finished")
    report = folder.path / "report.html"
    return State(
        name=folder.read_json(MARK)["name"],
        finished=f"finished {last}" if last else "unfinished",
        reference_tasks=len({key for fold in split["folds"] for key in fold["reference"]}),
        held_out_tasks=len({key for fold in split["folds"] for key in fold["held_out"]}),
        runs=tuple(_cells(folder)),
        report=str(report) if last and report.exists() else None,
    )


def _cells(folder: ResultFolder) -> list[CellState]:
    places = sorted(path for path in folder.runs.glob("*/*") if path.is_dir())
    cells = []
    for place in places:
        runs = list(read_traces([place]))
        passed = sum(run.outcome.passed is True for run in runs)
        cells.append(CellState(place.parent.name, place.name, len(runs), passed))
    return cells


@dataclass(frozen=True)
class RunForecast:
    """What a run of the experiment would do."""

    split: dict[str, Any]
    rows: tuple[plan.PlannedRuns, ...]
    memories: tuple[str, ...]


def out_folder(file: ExperimentFile, given: Path | None) -> Path:
    return given or Path(file.config.output.folder or f"results/{file.config.name}")


def run_experiment(file: ExperimentFile, out: Path, tell: Progress) -> Results:
    """Collect, split, check, build, run, compare, report. Finished parts are not repeated."""
    opened = _open_experiment(file)
    with hold_folder(out, file.config.name) as folder, Authors(file.config) as authors:
        log = begin_manifest(folder, opened)
        folder.write("experiment.toml", file.text)
        folder.write_json("split.json", plan.split_json(opened))
        collected = _collect(opened, folder, tell)
        builders = _memory_builders(opened, folder, collected, authors)
        check_leakage(opened, builders)
        results = replace(_test_memories(opened, folder, builders, tell), notes=tuple(_describe_omissions(opened)))
        write_report(folder, opened, results)
        end_manifest(folder, log)
        return results


def _describe_omissions(opened: OpenedExperiment) -> Iterator[str]:
    """Tasks that cannot be run, and recorded runs that could not be read or whose tasks are unknown."""
    for environment in opened.environments.values():
        yield from environment.problems if isinstance(environment, SelfRunningEnvironment) else ()
    yield from (f"{task} is left out everywhere: {why}" for task, why in sorted(opened.unrunnable.items()))
    if opened.problems:
        yield f"{len(opened.problems)} recorded run(s) could not be read. First: {opened.problems[0]}"
    if opened.runs_here and opened.recorded:
        unknown = opened.strangers()
        if unknown:
            yield f"{unknown} recorded run(s) are of tasks that the environment does not have; they teach nothing."


def foresee(file: ExperimentFile, out: Path) -> RunForecast:
    """What `run_experiment` would do now. Writes nothing and calls no model."""
    opened = _open_experiment(file)
    folder = ResultFolder(out)
    to_collect = plan.jobs_to_collect(opened, folder)
    builders = _memory_builders(opened, folder, _read_finished(to_collect), None)
    check_leakage(opened, builders)
    jobs = plan.jobs_to_test(opened, folder, builders) if opened.runs_here else []
    rows = (*plan.rows(opened, to_collect, "reference runs"), *plan.rows(opened, jobs))
    memories = tuple(name for name in file.config.conditions.run if name != NO_MEMORY)
    return RunForecast(plan.split_json(opened), rows, memories)


def _open_experiment(file: ExperimentFile) -> OpenedExperiment:
    plan.check_sense(file)
    plan.refuse_missing(file, plan.missing(file))
    return OpenedExperiment(file)


def _collect(opened: OpenedExperiment, folder: ResultFolder, tell: Progress) -> list[Trajectory]:
    """Reference runs by targets of the experiment itself."""
    jobs = plan.jobs_to_collect(opened, folder)
    _perform(opened, jobs, lambda job: None, "reference runs", tell)
    return _read_finished(jobs)


def _read_finished(jobs: Sequence[Job]) -> list[Trajectory]:
    return list(read_traces([job.path for job in jobs if job.is_done]))


def _memory_builders(
    opened: OpenedExperiment, folder: ResultFolder, collected: list[Trajectory], authors: Authors | None
) -> list[MemoryBuilder]:
    runs = [*opened.recorded, *collected]
    return [
        MemoryBuilder(
            opened, folder, number, opened.runs_that_teach(fold, runs), plan.tasks_to_test(opened, fold), authors
        )
        for number, fold in enumerate(opened.folds)
    ]


def check_leakage(opened: OpenedExperiment, builders: Sequence[MemoryBuilder]) -> None:
    """Before anything runs: nothing that teaches may know a tested task."""
    conditions, by = opened.config.conditions, opened.config.split.by
    if conditions.on == "reference" or conditions.allow_same_task:
        return
    for builder in builders:
        taught = {SplitTask.of(run) for run in builder.runs}
        refuse_leaks(leaks_from_runs(builder.tested, taught, by))
        if opened.config.construction.bank is not None:
            builder.build("contramem", None)


def _test_memories(
    opened: OpenedExperiment, folder: ResultFolder, builders: Sequence[MemoryBuilder], tell: Progress
) -> Results:
    memories = _memories(opened, builders, tell)
    cells = _run_here(opened, folder, builders, tell) if opened.runs_here else read_outside_runs(opened, builders)
    return evaluate_runs(opened, cells, memories)


def _memories(opened: OpenedExperiment, builders: Sequence[MemoryBuilder], tell: Progress) -> list[Facts]:
    """All memories, frozen on disk before the first run that uses them."""
    wanted = list(dict.fromkeys(
        (builder.fold, condition, target if uses_own_runs(condition) else None)
        for builder in builders
        for condition in opened.config.conditions.run if condition != NO_MEMORY
        for target in opened.config.targets
        if any(opened.is_wanted(condition, target, task.ability) for task in builder.tested)
    ))  # fmt: skip
    memories = []
    for done, (fold, condition, target) in enumerate(wanted, 1):
        memories.append(builders[fold].memory(condition, target)[0])
        tell("memories", done, len(wanted))
    return memories


def _run_here(
    opened: OpenedExperiment, folder: ResultFolder, builders: Sequence[MemoryBuilder], tell: Progress
) -> Cells:
    jobs = plan.jobs_to_test(opened, folder, builders)
    folder.set_aside(job.path for job in (*jobs, *plan.jobs_to_collect(opened, folder)))

    def provider_of(job: Job) -> MemoryProvider | None:
        return None if job.condition == NO_MEMORY else builders[job.fold].memory(job.condition, job.target)[1]

    possible = [job for job in jobs if job.condition == NO_MEMORY or provider_of(job) is not None]
    _perform(opened, possible, provider_of, "runs", tell)
    paths: dict[tuple[str, str], list[Path]] = {}
    for job in possible:
        if _task_key(job) not in opened.unrunnable:  # otherwise one condition would have tasks that another lacks
            paths.setdefault((job.condition, job.target), []).append(job.path)
    if not paths:
        raise UsageError(f"no task could be run. First problem: {next(iter(opened.unrunnable.values()))}")
    return {cell: list(read_traces(there)) for cell, there in paths.items()}


def _perform(
    opened: OpenedExperiment,
    jobs: Sequence[Job],
    provider_of: Callable[[Job], MemoryProvider | None],
    stage: str,
    tell: Progress,
) -> None:
    """Make the missing runs."""
    if not (to_do := jobs_to_do(jobs)):
        return
    targets = {name: opened.target(name) for name in sorted({job.target for job in to_do})}

    def perform(job: Job) -> Trajectory:
        return _run(opened, job, targets[job.target], provider_of(job))

    def on_problem(job: Job, error: TaskError) -> None:
        opened.unrunnable[_task_key(job)] = str(error)

    perform_all(jobs, perform, opened.config.environment.concurrency, on_problem, tell, stage)


def _task_key(job: Job) -> str:
    return f"{job.environment}/{job.task_id}"


def _run(opened: OpenedExperiment, job: Job, target: Any, provider: MemoryProvider | None) -> Trajectory:
    ability = opened.tasks[_task_key(job)].ability
    config = limits_of(opened.config.environment, ability)
    limits = Limits(steps=config.steps, tokens=config.tokens, seconds=config.seconds)
    environment = opened.environments[job.environment]
    if isinstance(environment, SelfRunningEnvironment):
        run = environment.attempt(job.task_id, target, provider, limits, trial=str(job.trial))
        return _add_cost(opened, job.target, msgspec.structs.replace(run, source=job.target))
    run = attempt(
        environment,
        job.task_id,
        target,
        provider,
        limits,
        trial=str(job.trial),
        source=job.target,
        seed=job.seed,
        cards=opened.config.conditions.cards,
    )
    return _add_cost(opened, job.target, run)


def _add_cost(opened: OpenedExperiment, target: str, run: Trajectory) -> Trajectory:
    price, usage = opened.price(target), run.usage
    if price is None or usage.cost_usd is not None or usage.tokens_in is None or usage.tokens_out is None:
        return run
    cost = price.of(usage.tokens_in, usage.tokens_out)
    return msgspec.structs.replace(run, usage=msgspec.structs.replace(usage, cost_usd=cost))
