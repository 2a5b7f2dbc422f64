"""Tables with one call a row: the rows of a run are put together, in the order in which they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.readers.records import ABSENT, value_at

RUN_NAMES = ("run_id", "run", "session_id", "session", "conversation_id", "trace_id", "episode_id", "episode",
             "trajectory_id", "attempt_id")  # fmt: skip
_TASK_NAMES = ("task_id", "task")
_SOURCE_NAMES = ("model", "source")
_TRIAL_NAMES = ("trial", "try", "attempt")


def join_rows(
    records: Iterable[tuple[object, Any]], paths: Mapping[str, str], is_row: Callable[[Any], bool]
) -> Iterator[tuple[object, Any]]:
    """Records as they are, but for rows: those of one run come as one record that has them as `steps`."""
    runs: dict[tuple[str, ...], tuple[object, list[dict[str, Any]]]] = {}
    for position, record in records:
        if not is_row(record):
            yield position, record
            continue
        if key := _run_key(record, paths):
            runs.setdefault(key, (position, []))[1].append(record)
        else:
            yield position, TraceError("says of no run that it belongs to", "Name the field with --map run=FIELD.")
            return
    for key, (position, rows) in runs.items():
        known = {name: value for row in rows for name, value in row.items() if value not in (None, "")}
        yield position, {"trial": key[0], **known, "steps": rows}


def _run_key(row: Mapping[str, Any], paths: Mapping[str, str]) -> tuple[str, ...]:
    """What the rows of one run share: its name, else task, source and trial. Empty where a row says none of them."""
    if run := _text(row, paths.get("run"), RUN_NAMES):
        return (run,)
    task, source, trial = (
        _text(row, paths.get(field), names)
        for field, names in (("task_id", _TASK_NAMES), ("source", _SOURCE_NAMES), ("trial", _TRIAL_NAMES))
    )
    return (trial or "0", task, source) if task or source else ()


def _text(row: Mapping[str, Any], path: str | None, usual: Iterable[str]) -> str:
    value = value_at(row, path) if path else next((row[name] for name in usual if name in row), ABSENT)
    return "" if value is ABSENT or value is None else str(value)
