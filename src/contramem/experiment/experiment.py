"""An experiment from its file to its report, in the order it happens. Run again, it goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from contramem.bench.agent import Limits, attempt
from contramem.bench.target import Target
from contramem.evaluate.conditions import ByModel
from contramem.evaluate.split import SplitTask
from contramem.experiment import leakage, manifest, needs, plan
from contramem.experiment.folder import ResultFolder, held
from contramem.experiment.jobs import Job, left, perform_all
from contramem.experiment.load import ExperimentFile
from contramem.experiment.memory import Facts
from contramem.experiment.memory_builder import NO_MEMORY, OWN_RUNS, MemoryBuilder, author
from contramem.experiment.opened import OpenedExperiment, limits_of
from contramem.experiment.report import write_report
from contramem.experiment.results import Cells, Results, evaluated, foreseen, made_elsewhere
from contramem.inject.provider import MemoryProvider
from contramem.progress import Progress
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory


@dataclass(frozen=True)
class RunForecast:
    """What a run of the experiment would do."""

    split: dict[str, Any]
    rows: tuple[plan.PlannedRuns, ...]
    memories: tuple[str, ...]


def out_folder(file: ExperimentFile, given: Path | None) -> Path:
    return given or Path(file.config.output.folder or f"results/{file.config.name}")


def run_experiment(file: ExperimentFile, out: Path, tell: Progress) -> Results:
    """Collect, split, check, build, run, compare, report. Whatever is finished is not done again."""
    setting = _checked(file)
    with held(out, file.config.name) as folder, author(file.config.construction) as model:
        log = manifest.begin(folder, setting)
        folder.write("experiment.toml", file.text)
        folder.write_json("split.json", plan.split_json(setting))
        collected = _collect(setting, folder, tell)
        workshops = _workshops(setting, folder, collected, model)
        check_leakage(setting, workshops)
        results = replace(_tested(setting, folder, workshops, tell), notes=tuple(_left_out(setting)))
        write_report(folder, setting, results)
        manifest.end(folder, log)
        return results


def _left_out(setting: OpenedExperiment) -> Iterator[str]:
    """Recorded runs that could not be read, or that teach nothing because their tasks are held out or unknown."""
    if setting.problems:
        yield f"{len(setting.problems)} recorded run(s) could not be read. First: {setting.problems[0]}"
    if setting.runs_here and setting.recorded:
        unknown = setting.strangers()
        if unknown:
            yield f"{unknown} recorded run(s) are of tasks that the environment does not have; they teach nothing."


def foresee(file: ExperimentFile, out: Path) -> RunForecast:
    """What `run_experiment` would do now. Nothing is written, nobody is asked."""
    setting = _checked(file)
    folder = ResultFolder(out)
    to_collect = plan.collecting(setting, folder)
    workshops = _workshops(setting, folder, _finished(to_collect), None)
    check_leakage(setting, workshops)
    jobs = plan.testing(setting, folder, workshops) if setting.runs_here else []
    rows = (*plan.rows(setting, to_collect, "reference runs"), *plan.rows(setting, jobs))
    memories = tuple(name for name in file.config.conditions.run if name != NO_MEMORY)
    return RunForecast(plan.split_json(setting), rows, memories)


def _checked(file: ExperimentFile) -> OpenedExperiment:
    needs.check_sense(file)
    needs.refuse(file, needs.missing(file))
    return OpenedExperiment(file)


def _collect(setting: OpenedExperiment, folder: ResultFolder, tell: Progress) -> list[Trajectory]:
    """Reference runs by targets of the experiment itself."""
    jobs = plan.collecting(setting, folder)
    _perform(setting, jobs, lambda job: None, "reference runs", tell)
    return _finished(jobs)


def _finished(jobs: Sequence[Job]) -> list[Trajectory]:
    return list(read_traces([job.path for job in jobs if job.is_done]))


def _workshops(
    setting: OpenedExperiment, folder: ResultFolder, collected: list[Trajectory], model: ByModel | None
) -> list[MemoryBuilder]:
    runs = [*setting.recorded, *collected]
    return [
        MemoryBuilder(setting, folder, number, setting.taught(fold, runs), plan.tested(setting, fold), model)
        for number, fold in enumerate(setting.folds)
    ]


def check_leakage(setting: OpenedExperiment, workshops: Sequence[MemoryBuilder]) -> None:
    """Before anything runs: no task that is tested is known to what teaches."""
    conditions, by = setting.config.conditions, setting.config.split.by
    if conditions.on == "reference" or conditions.allow_same_task:
        return
    for shop in workshops:
        taught = {SplitTask.of(run) for run in shop.runs}
        leakage.refuse(leakage.leaks_from_runs(shop.tested, taught, by))
        if setting.config.construction.bank is not None:
            shop.build("contramem", None)


def _tested(
    setting: OpenedExperiment, folder: ResultFolder, workshops: Sequence[MemoryBuilder], tell: Progress
) -> Results:
    if setting.config.environment is None:
        return foreseen(setting, workshops, tell)
    memories = _memories(setting, workshops, tell)
    cells = _run_here(setting, folder, workshops, tell) if setting.runs_here else made_elsewhere(setting, workshops)
    return evaluated(setting, cells, memories)


def _memories(setting: OpenedExperiment, workshops: Sequence[MemoryBuilder], tell: Progress) -> list[Facts]:
    """Every memory, frozen on disk before the first run that is given it."""
    wanted = list(dict.fromkeys(
        (shop.fold, condition, target if condition in OWN_RUNS else None)
        for shop in workshops
        for condition in setting.config.conditions.run if condition != NO_MEMORY
        for target in setting.config.targets
    ))  # fmt: skip
    found = []
    for done, (fold, condition, target) in enumerate(wanted, 1):
        found.append(workshops[fold].memory(condition, target)[0])
        tell("memories", done, len(wanted))
    return found


def _run_here(
    setting: OpenedExperiment, folder: ResultFolder, workshops: Sequence[MemoryBuilder], tell: Progress
) -> Cells:
    jobs = plan.testing(setting, folder, workshops)
    folder.set_aside(job.path for job in (*jobs, *plan.collecting(setting, folder)))

    def provider_of(job: Job) -> MemoryProvider | None:
        return None if job.condition == NO_MEMORY else workshops[job.fold].memory(job.condition, job.target)[1]

    possible = [job for job in jobs if job.condition == NO_MEMORY or provider_of(job) is not None]
    _perform(setting, possible, provider_of, "runs", tell)
    paths: dict[tuple[str, str], list[Path]] = {}
    for job in possible:
        paths.setdefault((job.condition, job.target), []).append(job.path)
    return {cell: list(read_traces(there)) for cell, there in paths.items()}


def _perform(
    setting: OpenedExperiment,
    jobs: Sequence[Job],
    provider_of: Callable[[Job], MemoryProvider | None],
    stage: str,
    tell: Progress,
) -> None:
    """Make the runs that are not there yet."""
    environment, to_do = setting.config.environment, left(jobs)
    if environment is None or not to_do:
        return
    targets = {name: setting.target(name) for name in sorted({job.target for job in to_do})}
    done = len(jobs) - len(to_do)
    tell(stage, done, len(jobs))

    def perform(job: Job) -> Trajectory:
        return _run(setting, job, targets[job.target], provider_of(job))

    def on_done(job: Job, run: Trajectory) -> None:
        nonlocal done
        done += 1
        tell(stage, done, len(jobs))

    perform_all(to_do, perform, environment.concurrency, on_done)


def _run(setting: OpenedExperiment, job: Job, target: Target, provider: MemoryProvider | None) -> Trajectory:
    assert setting.config.environment is not None
    ability = setting.tasks[f"{job.environment}/{job.task_id}"].ability
    limits = limits_of(setting.config.environment, ability)
    run = attempt(
        setting.environments[job.environment],
        job.task_id,
        target,
        provider,
        Limits(steps=limits.steps, tokens=limits.tokens, seconds=limits.seconds),
        trial=str(job.trial),
        source=job.target,
        seed=job.seed,
        cards=setting.config.conditions.cards,
    )
    return _priced(setting, job.target, run)


def _priced(setting: OpenedExperiment, target: str, run: Trajectory) -> Trajectory:
    price, usage = setting.price(target), run.usage
    if price is None or usage.cost_usd is not None or usage.tokens_in is None or usage.tokens_out is None:
        return run
    cost = price.of(usage.tokens_in, usage.tokens_out)
    return msgspec.structs.replace(run, usage=msgspec.structs.replace(usage, cost_usd=cost))
