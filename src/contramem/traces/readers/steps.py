"""Runs as lists of steps, each a call with what came back: what teams log themselves, as JSON, JSON lines or CSV.

The plain form is `{"task_id", "source", "passed", "task", "steps": [{"tool", "arguments", "result"}]}`. Other names are
recognised too, in steps as well as around them with `--map`; a cell of a CSV table may hold JSON.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, decode
from contramem.traces.normalize import text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.conversation import call_entry, tool_message
from contramem.traces.readers.records import ABSENT, read_records, value_at
from contramem.traces.trajectory import Trajectory

STEP_KEYS = ("steps", "trajectory", "actions", "calls", "tool_log", "log", "events")
_NESTED = ("action", "tool_call", "call", "function", "tool")
_NAMES = ("tool", "tool_name", "function", "function_name", "action", "name")
_ARGUMENTS = ("arguments", "args", "input", "tool_input", "action_input", "params", "parameters", "kwargs")
_RESULTS = ("result", "observation", "output", "response", "tool_output", "returned", "return")
_ERRORS = ("error", "exception")
_SAID = ("thought", "thoughts", "reasoning", "message", "text", "content")
_FINAL = ("final", "final_answer", "answer", "response")


class StepCall(NamedTuple):
    """What a step did."""

    name: str
    arguments: Any
    result: Any
    error: str


class StepsReader:
    name = "steps"

    def claims(self, file: TraceFile) -> bool:
        """Only the plain form: other shapes are told to their owner, who says `--format steps`."""
        head = file.head
        record = head[0] if isinstance(head, list) and head else head
        steps = record.get("steps") if isinstance(record, dict) else None
        return isinstance(steps, list) and bool(steps) and all(_is_plain(step) for step in steps[:20])

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        paths = options.record_fields
        records = table_records(file) if file.ending == ".csv" else None
        return read_records(file, options, lambda record: _as_chat_record(record, paths), _is_no_message, records)


def _is_plain(step: object) -> bool:
    return isinstance(step, dict) and isinstance(step.get("tool"), str) and "step_number" not in step


def _is_no_message(_: object) -> bool:
    return False


def table_records(file: TraceFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, row) of a CSV table, with the JSON in its cells decoded."""
    rows = csv.DictReader(io.StringIO(file.content.decode("utf-8-sig", "replace"), newline=""))
    try:
        for row in rows:
            yield rows.line_num, {name: _cell(value) for name, value in row.items() if isinstance(name, str)}
    except csv.Error as error:
        raise TraceError(f"is not a CSV table ({error})", "Is the file complete?") from None


def _cell(value: object) -> object:
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return decode(value.encode())
        except TraceError:
            return value
    return value


def _as_chat_record(record: Any, paths: Mapping[str, str]) -> Any:
    if not isinstance(record, dict):
        return record
    place = paths.get("messages") or next((key for key in STEP_KEYS if isinstance(record.get(key), list)), "steps")
    steps = value_at(record, place)
    if steps is ABSENT or not isinstance(steps, list):
        keys = ", ".join(map(str, list(record)[:40]))
        raise TraceError(f"has no list of steps (keys: {keys})", "Say where it is with --map messages=PATH.")
    task, final = (
        value_at(record, paths.get("task", "task")),
        next((record[key] for key in _FINAL if record.get(key)), ""),
    )
    messages = [{"role": "user", "content": text_of(task)}] if task is not ABSENT and task else []
    messages += [message for step in steps for message in _messages(step)]
    messages += [{"role": "assistant", "content": text_of(final)}] if final else []
    return {**record, "messages": messages, place: messages}


def _messages(step: Any) -> Iterable[dict[str, Any]]:
    if not isinstance(step, dict):
        raise TraceError(f"has a step that is a {type(step).__name__}", "A step is an object: tool, arguments, result.")
    call, said = call_in(step), next((step[key] for key in _SAID if isinstance(step.get(key), str)), "")
    calls = [call_entry(None, call.name, call.arguments)] if call else []
    if said or calls:
        yield {"role": "assistant", "content": said, "tool_calls": calls}
    if call and (call.error or call.result is not None):
        yield tool_message(None, call.error or call.result, error=bool(call.error) or None)


def call_in(step: Mapping[str, Any]) -> StepCall | None:
    """The call of a step, whatever its parts are called; None where nothing was called."""
    inner: dict[str, Any] = next((step[key] for key in _NESTED if isinstance(step.get(key), dict)), {})
    fields = {**step, **inner}
    name = next((fields[key] for key in _NAMES if isinstance(fields.get(key), str) and fields[key]), None)
    if name is None or not any(key in fields for key in (*_ARGUMENTS, *_RESULTS, *_ERRORS)):
        return None
    arguments, result = (next((fields[key] for key in keys if fields.get(key) is not None), None)
                         for keys in (_ARGUMENTS, _RESULTS))  # fmt: skip
    error = next((text_of(fields[key]) for key in _ERRORS if isinstance(fields.get(key), (str, dict))), "")
    return StepCall(name, arguments or {}, result, error)
