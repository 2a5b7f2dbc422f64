"""The vocabulary and the packets of a whole collection, computed shard by shard on an engine.

Results for unchanged runs come from `work`, so only new or changed tasks take time.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import NamedTuple
from zlib import crc32

from contramem.contrast.packet import Packet
from contramem.contrast.packet_file import ContrastPlan, PacketFile, PacketRow, contrast_shard, learn_shard
from contramem.contrast.vocabulary import Vocabulary
from contramem.engine import SERIAL, Engine
from contramem.kept_jobs import KeptJob, compute
from contramem.kept_work import NO_WORK, Work, digest_parts
from contramem.progress import Progress, no_progress
from contramem.traces.pool import Pool, PoolShard
from contramem.traces.run_table import TaskBatch

_STAGE = "contrast"
_BUNDLE = "vocabulary"
GROUPS_PER_BUNDLE = 16
"""On average."""
_AT_ONCE = 100
"""How many cached packets are in memory at a time."""


def learn_vocabulary(
    pool: Pool, engine: Engine = SERIAL, on_progress: Progress = no_progress, work: Work = NO_WORK
) -> Vocabulary:
    """Learn from all runs which values are words of the interface.

    Groups of tasks are learned from by themselves, and put together in bundles, which are kept: of a million runs that
    were read before, a few hundred bundles are combined, not thousands of groups.
    """
    bundles = list(_bundle(pool.groups(lasting=work is not NO_WORK)))
    kept = work.find(_BUNDLE, [bundle.contents for bundle in bundles])
    total, done = sum(bundle.tasks for bundle in bundles), 0

    def jobs() -> Iterator[KeptJob[PoolShard]]:
        for bundle in bundles:
            for group in bundle.groups if bundle.contents not in kept else ():
                yield KeptJob(group.contents, partial(pool.read_tasks, group.keys))

    learned = compute(engine, work, learn_shard, jobs(), None)

    def parts() -> Iterator[Vocabulary]:
        nonlocal done
        for bundle in bundles:
            if bundle.contents in kept:
                yield _load_bundle(bundle, pool, work)
            else:
                whole = Vocabulary.combine(islice(learned, len(bundle.groups)))
                work.put(_BUNDLE, [(bundle.contents, pickle.dumps(whole, pickle.HIGHEST_PROTOCOL))])
                yield whole
            done += bundle.tasks
            on_progress("vocabulary", done, total)

    return Vocabulary.combine(parts())


class _Bundle(NamedTuple):
    """Some groups of tasks."""

    groups: list[TaskBatch]

    @property
    def contents(self) -> bytes:
        """A digest of the runs."""
        return digest_parts([group.contents for group in self.groups])

    @property
    def tasks(self) -> int:
        return sum(len(group.keys) for group in self.groups)


def _bundle(groups: Iterable[TaskBatch]) -> Iterator[_Bundle]:
    """Groups that follow each other. Their contents decide where a bundle ends, so that further runs leave most of them
    as they were."""
    together: list[TaskBatch] = []
    for group in groups:
        together.append(group)
        if crc32(group.contents) % GROUPS_PER_BUNDLE == 0:
            yield _Bundle(together)
            together = []
    if together:
        yield _Bundle(together)


def _load_bundle(bundle: _Bundle, pool: Pool, work: Work) -> Vocabulary:
    value = work.get(_BUNDLE, [bundle.contents]).get(bundle.contents)
    if value is None:  # damaged: learn it again
        return Vocabulary.combine(learn_shard(None, pool.read_tasks(group.keys)) for group in bundle.groups)
    whole: Vocabulary = pickle.loads(value)
    return whole


def contrast_selected(
    pool: Pool,
    task_keys: Sequence[str],
    vocabulary: Vocabulary,
    engine: Engine = SERIAL,
    on_progress: Progress = no_progress,
    work: Work = NO_WORK,
    study: Callable[[Packet], object] | None = None,
) -> PacketFile:
    """Put the runs of each of these tasks side by side, with values as placeholders and the signals that separate the
    runs. `study` is called with each packet where it is made; what it adds to the packet's findings is kept with it."""
    plan = ContrastPlan(vocabulary, study)
    if work is NO_WORK:
        return PacketFile(_contrast(pool, task_keys, plan, engine, on_progress), vocabulary)
    return PacketFile(_contrast_new(pool, task_keys, plan, engine, on_progress, work), vocabulary)


def _contrast(
    pool: Pool, task_keys: Sequence[str], plan: ContrastPlan, engine: Engine, on_progress: Progress
) -> Iterator[PacketRow]:
    shards = _shards(pool, task_keys, on_progress)
    return chain.from_iterable(engine.map(contrast_shard, shards, plan))


def _shards(pool: Pool, task_keys: Sequence[str], on_progress: Progress) -> Iterator[PoolShard]:
    done = 0
    for shard in pool.shards(task_keys):
        yield shard
        done += len(shard.tasks)
        on_progress("contrasting", done, len(task_keys))


def _contrast_new(
    pool: Pool,
    task_keys: Sequence[str],
    plan: ContrastPlan,
    engine: Engine,
    on_progress: Progress,
    work: Work,
) -> Iterator[PacketRow]:
    """Yield packets in the order of the tasks: cached ones as they are, the others made and cached."""
    digest_for = plan.vocabulary.digest_for
    keys = {task: pool.digest(task) + digest_for(pool.functions(task)) for task in task_keys}
    kept = work.find(_STAGE, list(keys.values()))
    new = _contrast(pool, [task for task in task_keys if keys[task] not in kept], plan, engine, on_progress)
    for start in range(0, len(task_keys), _AT_ONCE):
        tasks = task_keys[start : start + _AT_ONCE]
        values = work.get(_STAGE, [keys[task] for task in tasks if keys[task] in kept])
        made = {}
        for task in tasks:
            value = values.get(keys[task])
            if value is not None:
                yield PacketRow(*pickle.loads(value))
            else:  # the cached packet is damaged: make it again
                lost = keys[task] in kept
                row = contrast_shard(plan, pool.read_tasks([task]))[0] if lost else next(new)
                made[keys[task]] = pickle.dumps(tuple(row))
                yield row
        work.put(_STAGE, made.items())


def contrast_tasks(pool: Pool, vocabulary: Vocabulary, engine: Engine = SERIAL) -> Iterator[Packet]:
    """The packet of each task, one at a time, ordered by task key."""
    for rows in engine.map(contrast_shard, pool.shards(), ContrastPlan(vocabulary)):
        yield from (row.decode(vocabulary) for row in rows)


def contrast_all(
    pool: Pool,
    vocabulary: Vocabulary,
    on_progress: Progress = no_progress,
    engine: Engine = SERIAL,
    work: Work = NO_WORK,
    study: Callable[[Packet], object] | None = None,
) -> list[Packet]:
    """The packets of all tasks in one list. Memory grows with the number of tasks."""
    with contrast_selected(pool, pool.tasks(), vocabulary, engine, on_progress, work, study) as packets:
        return list(packets)
