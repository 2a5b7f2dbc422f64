"""Reads files into a collection: an engine's workers read and encode some files each, and what was read before isn't
read again.

A file is read by one worker. Archives, URLs and very large files are read in the process of the caller, run by run.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import NamedTuple
from zlib import crc32

from contramem.collection.cache import Job, digest_code, digest_parts
from contramem.collection.runs import Collection, EncodedRun
from contramem.engine import SERIAL, Engine
from contramem.traces.files import is_archive, url_of
from contramem.traces.read import FoundFile, TraceReading
from contramem.traces.reader import ReadOptions
from contramem.traces.report import ReadingReport
from contramem.traces.tools import ToolDescriptions
from contramem.traces.trajectory import Trajectory

MAX_SHARD_BYTES = 64 << 20
"""A larger file is read run by run, so that it does not lie in memory whole."""
OWN_SHARD_BYTES = 256 << 10
"""A file of this size is work enough."""
FILES_PER_SHARD = 64
"""Small files that are read together, on average."""
MAX_FILES = 512


class ReadOrder(NamedTuple):
    """What all workers are told."""

    options: ReadOptions
    sources: frozenset[str] | None
    """Runs of others are left out. None: of none."""


class FileShard(NamedTuple):
    """Files that are read together."""

    files: list[FoundFile]
    key: bytes = b""
    """A digest of how they are read and of what is in them; empty if they are read again each time."""


class ShardRuns(NamedTuple):
    """What is in some files."""

    files: int
    runs: list[EncodedRun] | None
    """None: they are in the collection since the files were first read."""
    tools: ToolDescriptions
    sources: frozenset[str]
    """Of all runs, those left out too."""
    report: ReadingReport
    verdicts: dict[str, int]
    outcomes: frozenset[str]
    """The rows of the user's outcomes that runs asked for."""
    is_lasting: bool
    """Would the same files, unchanged, give the same again?"""

    def without_runs(self) -> ShardRuns:
        return self._replace(runs=None)


class Collected(NamedTuple):
    """What is known about all that was read."""

    tools: ToolDescriptions
    sources: set[str]
    """Of all runs, those left out too."""


def collect(
    files: TraceReading, collection: Collection, engine: Engine = SERIAL, sources: frozenset[str] | None = None
) -> Collected:
    """Read all files, so that the collection holds their runs and no others; with `sources`, only runs of these."""
    collector = _Collector(files, collection, engine, ReadOrder(files.options, sources))
    before = collection.last_read
    for side_by_side, found in groupby(files.find_files(), _can_be_sent):
        if side_by_side:
            collector.read_side_by_side(found)
        else:
            collector.read_here(found)
    files.report_unused_outcomes()
    collection.keep_only(collector.keys, before)
    return collector.collected


class _Collector:
    def __init__(self, files: TraceReading, collection: Collection, engine: Engine, order: ReadOrder) -> None:
        self.collected = Collected(ToolDescriptions(), set())
        self.keys: list[bytes] = []
        self._files, self._collection, self._order = files, collection, order
        self._engine = engine if engine.shares_files else SERIAL

    def read_side_by_side(self, files: Iterable[FoundFile]) -> None:
        shards = deque[FileShard]()

        def jobs() -> Iterator[Job[FileShard]]:
            for shard in map(self._name, cut_shards(files)):
                if not self._collection.has_read(shard.key):
                    self._collection.cache.drop(read_shard.__name__, shard.key)
                shards.append(shard)
                yield Job(shard.key, partial(FileShard, shard.files))

        cache, order = self._collection.cache, self._order
        for found in cache.compute(self._engine, read_shard, jobs(), order, ShardRuns.without_runs):
            self._take(shards.popleft().key, found)

    def _take(self, key: bytes, found: ShardRuns) -> None:
        if found.runs is not None:
            self._collection.put(found.runs, key, lambda: found.is_lasting)
        self.keys.append(key)
        self.collected.tools.combine(found.tools)
        self.collected.sources.update(found.sources)
        self._files.add_report(found.report)
        for name, count in found.verdicts.items():
            self._files.verdicts.count(name, count)
        if self._order.options.outcomes is not None:
            self._order.options.outcomes.used |= found.outcomes
        self._files.count_done(found.files)

    def _name(self, shard: FileShard) -> FileShard:
        """The shard with its key. With rows of the user's outcomes, which no key covers, all is read again."""
        options, sources = self._order
        is_elsewhere = any(url_of(file.path) is not None for file in shard.files)
        if is_elsewhere or options.outcomes is not None or not self._collection.cache.lasting:
            return shard
        files = [(file, _digest(file)) for file in shard.files]
        wanted = sorted(sources) if sources is not None else None
        return shard._replace(key=digest_parts(digest_code(), options, wanted, files))

    def read_here(self, files: Iterable[FoundFile]) -> None:
        for shard in (self._name(FileShard([file])) for file in files):
            if not shard.key:
                runs = self._files.read(shard.files[0])
                wanted = _select(runs, self._order.sources, self.collected.sources, self.collected.tools)
                self._collection.put(map(EncodedRun.of, wanted))
            else:
                self._take(shard.key, self._load(shard.key) or self._stream(shard))

    def _load(self, key: bytes) -> ShardRuns | None:
        value = self._collection.cache.get(read_shard.__name__, key) if self._collection.has_read(key) else None
        return None if value is None else pickle.loads(value)

    def _stream(self, shard: FileShard) -> ShardRuns:
        """Read files run by run into the collection."""
        reading = _ShardReading(self._order, shard)
        self._collection.put(map(EncodedRun.of, reading.runs), shard.key, lambda: reading.files.is_lasting)
        found = reading.describe(shard, None)
        if found.is_lasting:
            self._collection.cache.put(read_shard.__name__, shard.key, pickle.dumps(found, pickle.HIGHEST_PROTOCOL))
        return found


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
    reading = _ShardReading(order, shard)
    return reading.describe(shard, list(map(EncodedRun.of, reading.runs)))


class _ShardReading:
    """Reads some files as if there were no others."""

    def __init__(self, order: ReadOrder, shard: FileShard) -> None:
        outcomes = order.options.outcomes
        self.files = TraceReading(
            (), replace(order.options, outcomes=outcomes.copy() if outcomes is not None else None)
        )
        self._tools, self._sources = ToolDescriptions(), set[str]()
        found = (run for file in shard.files for run in self.files.read(file))
        self.runs = _select(found, order.sources, self._sources, self._tools)

    def describe(self, shard: FileShard, runs: list[EncodedRun] | None) -> ShardRuns:
        """What was in the files; called when all runs are read."""
        report, outcomes = ReadingReport(), self.files.options.outcomes
        report.add_report(self.files)
        return ShardRuns(
            files=len(shard.files),
            runs=runs,
            tools=self._tools,
            sources=frozenset(self._sources),
            report=report,
            verdicts=self.files.verdicts.files,
            outcomes=frozenset(outcomes.used) if outcomes is not None else frozenset(),
            is_lasting=self.files.is_lasting,
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
    try:
        return os.stat(file.path).st_size  # noqa: PTH116  (a path object costs more than the call)
    except OSError:  # gone, or not readable: reading it says so
        return 0


def _digest(file: FoundFile) -> bytes:
    try:
        with open(file.path, "rb") as content:  # noqa: PTH123
            return hashlib.file_digest(content, "blake2b").digest()
    except OSError:
        return b""
