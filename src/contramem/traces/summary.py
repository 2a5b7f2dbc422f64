"""What was read, counted in one pass without keeping the runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from contramem.traces.read import TraceReading
from contramem.traces.reader import Problem
from contramem.traces.run_content import content_digest
from contramem.traces.trajectory import Trajectory


@dataclass
class OutcomeCounts:
    """Runs of one source, ability or environment by outcome."""

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


@dataclass
class TraceSummary:
    """The counts that `contramem traces` prints."""

    total: OutcomeCounts = field(default_factory=OutcomeCounts)
    interrupted: int = 0
    calls: int = 0
    calls_without_result: int = 0
    results_without_call: int = 0
    tasks_as_environments: int = 0
    """Environments that are called like their only task: a field was taken for what it is not."""
    functions: set[str] = field(default_factory=set)
    by_source: dict[str, OutcomeCounts] = field(default_factory=lambda: defaultdict(OutcomeCounts))
    by_ability: dict[str, OutcomeCounts] = field(default_factory=lambda: defaultdict(OutcomeCounts))
    by_task: dict[str, OutcomeCounts] = field(default_factory=lambda: defaultdict(OutcomeCounts))
    skipped: Counter[str] = field(default_factory=Counter)
    ignored: int = 0
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0

    @property
    def contrastive_tasks(self) -> int:
        """Tasks that some runs passed and others failed."""
        return sum(1 for tally in self.by_task.values() if tally.passed and tally.failed)


class Hint(NamedTuple):
    """Something about the runs that keeps them from teaching, and what to do."""

    what: str
    hint: str


def hints(summary: TraceSummary) -> list[Hint]:
    """What most likely went wrong in reading, or is missing, the worst first."""
    total, hints_so_far = summary.total, []
    if total.runs and not summary.calls:
        hint = (
            "If the agents did use tools, their calls are written in a way that this reader does not know: try another"
        )
        hints_so_far.append(
            Hint("no run calls a tool, so nothing can be learned", f"{hint} --format, or steps with --map.")
        )
    if summary.calls and summary.calls_without_result > summary.calls / 2:
        what = f"{summary.calls_without_result:,} of {summary.calls:,} calls have no result"
        hints_so_far.append(
            Hint(what, "Results may be under another call id, or were not recorded; is it the right --format?")
        )
    if summary.results_without_call > max(10, summary.calls):
        what = f"{summary.results_without_call:,} results belong to no call"
        hints_so_far.append(
            Hint(what, "Calls may be written in a way that this reader does not know; try another --format.")
        )
    if summary.tasks_as_environments and summary.tasks_as_environments > total.runs / 2:
        what = f"in {summary.tasks_as_environments:,} runs the environment is the task's own id"
        hints_so_far.append(
            Hint(what, "Every task then has functions of its own; name one app for all with --app NAME.")
        )
    if total.runs and total.unknown == total.runs:
        hint = "Say where the verdict is: --map outcome=FIELD, --map outcome=file:report.json#resolved, --outcomes CSV."
        if any(function.startswith("shell.") for function in summary.functions):
            hint += " Or judge sessions by what they ran last: --rule tests, exit or commit."
        hints_so_far.append(Hint("no outcome is known, so no Skill Card can be learned", hint))
    elif summary.by_task and not summary.contrastive_tasks:
        several = sum(1 for tally in summary.by_task.values() if tally.runs > 1)
        what = "no task has both passing and failing runs"
        if not several:
            what = "every task has one run only"
        hints_so_far.append(
            Hint(what, "A contrast needs several runs of a task: of other models, or more tries of this one.")
        )
    if set(summary.by_source) == {"unknown"}:
        hints_so_far.append(Hint("no run says which model or agent it is of", "--map source=FIELD, or source=path:-2."))
    return hints_so_far


def summarize(reading: TraceReading) -> TraceSummary:
    """Read everything once. The same run found in two places counts once; the other is skipped as a duplicate."""
    return summarize_runs(reading, lambda run: None)


def summarize_runs(reading: TraceReading, on_run: Callable[[Trajectory], None]) -> TraceSummary:
    """`summarize`, which shows each run to `on_run`. Duplicates too: another folder may be another source."""
    summary = TraceSummary()
    seen: set[bytes] = set()
    for run in reading:
        on_run(run)
        digest = content_digest(run)
        if digest in seen:
            summary.skipped["duplicate"] += 1
            continue
        seen.add(digest)
        for tally in (
            summary.total,
            summary.by_source[run.source],
            summary.by_ability[run.ability or "general"],
            summary.by_task[run.task_key],
        ):
            tally.count(run.outcome.passed)
        calls = run.calls
        summary.calls += len(calls)
        summary.calls_without_result += sum(1 for call in calls if call.result is None and call.effect != "finalize")
        summary.results_without_call += sum(1 for event in run.events if event.kind == "observation")
        summary.tasks_as_environments += run.environment in (run.task_id, f"group-chat/{run.task_id}")
        summary.functions.update(call.function for call in calls)
        summary.interrupted += run.outcome.ended == "interrupted"
    summary.skipped += reading.skipped
    summary.ignored = reading.ignored
    summary.problems = reading.problems
    summary.problem_count = reading.problem_count
    return summary
