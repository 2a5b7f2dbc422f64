"""Engine: runs heavy stages. It maps one job over many shards, in this process, in several, or on a Ray cluster.

Results come in the order of the shards, whichever finishes first, so every engine produces the same bytes. A job is a
module-level function of the data that all shards share (sent to the workers once) and of one shard.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from contramem.errors import EngineError, UsageError
from contramem.scratch import ScratchFolder

Shared = TypeVar("Shared")
Shard = TypeVar("Shard")
Result = TypeVar("Result")

MAX_TRIES = 3
"""How often a shard is tried if its worker dies. A shard that killed three workers would kill the next one too."""
AHEAD = 2
"""Shards submitted per worker before a result is taken. Bounds the shards and results held in memory."""


class Engine(Protocol):
    """Runs a job on shards, side by side where it can."""

    @property
    def workers(self) -> int:
        """How many shards run at a time; 1 means in this process."""

    @property
    def shares_files(self) -> bool:
        """Do its workers see the files of this machine?"""

    def map(self, job: Callable[[Shared, Shard], Result], shards: Iterable[Shard], shared: Shared) -> Iterator[Result]:
        """The result of each shard, in the order of the shards."""

    def close(self) -> None:
        """Stop the workers."""


class LocalEngine:
    """Processes on this machine. With one worker, or one shard, everything stays in this process."""

    shares_files = True

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def map(self, job: Callable[[Shared, Shard], Result], shards: Iterable[Shard], shared: Shared) -> Iterator[Result]:
        shards = iter(shards)
        first = list(islice(shards, 2))
        if self.workers == 1 or len(first) < 2:
            return (job(shared, shard) for shard in chain(first, shards))
        return self._map_in_parallel(job, chain(first, shards), shared)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _map_in_parallel(
        self, job: Callable[[Shared, Shard], Result], shards: Iterable[Shard], shared: Shared
    ) -> Iterator[Result]:
        with ScratchFolder("shared") as folder:
            file = folder / "shared.pickle"
            with file.open("wb") as written:
                pickle.dump(shared, written, pickle.HIGHEST_PROTOCOL)
            waiting: deque[_SubmittedShard] = deque()
            for shard in shards:
                waiting.append(self._submit(_ShardJob(job, str(file), shard)))
                if len(waiting) >= AHEAD * self.workers:
                    yield self._take(waiting.popleft())
            while waiting:
                yield self._take(waiting.popleft())

    def _submit(self, order: _ShardJob) -> _SubmittedShard:
        for _ in range(MAX_TRIES):
            pool = self._pool = self._pool or _start(self.workers)
            with suppress(BrokenProcessPool):
                return _SubmittedShard(order, pool, pool.submit(_run, order))
            self._discard(pool)
        raise EngineError("no worker process stays alive. Is there enough memory? --workers 1 does without them.")

    def _take(self, sent: _SubmittedShard) -> Any:
        """Wait for the result. If a worker dies, its shard and those submitted after it are run again."""
        for _ in range(MAX_TRIES):
            with suppress(BrokenProcessPool):
                return sent.future.result()
            self._discard(sent.pool)
            sent = self._submit(sent.order)
        raise EngineError(
            f"a worker process died {MAX_TRIES} times over the same shard. Is there enough memory? Try --workers 1."
        )

    def _discard(self, pool: ProcessPoolExecutor) -> None:
        if self._pool is pool:
            pool.shutdown(wait=False)
            self._pool = None


class _ShardJob(NamedTuple):
    job: Callable[[Any, Any], Any]
    shared: str
    """The file with the pickled data that all shards share."""
    shard: Any


class _SubmittedShard(NamedTuple):
    order: _ShardJob
    pool: ProcessPoolExecutor
    future: Future[Any]


def _start(workers: int) -> ProcessPoolExecutor:
    # Forking would copy locks held by the caller's threads; spawning behaves the same on every system.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, initializer=_set_up_worker, initargs=(gc.get_threshold(),))


def _set_up_worker(collections: tuple[int, int, int]) -> None:
    """`collections`: how often Python looks for garbage, as in the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # interrupts are left to the caller
    gc.set_threshold(*collections)


_last_shared: tuple[str, Any] = ("", None)


def _run(order: _ShardJob) -> Any:
    global _last_shared
    if _last_shared[0] != order.shared:
        _last_shared = (order.shared, pickle.loads(Path(order.shared).read_bytes()))
    return order.job(_last_shared[1], order.shard)


SERIAL = LocalEngine()
"""Runs everything in this process, one shard after the other."""


def open_engine(name: str = "local", workers: int | None = None, address: str | None = None) -> Engine:
    """Open the engine with this name; by default with one worker per processor."""
    if name == "ray":
        if address is not None and workers is not None:
            raise UsageError(
                "--workers has no effect on a cluster that is already running: drop it, or drop --address."
            )
        from contramem.ray_engine import RayEngine

        return RayEngine(address, workers)
    if address is not None:
        raise UsageError("--address is about a Ray cluster: add --engine ray.")
    return LocalEngine(workers or count_processors())


def count_processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
