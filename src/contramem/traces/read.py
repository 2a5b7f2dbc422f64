"""Read runs of any supported format: find files, know their format, read each, and lose nothing silently."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from contramem.errors import TraceError, UsageError, nearest
from contramem.traces.files import MAX_ARCHIVE_DEPTH, TraceFile, download, is_archive, unpack, url_of
from contramem.traces.map import apply_locations
from contramem.traces.outcomes import OutcomeRows, VerdictsBeside, judge_by_rule
from contramem.traces.reader import Problem, Reader, ReadOptions
from contramem.traces.readers import BUILT_IN
from contramem.traces.report import MAX_FOLDERS, OutcomeFrom, ReadingReport
from contramem.traces.sanitize import sanitize
from contramem.traces.trajectory import Event, Trajectory
from contramem.traces.unknown import ATTEMPT, OWN_LOGS, describe_unknown

MAX_EVENTS = 4_000
"""Of one run. Three quarters are kept from its beginning and one from its end."""
LINES_LOOKED_AT = 5
PATHS_LOOKED_AT = 5_000
"""Of so many files, evenly drawn, the names say how folders are used."""
MORE_TASKS = 3
"""So many times more tasks than sources are needed to tell one from the other by their numbers."""
LOOKED_INTO = (".json", ".jsonl", ".ndjson")
"""Files that no reader knows may still hold messages or steps; others are pictures, reports, code."""


@cache
def readers() -> dict[str, Reader]:
    """All readers by name: ours, and those that other packages register under the entry point `contramem.readers`."""
    by_name: dict[str, Reader] = {reader.name: reader for reader in BUILT_IN}
    for entry in entry_points(group="contramem.readers"):
        reader = entry.load()()
        if reader.name in by_name:
            raise UsageError(f"{entry.value} registers a reader {reader.name!r}, but that name is taken.")
        by_name[reader.name] = reader
    return by_name


def claiming_readers(file: TraceFile) -> list[Reader]:
    """The readers that know this file; general ones only where no other does."""
    claiming = [reader for reader in readers().values() if reader.claims(file)]
    return [reader for reader in claiming if not getattr(reader, "is_general", False)] or claiming


class FoundFile(NamedTuple):
    """A file, an archive or the URL of a folder that is to be read."""

    path: str
    """As text: a path object for each of a million files would fill the memory."""
    root: str | None = None
    """The folder that was named, if the file was found in one."""
    folder: str = ""
    """The folder above it that may say of which source its runs are, told from the names of all files."""


class TraceReading(ReadingReport):
    """Iterate over it to read; afterwards it knows what was left out and why."""

    def __init__(
        self, paths: Iterable[Path], options: ReadOptions, on_file: Callable[[int, int], None] | None = None
    ) -> None:
        super().__init__()
        self._paths = list(paths)
        self.options = options
        self._on_file = on_file or (lambda done, found: None)
        self.verdicts = VerdictsBeside()
        self.is_lasting = True
        """Would the same files, unchanged, give the same runs again? Not if a reader looked at what lies around them,
        or is somebody else's, who may look at anything."""
        self.is_counting = True
        """Are runs counted as they are read? Not where another counts those of several places once."""
        self._done = self._files = 0

    def __iter__(self) -> Iterator[Trajectory]:
        for file in self.find_files():
            yield from self.read(file)
        self.report_unused_outcomes()

    def find_files(self) -> Iterator[FoundFile]:
        """All there is to read, in the order in which it is read."""
        for path in self._paths:
            if url_of(path) is None and not path.exists():
                raise UsageError(f"{path}: there is no such file or folder.")
        self._files += len(self._paths)
        for path in self._paths:
            if url_of(path) is None and path.is_dir():
                inside = self._files_in(path)
                self._files += len(inside) - 1
                folders = folders_of_sources([_parts_below(path, member) for member in inside])
                yield from (
                    FoundFile(member, str(path), folder) for member, folder in zip(inside, folders, strict=True)
                )
            else:
                yield FoundFile(str(path))

    def read_again(
        self, format: str | None = None, fields: Mapping[str, str] | None = None, outcomes: OutcomeRows | None = None
    ) -> TraceReading:
        """Another reading of the same files, with these options where none were given."""
        options = replace(
            self.options,
            format=format or self.options.format,
            fields={**(fields or {}), **self.options.fields},
            outcomes=outcomes or self.options.outcomes,
        )
        return TraceReading(self._paths, options)

    def read(self, found: FoundFile) -> Iterator[Trajectory]:
        """The runs of one file."""
        path = Path(found.path)
        if (url := url_of(path)) is not None:
            return self._in_storage(url)
        root = None if found.root is None else Path(found.root)
        return self._file_or_archive(path, TraceFile(path, root=root, folder=found.folder), named=root is None)

    def report_unused_outcomes(self) -> None:
        """When all runs are read: rows of the user's that no run has asked for."""
        if self.options.outcomes is not None:
            for problem in self.options.outcomes.unused():
                self.report(Problem(*problem))

    def count_done(self, files: int) -> None:
        """Tell that more files have been read."""
        self._done += files
        self._on_file(self._done, self._files)

    def _in_storage(self, url: str) -> Iterator[Trajectory]:
        with download(url) as root:
            members = self._files_in(root)
            self._files += len(members) - 1
            folders = folders_of_sources([_parts_below(root, member) for member in members])
            for member, folder in zip(map(Path, members), folders, strict=True):
                name = member.relative_to(root).as_posix()
                origin = url if url.endswith(f"/{name}") else f"{url.rstrip('/')}/{name}"
                yield from self._file_or_archive(member, TraceFile(member, origin, root, folder), named=False)

    def _files_in(self, folder: Path) -> list[str]:
        """Sorted, without what is hidden and without the user's table of outcomes."""
        files: list[str] = []
        folders = [str(folder)]
        while folders:
            here = folders.pop()
            try:
                with os.scandir(here) as entries:
                    for entry in entries:
                        # A link could lead anywhere, so none is followed; named paths are the user's.
                        if entry.name.startswith(".") or entry.is_symlink():
                            continue
                        if entry.is_dir():
                            folders.append(entry.path)
                        elif entry.is_file():
                            files.append(entry.path)
            except OSError as error:
                self.report(Problem(here, f"cannot be listed ({error.strerror})", "Is it readable by you?"))
        if self.options.outcomes is not None:
            table = Path(self.options.outcomes.path)
            files = [file for file in files if not (file.endswith(table.name) and table.samefile(file))]
        return sorted(files)

    def _file_or_archive(self, path: Path, file: TraceFile, named: bool, depth: int = 0) -> Iterator[Trajectory]:
        try:
            if is_archive(path):
                yield from self._in_archive(path, file.origin, depth + 1)
            else:
                yield from self._in_file(file, named)
        except TraceError as error:
            self.report(Problem(file.origin, error.what, error.hint))
        finally:
            self.is_lasting &= not file.looked_beside
            self.count_done(1)

    def _in_archive(self, path: Path, name: str, depth: int) -> Iterator[Trajectory]:
        if depth > MAX_ARCHIVE_DEPTH:
            raise TraceError(
                f"is nested in {MAX_ARCHIVE_DEPTH} other archives", "Unpack it yourself and pass the folder."
            )
        with unpack(path) as (root, refused):
            for what in refused:
                self.report(Problem(name, what))
            members = self._files_in(root)
            self._files += len(members)
            folders = folders_of_sources([_parts_below(root, member) for member in members])
            for member, folder in zip(map(Path, members), folders, strict=True):
                file = TraceFile(member, f"{name}!{member.relative_to(root).as_posix()}", root, folder)
                yield from self._file_or_archive(member, file, named=False, depth=depth)

    def _in_file(self, file: TraceFile, named: bool) -> Iterator[Trajectory]:
        reader = self._reader(file)
        if reader is None:
            if problem := _describe_damage(file):
                raise problem
            if not named:
                self._put_aside(file)
                return
            if not file.path.stat().st_size:
                raise TraceError("is empty")
            raise _unknown_format(file)
        self.formats[reader.name] += 1
        self.is_lasting &= reader in BUILT_IN
        # Names are settled in each file anew: what a file says does not depend on those that were read before it.
        before: Trajectory | None = None
        for item in reader.read(file, replace(self.options, _namings={}, found=self.fields)):
            if isinstance(item, Trajectory):
                try:
                    run = self._complete(item, file)
                except TraceError as error:
                    self.report(Problem(str(item.origin), error.what, error.hint))
                    continue
                self.tally.count_in_file(run, before)
                if self.is_counting:
                    self.tally.count(run)
                before = run
                yield run
            elif isinstance(item, Problem):
                self.report(item)
            else:
                self.skipped[item.reason] += 1

    def _put_aside(self, file: TraceFile) -> None:
        """Count a file that no reader knows, and whether there is something in it that may be a run."""
        self.ignore(file.origin)
        if file.ending in LOOKED_INTO and (options := describe_unknown(file).options):
            self.aside[options] += 1

    def _reader(self, file: TraceFile) -> Reader | None:
        if self.options.format is not None:
            return _reader_named(self.options.format)
        claiming = claiming_readers(file)
        if len(claiming) > 1:
            names = " and ".join(reader.name for reader in claiming)
            raise TraceError(f"could be {names}", "Choose one with --format.")
        return claiming[0] if claiming else None

    def _complete(self, trajectory: Trajectory, file: TraceFile) -> Trajectory:
        """The run with what stands elsewhere: in the file's path, in files beside it, and in what the user says."""
        said_by: OutcomeFrom = "--map" if "outcome" in self.options.fields else "the run"
        is_known = trajectory.outcome.passed is not None
        trajectory = self.verdicts.apply(trajectory, file)
        if not is_known and trajectory.outcome.passed is not None:
            said_by = "a file beside the run"
        if self.options.located_fields:
            trajectory = apply_locations(trajectory, file, self.options.located_fields)
        if self.options.outcomes is not None:
            before, trajectory = trajectory, self.options.outcomes.apply(trajectory)
            said_by = said_by if trajectory.outcome == before.outcome else "--outcomes"
        if self.options.rule is not None:
            before, trajectory = trajectory, judge_by_rule(trajectory, self.options.rule)
            said_by = said_by if trajectory is before else "--rule"
        if trajectory.outcome.passed is not None:
            self.tally.outcome_from[said_by] += 1
        trajectory = self._tell_source(trajectory, file.folder)
        ability = self.options.ability or trajectory.ability or "general"
        if ability != trajectory.ability:
            trajectory = msgspec.structs.replace(trajectory, ability=ability)
        return sanitize(self._shorten(trajectory))

    def _tell_source(self, trajectory: Trajectory, folder: str) -> Trajectory:
        """The run of the source that the user calls it, or that its folder is named after where it names none."""
        if name := self.options.source_names.get(trajectory.source):
            return msgspec.structs.replace(trajectory, source=name)
        if not folder:
            return trajectory
        self.tally.folders[folder] += 1
        if trajectory.source != "unknown" or "source" in self.options.fields:
            return trajectory
        self.tally.sources_by_folder += 1
        return msgspec.structs.replace(trajectory, source=folder)

    def _shorten(self, trajectory: Trajectory) -> Trajectory:
        short = shorten(trajectory)
        if short is not trajectory:
            what = f"has {len(trajectory.events):,} events, of which {MAX_EVENTS:,} are read: its beginning and its end"
            self.report(Problem(str(trajectory.origin), what))
        return short


