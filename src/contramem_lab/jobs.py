"""Jobs: runs to make, one trace file each. If the process is killed, every finished run is there, and none is partial.

The result folder of an experiment is used by one process at a time, and every file in it is complete or absent:

experiment.toml    what was run        split.json       which tasks teach, which are held out
manifest.json      with what           results.json     what came out; report.html, report.md, tables/
memory/            what each condition showed: banks, texts, their hashes
reference/         runs made to be learned from
runs/              runs by condition and target, one trace per file
superseded/        runs that a changed experiment no longer needs
"""

from __future__ import annotations

import hashlib
import queue
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from contramem.errors import ContramemError, ModelError, TaskError, UsageError
from contramem.file_lock import sole_holder
from contramem.inject.provider import MemoryProvider
from contramem.inject.run import Memory
from contramem.progress import Progress
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import Profile
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Origin, Trajectory, digest
from contramem.traces.write import write_traces
from contramem.whole_file import replacing
from contramem_lab.environment import Limits, SelfRunningEnvironment

MARK = "experiment.json"
FORMAT = 1


@dataclass(frozen=True)
class ResultFolder:
    """Where one experiment keeps everything."""

    path: Path

    @property
    def runs(self) -> Path:
        return self.path / "runs"

    @property
    def reference(self) -> Path:
        return self.path / "reference"

    @property
    def memory(self) -> Path:
        return self.path / "memory"

    def write(self, name: str, content: str | bytes) -> Path:
        """Write the whole file; on failure, the previous content stays."""
        path = self.path / name
        with writable(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                file.write(content.encode() if isinstance(content, str) else content)
        return path

    def write_json(self, name: str, value: Any) -> Path:
        return self.write(
            name, msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2) + b"\n"
        )

    def read_json(self, name: str) -> Any:
        """None: the file does not exist yet."""
        path = self.path / name
        try:
            return msgspec.json.decode(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(f"{path}: cannot be read ({error}). Move it away and run again.") from None

    def set_aside(self, wanted: Iterable[Path]) -> int:
        """Move runs that are no longer needed to `superseded/` and return their number. Paid runs are never deleted."""
        keep = set(wanted)
        stale = [
            path for root in (self.runs, self.reference) for path in sorted(root.rglob("*.jsonl")) if path not in keep
        ]
        with writable(self.path):
            for path in stale:
                aside = self.path / "superseded" / path.relative_to(self.path)
                aside.parent.mkdir(parents=True, exist_ok=True)
                path.replace(aside)
        return len(stale)


@contextmanager
def writable(path: Path) -> Iterator[None]:
    """Report disk errors in one line."""
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written ({error.strerror or error}). Choose another place with --out."
        ) from None


@contextmanager
def hold_folder(path: Path, name: str) -> Iterator[ResultFolder]:
    """The folder at `path` for experiment `name`: created if absent, refused if it belongs to another or is in use."""
    folder = claim_folder(path, name)
    with sole_holder(path / ".lock") as free:
        if not free:
            raise UsageError(f"{path}: another process is running this experiment. Wait for it, or choose --out.")
        yield folder


def claim_folder(path: Path, name: str) -> ResultFolder:
    folder = ResultFolder(path)
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path}: is a file. Results need a folder; choose another with --out.")
    mark = folder.read_json(MARK) if path.is_dir() else None
    if mark is None:
        if path.is_dir() and any(path.iterdir()):
            raise UsageError(
                f"{path}: is not empty, and is not the folder of an experiment. Choose another folder with --out."
            )
        folder.write_json(MARK, {"format": FORMAT, "name": name})
    else:
        _check_mark(path, mark, name)
    return folder


def open_folder(path: Path) -> ResultFolder:
    """The folder of an experiment that was run, for reading."""
    folder = ResultFolder(path)
    mark = folder.read_json(MARK) if path.is_dir() else None
    if mark is None:
        raise UsageError(f"{path}: there is no experiment here. `contramem lab experiment run FILE.toml` creates one.")
    _check_mark(path, mark, None)
    return folder


def _check_mark(path: Path, mark: Any, name: str | None) -> None:
    existing, format_ = (mark.get("name"), mark.get("format")) if isinstance(mark, dict) else (None, None)
    if type(format_) is not int or format_ > FORMAT:
        raise UsageError(f"{path}: was made by another contramem (results format {format_}, this one knows {FORMAT}).")
    if name is not None and existing != name:
        raise UsageError(
            f"{path}: holds the experiment {existing!r}, this is {name!r}. Choose another folder with --out."
        )


def file_name(text: str) -> str:
    """`text` as part of a file name: readable, and unique per text."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", text).strip("._")[:60]
    return plain if plain == text else f"{plain or 'x'}-{digest(text)[:6]}"


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
    all_jobs: Sequence[Job],
    perform: Perform,
    concurrency: int,
    on_problem: Callable[[Job, TaskError], None],
    tell: Progress,
    stage: str = "runs",
) -> None:
    """Do what is not done yet, `concurrency` at a time. A task that cannot be run goes to `on_problem`; the others
    continue.

    Raises StoppedError on Ctrl-C and for errors that every further run would also meet: a target that does not answer,
    a full disk.
    """
    jobs = jobs_to_do(all_jobs)
    before = len(all_jobs) - len(jobs)
    tell(stage, before, len(all_jobs))
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
            tell(stage, before + done, len(all_jobs))
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
        perform_all(jobs, self._perform, self.concurrency, lambda job, error: problems.append(str(error)), tell)
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
