"""A batch: one target on many tasks of one environment, with or without a bank. Running it again continues it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contramem.errors import TaskError
from contramem.inject.provider import MemoryProvider
from contramem.inject.run import Memory
from contramem.progress import Progress
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import Profile
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory
from contramem_lab.bench.environment import SelfRunningEnvironment
from contramem_lab.bench.limits import Limits
from contramem_lab.experiment.folder import file_name, writable
from contramem_lab.experiment.jobs import Job, jobs_to_do, perform_all


@dataclass(frozen=True)
class ProfileByAbility:
    """A memory with a profile per ability: Time gets no cards before calls."""

    memory: Memory
    profile: str | None
    profiles: dict[str, Profile]

    def begin(self, query: Query, *, run_id: str | None = None) -> Any:
        profile = self.profiles.get(query.ability or "") or self.profile
        return self.memory.begin(query, run_id=run_id, profile=profile)


@dataclass
class Batch:
    """What to run. `settings` is everything else that a run depends on: with other settings it is another run."""

    environment: SelfRunningEnvironment
    target: Any
    provider: MemoryProvider | None
    out: Path
    limits: Limits
    ability_limits: dict[str, Limits] = field(default_factory=dict)
    trials: int = 1
    concurrency: int = 1
    settings: str = ""

    def run(self, task_ids: Sequence[str], tell: Progress) -> tuple[list[Trajectory], list[str]]:
        """All runs that exist at the end, and what went wrong with the others. A failing run does not stop the
        others."""
        jobs = [self._job(task_id, trial) for trial in range(self.trials) for task_id in task_ids]
        problems: list[str] = []
        done = len(jobs) - len(jobs_to_do(jobs))
        tell("runs", done, len(jobs))

        def on_done(job: Job, run: Trajectory) -> None:
            nonlocal done
            done += 1
            tell("runs", done, len(jobs))

        def on_problem(job: Job, error: TaskError) -> None:
            problems.append(str(error))

        perform_all(jobs_to_do(jobs), self._perform, self.concurrency, on_done, on_problem)
        return list(read_traces([job.path for job in jobs if job.is_done])), problems

    def _job(self, task_id: str, trial: int) -> Job:
        inputs = hashlib.sha256(f"{self.settings}\n{task_id}\n{self.limits}".encode()).hexdigest()
        folder = self.out / "runs" / file_name(self.target.name)
        return Job("", self.target.name, 0, self.environment.name, task_id, trial, 0, inputs, folder)

    def _perform(self, job: Job) -> Trajectory:
        ability = self.environment.tasks()[job.task_id].ability or ""
        limits = self.ability_limits.get(ability, self.limits)
        return self.environment.attempt(job.task_id, self.target, self.provider, limits, trial=str(job.trial))


def check_writable(out: Path) -> None:
    """Check before anything runs, not after."""
    with writable(out):
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".writable"
        probe.write_bytes(b"")
        probe.unlink()
