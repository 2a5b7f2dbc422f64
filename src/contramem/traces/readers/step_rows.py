"""Tables with one call per row, and event logs with one event per line: those of each run are joined, in their order.

    {"run_id": "r1", "event": "start", "task_id": "t1", "model": "m"}
    {"run_id": "r2", "event": "tool_call", "tool": "find", "args": {"name": "Bob"}}
    {"run_id": "r2", "event": "tool_result", "tool": "find", "result": 7}
    {"run_id": "r1", "event": "end", "passed": true}

Runs may take turns. A result on a line of its own belongs to the first call of its tool that has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.readers.records import ABSENT, value_at

RUN_NAMES = ("run_id", "run", "session_id", "session", "conversation_id", "trace_id", "episode_id", "episode",
             "trajectory_id", "attempt_id")  # fmt: skip
_PAYLOADS = ("data", "payload", "body", "event", "details")
_TASK_NAMES = ("task_id", "task")
_SOURCE_NAMES = ("model", "source")
_TRIAL_NAMES = ("trial", "try", "attempt")


def join_rows(
    records: Iterable[tuple[object, Any]], paths: Mapping[str, str], is_row: Callable[[Any], bool]
) -> Iterator[tuple[object, Any]]:
    """Joins the rows of each run into one record that has them as `steps`; other records stay as they are. A line that
    names a run and holds no steps is a row, whatever it says."""
    runs: dict[tuple[str, ...], tuple[object, list[dict[str, Any]]]] = {}
    for position, record in records:
        record = unpack_payload(record)
        if not is_row(record):
            yield position, record
            continue
        if key := _run_key(record, paths):
            runs.setdefault(key, (position, []))[1].append(record)
        else:
            yield position, TraceError("says of no run that it belongs to", "Name the field with --map run=FIELD.")
            return
    for key, (position, rows) in runs.items():
        fields = {name: value for row in rows for name, value in row.items() if value not in (None, "")}
        yield position, {"trial": key[0], **fields, "steps": rows}


def unpack_payload(row: Any) -> Any:
    """A line that keeps what happened in an object, `{"session": ..., "data": {...}}`, with the fields of both."""
    if not isinstance(row, dict):
        return row
    inner: dict[str, Any] = next((row[key] for key in _PAYLOADS if isinstance(row.get(key), dict)), {})
    return {**inner, **{key: value for key, value in row.items() if value is not inner}} if inner else row


def names_run(row: Any, paths: Mapping[str, str]) -> bool:
    """Does this line say which run it belongs to?"""
    return isinstance(row, dict) and bool(_text(row, paths.get("run"), RUN_NAMES))


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
