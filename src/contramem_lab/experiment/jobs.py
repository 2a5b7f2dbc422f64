"""Jobs: runs to make, one trace file each. If the process is killed, every finished run is there, and none is
partial."""

from __future__ import annotations

import hashlib
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import msgspec

from contramem.errors import ContramemError, ModelError, TaskError
from contramem.traces.trajectory import Origin, Trajectory
from contramem.traces.write import write_traces
from contramem_lab.experiment.folder import file_name, writable

TRIES = 2
"""How often a run is started if its target does not answer."""


@dataclass(frozen=True)
class Job:
    """One run of one target on one task under one condition."""

    condition: str
    target: str
    fold: int
    environment: str
    task_id: str
    trial: int
    seed: int
    inputs: str
    """A digest of everything that the run depends on. With another digest it is another run."""
    folder: Path
    """The folder of the condition and target."""

    @property
    def path(self) -> Path:
        task = file_name(f"{self.environment}/{self.task_id}".replace("/", "."))
        return self.folder / f"{task}.{self.trial}.{self.inputs[:10]}.jsonl"

    @property
    def is_done(self) -> bool:
        return self.path.exists()


def seed_of(experiment_seed: int, target: str, task: str, trial: int) -> int:
    """The same for every condition, so that only the memory differs."""
    text = f"{experiment_seed}\n{target}\n{task}\n{trial}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


Perform: TypeAlias = Callable[[Job], Trajectory]


class StoppedError(Exception):
    """Stopped halfway, by the user or by an error that every further run would also meet."""

    def __init__(self, done: int, left: int, cause: ContramemError | None = None) -> None:
        super().__init__(f"{done} done, {left} left")
        self.done, self.left, self.cause = done, left, cause


def perform_all(
    jobs: Sequence[Job],
    perform: Perform,
    concurrency: int,
    on_done: Callable[[Job, Trajectory], None],
    on_problem: Callable[[Job, TaskError], None],
) -> None:
    """Do what is not done yet, `concurrency` at a time. A task that cannot be run goes to `on_problem`; the others
    continue.

    Raises StoppedError on Ctrl-C and for errors that every further run would also meet: a target that does not answer,
    a full disk.
    """
    todo: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        todo.put(job)
    finished: queue.SimpleQueue[tuple[Job, Trajectory | BaseException]] = queue.SimpleQueue()
    stop = threading.Event()
    # Daemons: if the user wants to leave, we do not wait for a reply that may take minutes. Only that run is lost,
    # since a trace is written only when it is complete.
    for _ in range(min(concurrency, len(jobs))):
        threading.Thread(target=_work, args=(todo, finished, perform, stop), daemon=True).start()
    done = 0
    try:
        while done < len(jobs):
            job, result = finished.get()
            if isinstance(result, TaskError):
                on_problem(job, result)
                jobs = [other for other in jobs if other is not job]
                continue
            if isinstance(result, ContramemError):
                raise StoppedError(done, len(jobs) - done, result)
            if isinstance(result, BaseException):
                raise result
            done += 1
            on_done(job, result)
    except KeyboardInterrupt:
        raise StoppedError(done, len(jobs) - done) from None
    finally:
        stop.set()


def _work(
    todo: queue.SimpleQueue[Job],
    finished: queue.SimpleQueue[tuple[Job, Trajectory | BaseException]],
    perform: Perform,
    stop: threading.Event,
) -> None:
    while not stop.is_set():
        try:
            job = todo.get_nowait()
        except queue.Empty:
            return
        try:
            finished.put((job, _do_job(job, perform)))
        except BaseException as error:  # any error is passed to the waiting thread
            finished.put((job, error))


def _do_job(job: Job, perform: Perform) -> Trajectory:
    run = _try_job(job, perform)
    with writable(job.folder):
        job.folder.mkdir(parents=True, exist_ok=True)
    kept = msgspec.structs.replace(run, origin=Origin("/".join(job.path.parts[-4:])))
    write_traces([kept], job.path)
    return kept


def _try_job(job: Job, perform: Perform) -> Trajectory:
    for _ in range(TRIES - 1):
        try:
            return perform(job)
        except ModelError:
            continue
    return perform(job)


def jobs_to_do(jobs: Iterable[Job]) -> list[Job]:
    return [job for job in jobs if not job.is_done]
