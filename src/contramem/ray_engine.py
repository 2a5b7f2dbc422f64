"""RayEngine: runs shards as tasks of a Ray cluster. Ray reruns a task whose worker or node is lost."""

from __future__ import annotations

import gc
import pickle
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar
from urllib.parse import urlsplit

from contramem.errors import EngineError, UsageError

Shared = TypeVar("Shared")
Shard = TypeVar("Shard")
Result = TypeVar("Result")

MAX_RETRIES = 5
"""How often Ray reruns a task whose worker or node was lost."""
AHEAD = 2
"""Shards submitted per processor of the cluster before a result is taken."""
CLIENT_PORT = 10_001
"""Where Ray listens for `ray://` addresses that name no port."""
ANSWER_WITHIN_S = 10.0


class RayEngine:
    """Connects to a running cluster by its address, or starts one on this machine."""

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self._ray = _import_ray()
        self.shares_files = address is None
        """A cluster with an address may have nodes on other machines, which have other files."""
        self._started = not self._ray.is_initialized()
        if self._started:
            self._connect(address, workers)
        self._run = self._ray.remote(num_cpus=1, max_retries=MAX_RETRIES)(_run)

    @property
    def workers(self) -> int:
        """At least two, so that heavy work never stays in this process."""
        return max(2, int(self._ray.cluster_resources().get("CPU", 1)))

    def map(self, job: Callable[[Shared, Shard], Result], shards: Iterable[Shard], shared: Shared) -> Iterator[Result]:
        shared_reference = self._ray.put(shared)
        ahead = AHEAD * self.workers
        waiting: deque[Any] = deque()
        for shard in shards:
            encoded = pickle.dumps(shard, pickle.HIGHEST_PROTOCOL)
            waiting.append(self._run.remote(job, shared_reference, encoded, gc.get_threshold()))
            if len(waiting) >= ahead:
                yield self._take(waiting.popleft())
        while waiting:
            yield self._take(waiting.popleft())

    def close(self) -> None:
        if self._started:
            self._ray.shutdown()

    def _take(self, reference: Any) -> Any:
        try:
            return pickle.loads(self._ray.get(reference))
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self._ray.exceptions.RayError as error:
            raise EngineError(f"Ray lost a shard {MAX_RETRIES} times over: {error}") from error

    def _connect(self, address: str | None, workers: int | None) -> None:
        if address is not None:
            _check_answers(address)
        try:
            if address is None:
                self._ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
            else:
                self._ray.init(address=address, log_to_driver=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise EngineError(
                f"--engine ray: cannot join {address or 'a cluster on this machine'} ({error})."
            ) from error


def _check_answers(address: str) -> None:
    """Raise if nothing answers at the address: Ray itself would try for minutes. `auto` and the like name no host."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        port = parts.port or (CLIENT_PORT if parts.scheme == "ray" else None)
        if parts.hostname and port:
            socket.create_connection((parts.hostname, port), ANSWER_WITHIN_S).close()
    except (OSError, ValueError) as error:
        raise EngineError(
            f"--address {address}: no Ray cluster answers there ({error}). Is it running? On its head node, "
            "`ray status` says so."
        ) from error


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UsageError("--engine ray needs Ray: pip install 'contramem[ray]'") from None
    return ray


def _run(job: Callable[[Any, Any], Any], shared: Any, shard: bytes, collections: tuple[int, int, int]) -> bytes:
    """A job on a pickled shard; its result, pickled: Ray's own pickling of many small objects takes much longer.
    `collections`: how often Python looks for garbage, as in the process that sends the job."""
    gc.set_threshold(*collections)
    return pickle.dumps(job(shared, pickle.loads(shard)), pickle.HIGHEST_PROTOCOL)
