"""The runs that a build learns from: which the user chose, read, selected and contrasted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from contramem.bank.locate import is_url
from contramem.bank.store import open_store
from contramem.build.author import Only
from contramem.cli.engine_options import EngineChoice
from contramem.cli.output import progress
from contramem.cli.reading import read_pool
from contramem.contrast.collection import contrast_selected, learn_vocabulary
from contramem.contrast.packet import Packet
from contramem.contrast.packet_file import PacketFile
from contramem.contrast.selection import MAX_TASKS, Selection
from contramem.contrast.vocabulary import Vocabulary
from contramem.progress import Progress
from contramem.traces.pool import Pool
from contramem.traces.reader import ReadOptions
from contramem.traces.trajectory import Tool, Trajectory


class Choice(NamedTuple):
    """Which runs to learn from, and which cards to build."""

    sources: str | None
    only: Only | None
    rollouts: int | None
    append_only: bool
    reassesses: bool
    max_tasks: int = MAX_TASKS
    min_sources: int = 1


class SelectedRuns(NamedTuple):
    """The packets a build learns from, with the vocabulary and tools it uses."""

    vocabulary: Vocabulary
    selection: Selection
    packets: PacketFile
    tools: dict[str, Tool]
    tell: Progress


@contextmanager
def select_runs(
    paths: tuple[Path, ...],
    options: ReadOptions,
    choice: Choice,
    engine_choice: EngineChoice,
    study: Callable[[Packet], object] | None = None,
) -> Iterator[SelectedRuns]:
    """Read the runs under `paths`, and contrast those that were chosen."""
    tools: dict[str, Tool] = {}
    with (
        engine_choice.open() as engine,
        engine_choice.open_work(paths) as work,
        read_pool(paths, options, choice.sources, tools, engine, work) as every,
        limit_rollouts(every, choice.rollouts) as pool,
        progress() as tell,
    ):
        selection = Selection(pool.sketches(), choice.max_tasks)
        vocabulary = learn_vocabulary(pool, engine, tell, work)
        with contrast_selected(pool, selection.keys, vocabulary, engine, tell, work, study) as packets:
            for done in (pool, every):
                done.close()  # from here on, only the packets are needed
            yield SelectedRuns(vocabulary, selection, packets, tools, tell)


def check_free(where: str) -> None:
    """Raise if another process is writing or the folder is missing, before time is spent on reading."""
    if is_url(where) or Path(where).exists() or not Path(where).parent.is_dir():
        with open_store(where, create=True) as store, store.writing("build"):
            pass


@contextmanager
def limit_rollouts(pool: Pool, rollouts: int | None) -> Iterator[Pool]:
    """A pool with the first `rollouts` runs of each task by each source, by trial number."""
    if rollouts is None:
        yield pool
        return
    with Pool(run for runs in pool for run in _first(runs, rollouts)) as fewer:
        yield fewer


def _first(runs: list[Trajectory], rollouts: int) -> Iterator[Trajectory]:
    counts = Counter[str]()
    for run in sorted(runs, key=lambda run: (run.source, len(run.run), run.run)):
        counts[run.source] += 1
        if counts[run.source] <= rollouts:
            yield run