def shorten(trajectory: Trajectory, max_events: int = MAX_EVENTS) -> Trajectory:
    """The beginning and the end of a run that has more events, with a note of how many are missing between them."""
    left_out = len(trajectory.events) - max_events
    if left_out <= 0:
        return trajectory
    first = max_events * 3 // 4
    gap = trajectory.events[first]
    note = Event(gap.position, "environment", "notification", f"{left_out} events of this run were left out here.")
    events = (*trajectory.events[:first], note, *trajectory.events[first + left_out + 1 :])
    return msgspec.structs.replace(trajectory, events=events)


def folders_of_sources(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """For each path the folder that names its source, or nothing.

    Folders name sources if there are few of them and the same names stand below several: `a/t1/run.json`,
    `b/t1/run.json`, `a/t2/run.json` are runs of `a` and `b`. What only counts attempts (`run1`, `trial-2`) names none,
    and of two levels that cross, only one with far fewer names does."""
    level = _level_of_sources(paths[:: len(paths) // PATHS_LOOKED_AT + 1])
    return ["" if level is None or len(path) <= level + 1 else path[level] for path in paths]


def _parts_below(folder: Path, file: str) -> tuple[str, ...]:
    return tuple(file[len(str(folder)) :].strip(os.sep).split(os.sep))  # noqa: PTH206  (a path costs more)


def _level_of_sources(paths: Sequence[tuple[str, ...]]) -> int | None:
    folders = [path[:-1] for path in paths if len(path) > 1]
    depth = min(map(len, folders), default=0)
    names = [{folder[level] for folder in folders} for level in range(depth)]
    usable = [level for level in range(depth) if not all(map(ATTEMPT.fullmatch, names[level]))]
    for level in usable:
        is_few = 1 < len(names[level]) <= MAX_FOLDERS and all(any(map(str.isalpha, name)) for name in names[level])
        tasks = [other for other in usable if len(names[other]) >= MORE_TASKS * len(names[level])] if is_few else []
        if any(_crosses(folders, level, other) for other in tasks):
            return level
    return None


def _crosses(folders: Sequence[tuple[str, ...]], level: int, other: int) -> bool:
    """Do most names at one level stand under several at the other?"""
    under: dict[str, set[str]] = defaultdict(set)
    for folder in folders:
        under[folder[other]].add(folder[level])
    return sum(len(names) > 1 for names in under.values()) > len(under) / 2


def _describe_damage(file: TraceFile) -> TraceError | None:
    """Why a file that should hold JSON lines holds none. None: it holds some, or nothing, or should not."""
    if file.ending not in (".jsonl", ".ndjson"):
        return None
    first = [value for _, value in islice(file.lines(), LINES_LOOKED_AT)]
    if not first or not all(isinstance(value, TraceError) for value in first):
        return None
    error = first[0]
    assert isinstance(error, TraceError)
    return TraceError(f"has no readable line; the first {error.what}", error.hint)


def _unknown_format(file: TraceFile) -> TraceError:
    unknown = describe_unknown(file)
    hint = unknown.hint or f"`--format` chooses a reader (docs/formats.md lists them). {OWN_LOGS}."
    if unknown.options:
        hint = f"Try {' '.join(unknown.options)}."
    return TraceError(f"is not in a format that contramem reads: it looks like {unknown.looks}", hint)


def _reader_named(name: str) -> Reader:
    try:
        return readers()[name]
    except KeyError:
        names = list(readers())
        raise UsageError(
            f"there is no reader {name!r}{nearest(name, names)} --format takes one of: {', '.join(names)}."
        ) from None


def read_traces(
    paths: Iterable[Path | str],
    options: ReadOptions | None = None,
    on_file: Callable[[int, int], None] | None = None,
) -> TraceReading:
    """The runs under `paths` (files, folders, archives), one at a time. `on_file` is told (files done, files found)."""
    options = options or ReadOptions()
    if options.format is not None:
        _reader_named(options.format)
    return TraceReading([Path(path) for path in paths], options, on_file)
