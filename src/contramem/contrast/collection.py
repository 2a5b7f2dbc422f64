"""A whole collection: its vocabulary and its packets, shard by shard, wherever the engine runs."""

from __future__ import annotations

from collections.abc import Iterator

from contramem.contrast.packet import Packet
from contramem.contrast.selection import MAX_TASKS, Selection, contrast_shard, learn_shard
from contramem.contrast.vocabulary import Vocabulary
from contramem.engine import SERIAL, Engine
from contramem.progress import Progress, no_progress
from contramem.traces.pool import Pool, PoolShard


def learn_vocabulary(pool: Pool, engine: Engine = SERIAL, on_progress: Progress = no_progress) -> Vocabulary:
    """Learn which values are words of the interface, from all runs."""
    return Vocabulary.combine(engine.map(learn_shard, _shards(pool, "vocabulary", on_progress), None))


def _shards(pool: Pool, stage: str, on_progress: Progress) -> Iterator[PoolShard]:
    done, tasks = 0, len(pool.tasks())
    for shard in pool.shards():
        yield shard
        done += len(shard.tasks)
        on_progress(stage, done, tasks)


def select_packets(
    pool: Pool,
    vocabulary: Vocabulary,
    engine: Engine = SERIAL,
    on_progress: Progress = no_progress,
    max_tasks: int | None = MAX_TASKS,
) -> Selection:
    """Put the runs of each task side by side, with values as placeholders and the signals that separate them.

    Of an ability with more than `max_tasks` tasks those are kept that show all kinds of them.
    """
    selection = Selection(max_tasks)
    for rows in engine.map(contrast_shard, _shards(pool, "contrasting", on_progress), vocabulary):
        for row in rows:
            selection.add(row)
    return selection


def contrast_tasks(pool: Pool, vocabulary: Vocabulary, engine: Engine = SERIAL) -> Iterator[Packet]:
    """The packet of each task, one at a time, in the order of task keys."""
    for rows in engine.map(contrast_shard, pool.shards(), vocabulary):
        yield from (row.decode() for row in rows)


def contrast_all(
    pool: Pool, vocabulary: Vocabulary, on_progress: Progress = no_progress, engine: Engine = SERIAL
) -> list[Packet]:
    """The packets of all tasks, however many there are."""
    return select_packets(pool, vocabulary, engine, on_progress, max_tasks=None).packets()
