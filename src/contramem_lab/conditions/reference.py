"""Reference: the runs that all memories of a comparison are built from, with the packets and tools they share."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from contramem.contrast.collection import contrast_all
from contramem.contrast.packet import Packet
from contramem.contrast.vocabulary import Vocabulary
from contramem.errors import UsageError
from contramem.traces.pool import Pool
from contramem.traces.run_content import content_digest
from contramem.traces.tools import tools_by_function
from contramem.traces.trajectory import Tool, Trajectory


class Reference:
    """Runs grouped by task. The order in which runs are given does not matter."""

    def __init__(self, runs: Iterable[Trajectory], clock: Callable[[], float] = time.perf_counter) -> None:
        with Pool(runs) as pool:
            self.tasks: tuple[tuple[Trajectory, ...], ...] = tuple(tuple(task) for task in pool)
        self.clock = clock
        self._prepared_s = 0.0

    @property
    def runs(self) -> Iterator[Trajectory]:
        return (run for task in self.tasks for run in task)

    def __len__(self) -> int:
        return sum(map(len, self.tasks))

    @cached_property
    def sources(self) -> tuple[str, ...]:
        return tuple(sorted({run.source for run in self.runs}))

    @cached_property
    def digest(self) -> str:
        """A short digest of the runs, used in the names of stores."""
        hasher = hashlib.sha256()
        for run in self.runs:
            hasher.update(content_digest(run))
        return hasher.hexdigest()[:12]

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """The functions that agents had, as described in the runs."""
        return tools_by_function(self.runs)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(list(task) for task in self.tasks)

    @cached_property
    def packets(self) -> list[Packet]:
        """A packet for each task: values are masked, calls that follow from planted text are marked."""
        began = self.clock()
        with Pool(self.runs) as pool:
            packets = contrast_all(pool, self.vocabulary)
        self._prepared_s = self.clock() - began
        return packets

    def prepare(self) -> float:
        """Build the packets if needed. Returns the seconds it took, which are charged to every memory."""
        return self._prepared_s if self.packets else 0.0

    def limit_rollouts(self, rollouts: int) -> Reference:
        """The first `rollouts` runs of each task by each source."""
        runs = (run for task in self.tasks for source in self.sources for run in by_source(task, source)[:rollouts])
        return Reference(runs, self.clock)

    def only(self, source: str, rollouts: int) -> Reference:
        """The first `rollouts` runs of each task by one source."""
        if source not in self.sources:
            raise UsageError(f"--target: there are no runs of {source!r}. These runs are of {', '.join(self.sources)}.")
        runs = (run for task in self.tasks for run in by_source(task, source)[:rollouts])
        return Reference(runs, self.clock)


def by_source(task: Sequence[Trajectory], source: str) -> list[Trajectory]:
    """The runs of one source, sorted by trial number."""
    return sorted((run for run in task if run.source == source), key=lambda run: (len(run.run), run.run))


def median_source(tasks: Iterable[Sequence[Trajectory]]) -> str:
    """The source with the median pass rate; of an even number, the lower of the two in the middle."""
    passed: dict[str, list[bool]] = {}
    for task in tasks:
        for run in task:
            if run.outcome.passed is not None:
                passed.setdefault(run.source, []).append(run.outcome.passed)
    if not passed:
        raise UsageError("no run has a known outcome, so no source can be chosen. Give outcomes with --outcomes.")
    ranked = sorted(passed, key=lambda source: (sum(passed[source]) / len(passed[source]), source))
    return ranked[(len(ranked) - 1) // 2]
