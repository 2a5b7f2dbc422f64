"""The vocabulary and the packets of a whole collection, computed shard by shard on an engine.

Results for unchanged runs come from `work`, so only new or changed tasks take time.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

from contramem.contrast.packet import Packet
from contramem.contrast.packet_file import ContrastPlan, PacketFile, PacketRow, contrast_shard, learn_shard
from contramem.contrast.vocabulary import Vocabulary
from contramem.engine import SERIAL, Engine
from contramem.kept_jobs import KeptJob, compute
from contramem.kept_work import NO_WORK, Work
from contramem.progress import Progress, no_progress
from contramem.traces.pool import Pool, PoolShard

_STAGE = "contrast"
_AT_ONCE = 100
"""How many cached packets are in memory at a time."""


def learn_vocabulary(
    pool: Pool, engine: Engine = SERIAL, on_progress: Progress = no_progress, work: Work = NO_WORK
) -> Vocabulary:
    """Learn from all runs which values are words of the interface."""
    total, done = len(pool.tasks()), 0

    def jobs() -> Iterator[KeptJob[PoolShard]]:
        nonlocal done
        for group in pool.groups(lasting=work is not NO_WORK):
            yield KeptJob(group.contents, partial(pool.read_tasks, group.keys))
            done += len(group.keys)
            on_progress("vocabulary", done, total)

    return Vocabulary.combine(compute(engine, work, learn_shard, jobs(), None))


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
