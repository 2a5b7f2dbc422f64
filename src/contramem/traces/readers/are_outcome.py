"""What ARE says about a run: the verdict in the trace, the judge's rationale, and the rows of `output.jsonl`.

ARE writes "Invalid" both for a run that its judge refused and for a run that nobody judged (`success=None`). Only a
rationale, a person's annotation or a score in `output.jsonl` tells that it was a failure; without one it is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from contramem.errors import TraceError
from contramem.traces.decoding import number
from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, SkippedRun, each_run
from contramem.traces.trajectory import Ending, Event, Outcome, Trajectory


def outcome_of(
    file: TraceFile,
    events: tuple[Event, ...],
    definition: dict[str, Any],
    annotation: dict[str, Any],
    lite: dict[str, Any] | None,
) -> Outcome:
    """The verdict of the run, from the trace and the files beside it."""
    row = _row(file, definition)
    rationale = _text((lite or {}).get("validation_rationale")) or _text(row.get("rationale"))
    feedback = rationale or _text(annotation.get("comment")) or _text(definition.get("exception_message"))
    raised = bool(definition.get("has_exception") or row.get("has_exception"))
    if "score" in row:
        reward = number(row["score"])
        passed = None if reward is None else reward >= 1
    else:
        decision = annotation.get("validation_decision") or (lite or {}).get("validation_decision")
        judged = bool(rationale or annotation.get("annotator")) and not raised
        passed = {"Valid": True, "Invalid": False if judged else None}.get(str(decision))
        reward = None
    return Outcome(passed, reward, feedback, _ending(events, raised, passed))


def _ending(events: tuple[Event, ...], raised: bool, passed: bool | None) -> Ending:
    if raised:
        return "interrupted"
    finished = passed or any(event.kind == "final" for event in events)
    # An ARE agent stops by writing to the user. One that never does ran out of turns or of time.
    return "complete" if finished else "limit"


def _text(value: object) -> str:
    return value if isinstance(value, str) and value != "None" else ""


def _row(file: TraceFile, definition: dict[str, Any]) -> dict[str, Any]:
    """The run's metadata and score in `output.jsonl`, beside the trace or beside its folder."""
    for place in ("output.jsonl", "../output.jsonl"):
        if (scores := file.beside(place)) is not None:
            stat = scores.path.stat()
            rows = _rows(scores.path, stat.st_mtime_ns, stat.st_size)
            run = (str(definition.get("scenario_id")), definition.get("run_number"))
            return rows.get(file.path.name) or rows.get(run) or {}
    return {}


@lru_cache(maxsize=4)
def _rows(path: Path, modified: int, size: int) -> dict[object, dict[str, Any]]:
    """Rows by the name of their trace, and by (scenario, run) for traces that were moved or renamed."""
    rows: dict[object, dict[str, Any]] = {}
    try:
        for _, row in TraceFile(path).lines():
            if isinstance(row, dict) and "score" in row:
                metadata = row.get("metadata") if isinstance(row.get("metadata"), dict) else {}
                verdict = {**(metadata or {}), "score": row["score"]}
                rows[(str(row.get("task_id")), verdict.get("run_number"))] = verdict
                if isinstance(row.get("trace_id"), str):
                    rows[Path(row["trace_id"]).name] = verdict
    except TraceError:
        pass  # it is reported where the file itself is read
    return rows


def outcomes_without_a_trace(file: TraceFile) -> Iterator[Trajectory | Problem | SkippedRun]:
    """Counts the rows of `output.jsonl` whose run left no trace: a row is not a run."""

    def build(row: dict[str, Any], position: str) -> SkippedRun | None:
        return None if row["trace_id"] else SkippedRun(f"{file.origin}:{position}", "no trace was exported")

    return each_run(file, file.lines(), build)
