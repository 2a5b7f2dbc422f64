"""Recordings of guided runs (`Memory.load(bank, record=...)`): lines of many runs, in the order they were written.

{"recording": 1, "run": "c5f7", "time": 1.0, "what": "start", "task": "Mail Bob.", "task_id": "t1", "source": "m"}
{"recording": 1, "run": "c5f7", "time": 1.1, "what": "shown", "text": "...", "cards": ["..."]}
{"recording": 1, "run": "c5f7", "time": 1.2, "what": "event", "event": {"kind": "call", "function": "mail.send"}}
{"recording": 1, "run": "c5f7", "time": 1.3, "what": "finish", "passed": true}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.traces.decoding import number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import check_depth
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.records import label
from contramem.traces.trajectory import Event, Origin, Outcome, ShownMemory, Trajectory, digest

Line = dict[str, Any]
MAX_TOKENS = 1 << 53
"""A larger count is no count: files are written by anybody."""


class RecordingReader:
    name = "recording"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        return isinstance(head, dict) and type(head.get("recording")) is int and "run" in head and "what" in head

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        runs: dict[str, list[Line]] = {}
        for position, line in file.lines():
            if isinstance(line, dict) and isinstance(line.get("run"), str):
                runs.setdefault(line["run"], []).append(line)
            else:
                error = line if isinstance(line, TraceError) else TraceError("is not a line of a recording")
                yield Problem(f"{file.origin}:{position}", error.what, error.hint)

        def build(lines: list[Line], run_id: str) -> Trajectory | SkippedRun:
            return _trajectory(lines, run_id, file, options)

        yield from each_run(file, runs.items(), build)


def _trajectory(lines: list[Line], run_id: str, file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
    starts = [line for line in lines if line.get("what") == "start"]
    if not starts:
        return SkippedRun(f"{file.origin}:{run_id}", "recording whose beginning is missing")
    opening, naming = starts[0], options.naming()
    task = str(opening.get("task") or "")
    events, memories = [Event(0, "user", "message", text=task)], []
    for line in lines:
        if line.get("what") == "event":
            event = msgspec.convert({"position": len(events), **line["event"]}, Event)
            check_depth(event.arguments)
            if event.function:
                event = msgspec.structs.replace(event, function=naming.function(event.function))
            events.append(event)
        elif line.get("what") == "shown":
            cards = tuple(map(str, line.get("cards") or ()))
            tokens = line["tokens"] if type(line.get("tokens")) is int and 0 <= line["tokens"] < MAX_TOKENS else None
            memories.append(ShownMemory(len(events), str(line["text"]), str(line.get("function") or ""), cards, tokens))
    return Trajectory(
        environment="recorded",
        task_id=label(opening.get("task_id"), "task_id") or digest(task),
        source=label(opening.get("source"), "source") or "agent",
        origin=Origin(file.origin, run_id),
        events=tuple(events),
        outcome=_outcome(lines),
        run=run_id,
        task=task,
        ability=label(opening.get("ability"), "ability"),
        guidance=tuple(memories),
    )


def _outcome(lines: list[Line]) -> Outcome:
    """The last outcome that was reported."""
    ended = [line for line in lines if line.get("what") == "finish"]
    last = next((line for line in reversed(ended) if isinstance(line.get("passed"), bool)), {})
    reward = number(last.get("reward"))
    return Outcome(last.get("passed"), reward, str(last.get("feedback") or ""))
