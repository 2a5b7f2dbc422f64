"""Reading files side by side: an engine's workers read and encode some files each, in the order of a single reader.

A file is read by one worker. Archives, URLs and very large files are read in the process of the caller, run by run.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import NamedTuple
from zlib import crc32

import numpy as np

from contramem.engine import SERIAL, Engine
from contramem.errors import UsageError
from contramem.kept_jobs import KeptJob, compute
from contramem.kept_work import NO_WORK, Work, digest_parts
from contramem.traces.files import is_archive
from contramem.traces.pool import RunBatch, encode_batches, encode_runs
from contramem.traces.read import FoundFile, TraceReading
from contramem.traces.reader import ReadOptions
from contramem.traces.reading_report import ReadingReport
from contramem.traces.remote import url_of
from contramem.traces.run_table import RunTable
from contramem.traces.tools import ToolDescriptions
from contramem.traces.trajectory import Trajectory

MAX_SHARD_BYTES = 64 << 20
"""A larger file is read run by run, so that it does not lie in memory whole."""
OWN_SHARD_BYTES = 256 << 10
"""A file of this size is work enough."""
FILES_PER_SHARD = 64
"""Small files that are read together, on average."""
MAX_FILES = 512
_ROWS = "rows"
"""The stage under which the rows of runs are kept."""


class ReadOrder(NamedTuple):
    """What all workers are told."""

    options: ReadOptions
    sources: frozenset[str] | None
    """Runs of others are left out. None: of none."""


class FileShard(NamedTuple):
    """Files that are read together."""

    files: list[FoundFile]
    key: bytes = b""
    """A digest of what the files are; empty if what is in them is not kept."""


class ShardRuns(NamedTuple):
    """What is in some files."""

    files: int
    table: RunTable
    rows: bytes | None
    """Of the runs. None: they were kept when the files were first read, and are loaded from there."""
    tools: ToolDescriptions
    sources: frozenset[str]
    """Of all runs, those left out too."""
    report: ReadingReport
    verdicts: dict[str, int]
    outcomes: frozenset[str]
    """The rows of the user's outcomes that runs asked for."""
    is_lasting: bool
    """Would the same files, unchanged, give the same again?"""

    def without_rows(self) -> ShardRuns:
        return self._replace(rows=None)


class RunReading:
    """Iterate over it to read; afterwards it knows all sources, what runs say about tools, and what was left out."""

    def __init__(
        self,
        reading: TraceReading,
        engine: Engine = SERIAL,
        sources: frozenset[str] | None = None,
        work: Work = NO_WORK,
    ) -> None:
        self.files = reading
        self.tools = ToolDescriptions()
        self.sources: set[str] = set()
        self._engine = engine if engine.shares_files else SERIAL
        self._work = work
        self._order = ReadOrder(reading.options, sources)

    def __iter__(self) -> Iterator[RunBatch]:
        for side_by_side, files in groupby(self.files.find_files(), _can_be_sent):
            read = self._read_shards if side_by_side else self._read_here
            yield from read(files)
        self.files.report_unused_outcomes()

    def _read_shards(self, files: Iterable[FoundFile]) -> Iterator[RunBatch]:
        shards = deque[FileShard]()

        def jobs() -> Iterator[KeptJob[FileShard]]:
            for shard in cut_shards(files):
                shard = shard._replace(key=self._digest(shard))
                shards.append(shard)
                yield KeptJob(shard.key, partial(FileShard, shard.files))

        for found in compute(self._engine, self._work, read_shard, jobs(), self._order, ShardRuns.without_rows):
            self.tools.combine(found.tools)
            self.sources |= found.sources
            self.files.add_report(found.report)
            for name, count in found.verdicts.items():
                self.files.verdicts.count(name, count)
            if self._order.options.outcomes is not None:
                self._order.options.outcomes.used |= found.outcomes
            self.files.count_done(found.files)
            yield RunBatch(found.table, self._keep_rows(shards.popleft(), found))

    def _keep_rows(self, shard: FileShard, found: ShardRuns) -> bytes | Callable[[], bytes]:
        """The rows, kept beside what else is in the files. If they were kept before: how to load them."""
        if found.rows is None:
            return partial(self._load_rows, shard, found.table)
        if shard.key and found.is_lasting:
            self._work.put(_ROWS, [(shard.key, found.rows)])
        return found.rows

    def _load_rows(self, shard: FileShard, table: RunTable) -> bytes:
        rows = self._work.get(_ROWS, [shard.key]).get(shard.key)
        if rows is not None:
            return rows
        again = read_shard(self._order, shard)  # somebody removed what was kept
        if again.rows is None or not np.array_equal(again.table.rows, table.rows):
            raise UsageError(f"{shard.files[0].path} changed while it was being read. Run the command again.")
        return again.rows

    def _digest(self, shard: FileShard) -> bytes:
        """Of what the files are, as far as that can be told without reading them. Rows of a user's outcomes are no part
        of it, so nothing is kept then."""
        options, sources = self._order
        if options.outcomes is not None or self._work is NO_WORK:
            return b""
        files = [(file, _stat(file)) for file in shard.files]
        return digest_parts(options, sorted(sources) if sources is not None else None, files)

    def _read_here(self, files: Iterable[FoundFile]) -> Iterator[RunBatch]:
        runs = (run for file in files for run in self.files.read(file))
        return encode_batches(_select(runs, self._order.sources, self.sources, self.tools))


