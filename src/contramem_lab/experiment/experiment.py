"""An experiment from its file to its report, in the order it happens. Running it again continues it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from contramem.errors import TaskError, UsageError
from contramem.inject.provider import MemoryProvider
from contramem.progress import Progress
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory
from contramem_lab.bench.agent import attempt
from contramem_lab.bench.environment import SelfRunningEnvironment
from contramem_lab.bench.limits import Limits
from contramem_lab.experiment import leakage, manifest, needs, plan
from contramem_lab.experiment.authors import Authors
from contramem_lab.experiment.folder import ResultFolder, hold_folder
from contramem_lab.experiment.jobs import Job, jobs_to_do, perform_all
from contramem_lab.experiment.load import ExperimentFile
from contramem_lab.experiment.memory import Facts
from contramem_lab.experiment.memory_builder import NO_MEMORY, MemoryBuilder, uses_own_runs
from contramem_lab.experiment.opened import OpenedExperiment, limits_of
from contramem_lab.experiment.report import write_report
from contramem_lab.experiment.results import Cells, Results, evaluate_runs, judge_recorded_runs, read_outside_runs
from contramem_lab.split import SplitTask


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
        log = manifest.begin(folder, opened)
        folder.write("experiment.toml", file.text)
        folder.write_json("split.json", plan.split_json(opened))
        collected = _collect(opened, folder, tell)
        builders = _memory_builders(opened, folder, collected, authors)
        check_leakage(opened, builders)
        results = replace(_test_memories(opened, folder, builders, tell), notes=tuple(_describe_omissions(opened)))
        write_report(folder, opened, results)
        manifest.end(folder, log)
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
    needs.check_sense(file)
    needs.refuse(file, needs.missing(file))
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
        leakage.refuse(leakage.leaks_from_runs(builder.tested, taught, by))
        if opened.config.construction.bank is not None:
            builder.build("contramem", None)


def _test_memories(
    opened: OpenedExperiment, folder: ResultFolder, builders: Sequence[MemoryBuilder], tell: Progress
) -> Results:
    if opened.config.environment is None:
        return judge_recorded_runs(opened, builders, tell)
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
    environment, to_do = opened.config.environment, jobs_to_do(jobs)
    if environment is None or not to_do:
        return
    targets = {name: opened.target(name) for name in sorted({job.target for job in to_do})}
    done = len(jobs) - len(to_do)
    tell(stage, done, len(jobs))

    def perform(job: Job) -> Trajectory:
        return _run(opened, job, targets[job.target], provider_of(job))

    def on_done(job: Job, run: Trajectory) -> None:
        nonlocal done
        done += 1
        tell(stage, done, len(jobs))

    def on_problem(job: Job, error: TaskError) -> None:
        opened.unrunnable[_task_key(job)] = str(error)

    perform_all(to_do, perform, environment.concurrency, on_done, on_problem)


def _task_key(job: Job) -> str:
    return f"{job.environment}/{job.task_id}"


def _run(opened: OpenedExperiment, job: Job, target: Any, provider: MemoryProvider | None) -> Trajectory:
    assert opened.config.environment is not None
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
