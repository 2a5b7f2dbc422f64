"""What was read, counted in one pass without keeping the runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from contramem.traces.pool import content_digest
from contramem.traces.read import TraceReading
from contramem.traces.reader import Problem


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


def summarize(reading: TraceReading) -> TraceSummary:
    """Read everything once. The same run found in two places counts once; the other is skipped as a duplicate."""
    summary = TraceSummary()
    seen: set[bytes] = set()
    for run in reading:
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
        summary.functions.update(call.function for call in calls)
        summary.interrupted += run.outcome.ended == "interrupted"
    summary.skipped += reading.skipped
    summary.ignored = reading.ignored
    summary.problems = reading.problems
    summary.problem_count = reading.problem_count
    return summary