def _select(
    runs: Iterable[Trajectory], wanted: frozenset[str] | None, sources: set[str], tools: ToolDescriptions
) -> Iterator[Trajectory]:
    for run in runs:
        sources.add(run.source)
        if wanted is None or run.source in wanted:
            tools.add(run)
            yield run


def read_shard(order: ReadOrder, shard: FileShard) -> ShardRuns:
    """The runs of some files: a job for an engine."""
    outcomes = order.options.outcomes
    options = replace(order.options, outcomes=outcomes.copy() if outcomes is not None else None)
    reading, tools, sources = TraceReading((), options), ToolDescriptions(), set[str]()
    found = (run for file in shard.files for run in reading.read(file))
    table, rows = encode_runs(_select(found, order.sources, sources, tools))
    used = frozenset(options.outcomes.used) if options.outcomes is not None else frozenset[str]()
    report = ReadingReport()
    report.add_report(reading)
    return ShardRuns(
        files=len(shard.files),
        table=table,
        rows=rows,
        tools=tools,
        sources=frozenset(sources),
        report=report,
        verdicts=reading.verdicts.files,
        outcomes=used,
        is_lasting=reading.is_lasting,
    )


def cut_shards(files: Iterable[FoundFile]) -> Iterator[FileShard]:
    """A large file alone, small ones together. Names decide where to cut, so that a file more moves no other cut."""
    shard: list[FoundFile] = []
    for file in files:
        is_large = _size(file) >= OWN_SHARD_BYTES
        if shard and is_large:
            yield FileShard(shard)
            shard = []
        shard.append(file)
        if is_large or crc32(file.path.encode("utf-8", "replace")) % FILES_PER_SHARD == 0 or len(shard) == MAX_FILES:
            yield FileShard(shard)
            shard = []
    if shard:
        yield FileShard(shard)


def _can_be_sent(file: FoundFile) -> bool:
    return url_of(file.path) is None and not is_archive(file.path) and _size(file) <= MAX_SHARD_BYTES


def _size(file: FoundFile) -> int:
    return _stat(file)[0]


def _stat(file: FoundFile) -> tuple[int, int]:
    """Its size, and when it was last written."""
    try:
        status = os.stat(file.path)  # noqa: PTH116  (a path object costs more than the call)
    except OSError:  # gone, or not readable: reading it says so
        return 0, 0
    return status.st_size, status.st_mtime_ns
