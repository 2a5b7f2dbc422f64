"""ReadingReport: what reading left out and why, counted together over files that were read apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from contramem.traces.map import FieldsFound
from contramem.traces.reader import Problem

KEPT_PROBLEMS = 10_000
"""Problems beyond this many are counted but no longer kept: a corrupt terabyte must not fill the memory."""


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
    formats: Counter[str] = field(default_factory=Counter)
    """Files by the reader that accepted them."""
    fields: FieldsFound = field(default_factory=FieldsFound)

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
        self.formats += other.formats
        self.fields.add(other.fields)
