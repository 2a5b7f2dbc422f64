"""Reference: the runs that every memory of one comparison is built from, and what all of them need of these runs."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from contramem.contrast.collection import contrast_all
from contramem.contrast.packet import Packet
from contramem.contrast.vocabulary import Vocabulary
from contramem.errors import UsageError
from contramem.traces.pool import Pool, content_digest
from contramem.traces.tools import tools_by_function
from contramem.traces.trajectory import Tool, Trajectory


class Reference:
    """Runs by task. In whatever order they come, the same runs are the same reference."""

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
        """A short name for these runs: a store of cards belongs to one reference."""
        hasher = hashlib.sha256()
        for run in self.runs:
            hasher.update(content_digest(run))
        return hasher.hexdigest()[:12]

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """What the runs say about the functions that agents had."""
        return tools_by_function(self.runs)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(list(task) for task in self.tasks)

    @cached_property
    def packets(self) -> list[Packet]:
        """One for each task: values masked, calls that follow from planted text marked."""
        began = self.clock()
        with Pool(self.runs) as pool:
            packets = contrast_all(pool, self.vocabulary)
        self._prepared_s = self.clock() - began
        return packets

    def prepare(self) -> float:
        """Make the packets, if that has not been done. Seconds it took: every memory is charged with them."""
        return self._prepared_s if self.packets else 0.0

    def limit_rollouts(self, rollouts: int) -> Reference:
        """The first `rollouts` runs of each task by each source."""
        kept = (run for task in self.tasks for source in self.sources for run in by_source(task, source)[:rollouts])
        return Reference(kept, self.clock)

    def only(self, source: str, rollouts: int) -> Reference:
        """The first `rollouts` runs of each task by one source."""
        if source not in self.sources:
            raise UsageError(f"--target: there are no runs of {source!r}. These runs are of {', '.join(self.sources)}.")
        kept = (run for task in self.tasks for run in by_source(task, source)[:rollouts])
        return Reference(kept, self.clock)


def by_source(task: Sequence[Trajectory], source: str) -> list[Trajectory]:
    """The runs of one source, by the number of the trial."""
    return sorted((run for run in task if run.source == source), key=lambda run: (len(run.run), run.run))


def median_source(tasks: Iterable[Sequence[Trajectory]]) -> str:
    """The source whose share of passed runs is the median; of an even number, the lower of the two in the middle."""
    passed: dict[str, list[bool]] = {}
    for task in tasks:
        for run in task:
            if run.outcome.passed is not None:
                passed.setdefault(run.source, []).append(run.outcome.passed)
    if not passed:
        raise UsageError("no run has a known outcome, so no source can be chosen. Give outcomes with --outcomes.")
    ranked = sorted(passed, key=lambda source: (sum(passed[source]) / len(passed[source]), source))
    return ranked[(len(ranked) - 1) // 2]
