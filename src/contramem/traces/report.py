"""What reading found, left out and why, counted in one pass without keeping the runs, and together over files that were
read apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from contramem.traces.map import FieldsFound
from contramem.traces.reader import Problem
from contramem.traces.trajectory import Event, Trajectory

KEPT_PROBLEMS = 10_000
"""Problems beyond this many are counted but no longer kept: a corrupt terabyte must not fill the memory."""
MAX_FOLDERS = 50
"""Folders of this many names may each hold the runs of one source; more are something else."""

OutcomeFrom: TypeAlias = Literal["the run", "a file beside the run", "--map", "--outcomes", "--rule"]


@dataclass
class OutcomeCounts:
    """Runs of one source, ability or task by outcome."""

    passed: int = 0
    failed: int = 0
    unknown: int = 0

    @property
    def runs(self) -> int:
        return self.passed + self.failed + self.unknown

    def count(self, passed: bool | None) -> None:
        if passed is None:
            self.unknown += 1
        elif passed:
            self.passed += 1
        else:
            self.failed += 1

    def add(self, other: OutcomeCounts) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.unknown += other.unknown


@dataclass
class RunTally:
    """What the runs have in them."""

    total: OutcomeCounts = field(default_factory=OutcomeCounts)
    by_source: dict[str, OutcomeCounts] = field(default_factory=lambda: defaultdict(OutcomeCounts))
    by_ability: dict[str, OutcomeCounts] = field(default_factory=lambda: defaultdict(OutcomeCounts))
    by_task: dict[str, OutcomeCounts] = field(default_factory=lambda: defaultdict(OutcomeCounts))
    functions: Counter[str] = field(default_factory=Counter)
    """Calls by function."""
    calls_without_result: int = 0
    results_without_call: int = 0
    runs_of_one_call: int = 0
    tasks_as_environments: int = 0
    """Environments that are called like their only task: a field was taken for what it is not."""
    interrupted: int = 0
    files: Counter[str] = field(default_factory=Counter)
    """Runs by file, of the files that hold several."""
    continued: Counter[str] = field(default_factory=Counter)
    """Runs by file that begin with all of the run before them in the same file."""
    outcome_from: Counter[str] = field(default_factory=Counter)
    folders: Counter[str] = field(default_factory=Counter)
    """Runs by the folder whose names tell sources apart, whether or not the runs name a source themselves."""
    sources_by_folder: int = 0
    """Runs that are said to be of their folder, because they name no source."""
    examples: dict[str, str] = field(default_factory=dict)
    """The first run with one call, without a result, and so on."""

    @property
    def calls(self) -> int:
        return self.functions.total()

    @property
    def contrastive_tasks(self) -> int:
        """Tasks that some runs passed and others failed."""
        return sum(1 for tally in self.by_task.values() if tally.passed and tally.failed)

    def count(self, run: Trajectory) -> None:
        """Count in one run."""
        passed = run.outcome.passed
        self.total.count(passed)
        self.by_source[run.source].count(passed)
        self.by_ability[run.ability or "general"].count(passed)
        self.by_task[run.task_key].count(passed)
        calls, missing = [], 0
        for event in run.events:
            if event.function and event.actor == "agent":
                calls.append(event.function)
                missing += event.result is None and event.effect != "finalize"
            elif event.kind == "observation":
                self.results_without_call += 1
        self.functions.update(calls)
        self.calls_without_result += missing
        self.runs_of_one_call += len(calls) == 1
        self.tasks_as_environments += run.environment in (run.task_id, f"group-chat/{run.task_id}")
        self.interrupted += run.outcome.ended == "interrupted"
        if len(calls) == 1:
            self.examples.setdefault("one call", str(run.origin))
        if missing:
            self.examples.setdefault("no result", str(run.origin))

    def count_in_file(self, run: Trajectory, before: Trajectory | None) -> None:
        """Count in what a run has to do with the one before it in its file."""
        if before is None:
            return
        self.files[run.origin.file] += 1
        if continues(run, before):
            self.continued[run.origin.file] += 1

    def add(self, other: RunTally) -> None:
        """Count in what was read elsewhere."""
        self.total.add(other.total)
        for mine, theirs in ((self.by_source, other.by_source), (self.by_ability, other.by_ability),
                             (self.by_task, other.by_task)):  # fmt: skip
            for name, counts in theirs.items():
                mine[name].add(counts)
        self.functions.update(other.functions)
        self.calls_without_result += other.calls_without_result
        self.results_without_call += other.results_without_call
        self.runs_of_one_call += other.runs_of_one_call
        self.tasks_as_environments += other.tasks_as_environments
        self.interrupted += other.interrupted
        self.files.update(other.files)
        self.continued.update(other.continued)
        self.outcome_from.update(other.outcome_from)
        self.folders.update(other.folders)
        self.sources_by_folder += other.sources_by_folder
        self.examples = {**other.examples, **self.examples}


def continues(run: Trajectory, before: Trajectory) -> bool:
    """Does this run begin with all that happened in that one, as where each step was saved as a run?"""
    length = len(before.events)
    if length >= len(run.events) or not before.calls:
        return False
    return all(_essence(mine) == _essence(theirs) for mine, theirs in zip(run.events, before.events, strict=False))


def _essence(event: Event) -> tuple[object, ...]:
    return event.actor, event.function, event.text, event.arguments


@dataclass
class ReadingReport:
    """What became of the files and runs that were found."""

    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    """Runs that were left out on purpose, by reason."""
    ignored: int = 0
    ignored_files: list[str] = field(default_factory=list)
    """Those that are no traces."""
    aside: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Of these, how many hold messages or steps, by the options that might read them."""
    formats: Counter[str] = field(default_factory=Counter)
    """Files by the reader that accepted them."""
    fields: FieldsFound = field(default_factory=FieldsFound)
    tally: RunTally = field(default_factory=RunTally)

    def report(self, problem: Problem) -> None:
        """Count a problem, and keep it while there are not too many."""
        self.problem_count += 1
        if len(self.problems) < KEPT_PROBLEMS:
            self.problems.append(problem)

    def ignore(self, file: str) -> None:
        """Count a file that is no trace."""
        self.ignored += 1
        if len(self.ignored_files) < KEPT_PROBLEMS:
            self.ignored_files.append(file)

    def add_report(self, other: ReadingReport) -> None:
        """Count in what was read after this."""
        self.problem_count += other.problem_count
        self.problems += other.problems[: KEPT_PROBLEMS - len(self.problems)]
        self.skipped += other.skipped
        self.ignored += other.ignored
        self.ignored_files += other.ignored_files[: KEPT_PROBLEMS - len(self.ignored_files)]
        self.aside += other.aside
        self.formats += other.formats
        self.fields.add(other.fields)
        self.tally.add(other.tally)
