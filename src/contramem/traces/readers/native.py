"""contramem's own traces: a header line, then one Trajectory per line. `write_traces` writes it.

    {"format": "contramem-trace", "version": 1}
    {"environment": "general", "task_id": "t1", "source": "m", "outcome": {"passed": true}, "events": [
      {"position": 1, "actor": "agent", "kind": "call", "function": "mail.send", "arguments": {"to": "Bob"}}]}

It is the interchange format, so a line is decoded straight into the types of `trajectory.py`: unknown fields are
ignored, a missing or wrong one is reported with its path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Naming, check_depth
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.trajectory import Event, Trajectory
from contramem.traces.write import FORMAT, VERSION

_decode = msgspec.json.Decoder(Trajectory).decode
_LONGEST_HEADER = 200
"""In bytes: no line of a run is as short, so runs are not decoded twice."""


class NativeReader:
    name = "contramem"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        return isinstance(head, dict) and head.get("format") == FORMAT

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        lines = file.raw_lines()
        first = next(lines, (1, b""))[1]
        _check_header(first if isinstance(first, bytes) else b"")
        rename = _renaming(options)

        def build(line: bytes, position: str) -> Trajectory:
            return _trajectory(line, rename)

        yield from each_run(file, (line for line in lines if not _is_header(line[1])), build)


def _is_header(line: object) -> bool:
    """Files put together with `cat` have a header before each part."""
    return isinstance(line, bytes) and len(line) < _LONGEST_HEADER and _decode_header(line).get("format") == FORMAT


def _decode_header(line: bytes) -> dict[str, Any]:
    try:
        header = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return {}
    return header if isinstance(header, dict) else {}


def _check_header(line: bytes) -> None:
    header = _decode_header(line)
    if header.get("format") != FORMAT:
        raise TraceError(
            "has no header line", f'The first line must be {{"format": "{FORMAT}", "version": {VERSION}}}.'
        )
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise TraceError(f"has a header whose version is {version!r}", f"The version is a number from 1 to {VERSION}.")
    if version > VERSION:
        raise TraceError(
            f"was written by a newer contramem (trace format {version}); this one reads up to {VERSION}",
            "Upgrade contramem.",
        )


def _trajectory(line: bytes, rename: Callable[[Event], Event] | None) -> Trajectory:
    try:
        trajectory = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TraceError(f"is not a trajectory ({error})", "docs/formats.md describes the fields.") from None
    bare = False
    for index, event in enumerate(trajectory.events):
        if event.position != index:
            raise TraceError(f"event {index} has position {event.position}", "Number the events 0, 1, 2, ...")
        if event.function and "." not in event.function:
            bare = True
        if event.result is not None and isinstance(event.result.content, (dict, list)):
            check_depth(event.result.content)
        for value in event.arguments.values():
            if isinstance(value, (dict, list)):
                check_depth(value)
    if rename is None and not bare:
        return trajectory
    rename = rename or _renamer(Naming())
    return msgspec.structs.replace(trajectory, events=tuple([rename(event) for event in trajectory.events]))


def _renaming(options: ReadOptions) -> Callable[[Event], Event] | None:
    """Names and effects stand in the file, unless the user gives others."""
    return _renamer(options.naming()) if options.app or options.effects else None


def _renamer(naming: Naming) -> Callable[[Event], Event]:
    def rename(event: Event) -> Event:
        if not event.function:
            return event
        function = naming.function(event.function)
        effect = naming.effect(function, None if event.effect == "unknown" else event.effect)
        given = event.effect_given or naming.is_given(function)
        return msgspec.structs.replace(event, function=function, effect=effect, effect_given=given)

    return rename
