"""AppWorld's outputs: `experiments/outputs/EXPERIMENT/tasks/TASK/logs`, with the report of its evaluation beside them.

A run is claimed by its log of requests (`logs/api_calls.jsonl`); `logs/environment_io.md` has the cells and what they
printed. Passwords are redacted while they are read. Tried on what AppWorld 0.1.3 itself writes, with a task of ours.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.appworld_cells import record_cell, redact
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.trajectory import Origin, Outcome, Trajectory

_CELL = re.compile(
    r"^### Environment Interaction \d+\n[^\n]*\n```python\n(.*?)\n```\n\n```\n(.*?)\n```\n", re.DOTALL | re.MULTILINE
)
_FAILED = re.compile(r"Num Failed Tests : (\d+)")
_REQUIREMENT = re.compile(r">> Failed Requirement\n(.+)")


class AppWorldReader:
    name = "appworld"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        return (
            file.name == "api_calls.jsonl" and file.path.parent.name == "logs"
            and isinstance(head, dict) and {"method", "url"} <= head.keys()
        )  # fmt: skip

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        def build(requests: list[dict[str, Any]], position: str) -> Trajectory:
            return _trajectory(requests, file, options)

        return each_run(file, [("", [row for _, row in file.lines() if isinstance(row, dict)])], build)


def _trajectory(requests: list[dict[str, Any]], file: TraceFile, options: ReadOptions) -> Trajectory:
    folder = file.path.parent.parent
    recorder = Recorder(options.naming("appworld"))
    left: deque[Mapping[str, Any]] = deque(requests)
    for code, output in _cells(file):
        record_cell(recorder, code, output, left)
    for request in left:  # calls that no cell accounts for were made all the same
        app, _, path = str(request.get("url", "")).strip("/").partition("/")
        recorder.call(f"{str(request['method']).lower()} {path}", redact(request.get("data") or {}), app=app)
    return Trajectory(
        environment="appworld",
        task_id=folder.name,
        source=folder.parent.parent.name or "unknown",
        origin=Origin(file.origin),
        events=recorder.events(finalize=False),
        outcome=_outcome(file),
        scenario_id=folder.name.partition("_")[0],
    )


def _cells(file: TraceFile) -> list[tuple[str, str]]:
    log = file.beside("environment_io.md")
    if log is None:
        raise TraceError("has no environment_io.md beside it", "AppWorld writes both; is the folder complete?")
    return _CELL.findall(log.path.read_text(encoding="utf-8", errors="replace"))


def _outcome(file: TraceFile) -> Outcome:
    """All of the task's tests have to pass. Unknown without a report: `appworld evaluate` writes it."""
    report = file.beside("../evaluation/report.md")
    text = report.path.read_text(encoding="utf-8", errors="replace") if report else ""
    failed = _FAILED.search(text)
    if failed is None:
        return Outcome()
    passed = failed[1] == "0"
    return Outcome(passed, float(passed), "; ".join(_REQUIREMENT.findall(text)))
