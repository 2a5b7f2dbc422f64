"""Session logs of coding agents: one session per file, one entry per line, the last line perhaps incomplete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.trajectory import Trajectory

ENVIRONMENT = "coding-session"
"""Of every coding agent: given the same task id, a Claude Code and a Codex session are attempts at one task."""

Entry = dict[str, Any]
Build = Callable[[list[Entry], TraceFile, ReadOptions], Trajectory | SkippedRun]


def read_session(file: TraceFile, options: ReadOptions, build: Build) -> Iterator[Trajectory | Problem | SkippedRun]:
    """The run of the whole file. A line that is not a JSON object is a Problem, and the others still make the run."""
    entries: list[Entry] = []
    for number, entry in file.lines():
        if isinstance(entry, dict):
            entries.append(entry)
        else:
            error = (
                entry if isinstance(entry, TraceError) else TraceError("is not a JSON object", "Is the line complete?")
            )
            yield Problem(f"{file.origin}:{number}", error.what, error.hint)
    if not entries:
        raise TraceError("has no readable line", "Is this a session log?")
    yield from each_run(file, [("", entries)], lambda entries, position: build(entries, file, options))


def opening(file: TraceFile, count: int = 40) -> Iterator[Entry]:
    """The first entries, from which a reader sees whether the file is in its format."""
    if not isinstance(file.head, dict) or not file.is_lines:
        return
    for number, entry in file.lines():
        if number > count:
            return
        if isinstance(entry, dict):
            yield entry
