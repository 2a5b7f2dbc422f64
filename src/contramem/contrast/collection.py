"""A whole collection: its vocabulary and its packets, shard by shard, wherever the engine runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contramem.contrast.packet import Packet
from contramem.contrast.packet_file import PacketFile, contrast_shard, learn_shard
from contramem.contrast.vocabulary import Vocabulary
from contramem.engine import SERIAL, Engine
from contramem.progress import Progress, no_progress
from contramem.traces.pool import Pool, PoolShard


def learn_vocabulary(pool: Pool, engine: Engine = SERIAL, on_progress: Progress = no_progress) -> Vocabulary:
    """Learn which values are words of the interface, from all runs."""
    shards = _shards(pool, pool.tasks(), "vocabulary", on_progress)
    return Vocabulary.combine(engine.map(learn_shard, shards, None))


def _shards(pool: Pool, task_keys: Sequence[str], stage: str, on_progress: Progress) -> Iterator[PoolShard]:
    done = 0
    for shard in pool.shards(task_keys):
        yield shard
        done += len(shard.tasks)
        on_progress(stage, done, len(task_keys))


def contrast_selected(
    pool: Pool,
    task_keys: Sequence[str],
    vocabulary: Vocabulary,
    engine: Engine = SERIAL,
    on_progress: Progress = no_progress,
) -> PacketFile:
    """Put the runs of each of these tasks side by side: values as placeholders, with the signals that separate runs."""
    shards = _shards(pool, task_keys, "contrasting", on_progress)
    rows = (row for rows in engine.map(contrast_shard, shards, vocabulary) for row in rows)
    return PacketFile(rows, vocabulary)


def contrast_tasks(pool: Pool, vocabulary: Vocabulary, engine: Engine = SERIAL) -> Iterator[Packet]:
    """The packet of each task, one at a time, in the order of task keys."""
    for rows in engine.map(contrast_shard, pool.shards(), vocabulary):
        yield from (row.decode(vocabulary) for row in rows)


def contrast_all(
    pool: Pool, vocabulary: Vocabulary, on_progress: Progress = no_progress, engine: Engine = SERIAL
) -> list[Packet]:
    """The packets of all tasks, however many there are."""
    with contrast_selected(pool, pool.tasks(), vocabulary, engine, on_progress) as packets:
        return list(packets)
