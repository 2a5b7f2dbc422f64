"""Jobs whose results are kept: an engine computes those that are missing, and all come in the order of the jobs."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

from contramem.engine import Engine
from contramem.kept_work import NO_WORK, Work

Shared = TypeVar("Shared")
Shard = TypeVar("Shard")
Result = TypeVar("Result")


class KeptJob(NamedTuple, Generic[Shard]):
    """Work on one shard."""

    key: bytes
    """A digest of all that its result is computed from. Empty: the result is not kept."""
    make_shard: Callable[[], Shard]
    """Called only if the result has to be computed."""


def compute(
    engine: Engine,
    work: Work,
    run: Callable[[Shared, Shard], Result],
    jobs: Iterable[KeptJob[Shard]],
    shared: Shared,
    shorten: Callable[[Result], Result] | None = None,
) -> Iterator[Result]:
    """The result of each job, in their order. A result whose `is_lasting` is False is not kept. `shorten` makes of a
    result what is kept of it."""
    if work is NO_WORK:
        yield from engine.map(run, (job.make_shard() for job in jobs), shared)
        return
    stage = run.__name__
    kept = deque[KeptJob[Shard] | None]()
    """Jobs whose turn has not come: those that were found, and None for each that the engine works on."""
    sent = deque[KeptJob[Shard]]()

    def missing() -> Iterator[Shard]:
        for job in jobs:
            is_kept = bool(job.key) and bool(work.find(stage, [job.key]))
            kept.append(job if is_kept else None)
            if not is_kept:
                sent.append(job)
                yield job.make_shard()

    def load_kept() -> Iterator[Result]:
        while kept and (job := kept[0]) is not None:
            kept.popleft()
            value = work.get(stage, [job.key]).get(job.key)
            yield run(shared, job.make_shard()) if value is None else pickle.loads(value)

    for result in engine.map(run, missing(), shared):
        yield from load_kept()
        kept.popleft()
        job = sent.popleft()
        if job.key and getattr(result, "is_lasting", True):
            kept_part = shorten(result) if shorten is not None else result
            work.put(stage, [(job.key, pickle.dumps(kept_part, pickle.HIGHEST_PROTOCOL))])
        yield result
    yield from load_kept()
