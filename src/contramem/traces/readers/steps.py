"""Runs as lists of steps, each a call with what came back: what teams log themselves, as JSON, JSON lines or CSV.

The plain form is `{"task_id", "source", "passed", "task", "steps": [{"tool", "arguments", "result"}]}`. Other names are
recognised too, or named with `--map`, in steps as well as around them. A table with one call per row is read as well
(step_rows.py); a cell of a CSV table may hold JSON.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from contramem.errors import TraceError
from contramem.traces.decoding import decode
from contramem.traces.files import TraceFile
from contramem.traces.normalize import text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.conversation import call_entry, tool_message
from contramem.traces.readers.messages import is_message as is_chat_message
from contramem.traces.readers.records import ABSENT, STEP_FIELDS, read_records, records_at, records_in, value_at
from contramem.traces.readers.step_rows import join_rows, names_run
from contramem.traces.readers.written_calls import read_written_call
from contramem.traces.tables import find_separator
from contramem.traces.trajectory import Trajectory

TABLE_ENDINGS = (".csv", ".tsv")
STEP_KEYS = ("steps", "trajectory", "actions", "calls", "tool_log", "log", "events")
_NESTED = ("action", "tool_call", "call", "function", "tool")
_NAMES = ("tool", "tool_name", "function", "function_name", "action", "fn", "op", "operation", "name")
_ARGUMENTS = ("arguments", "args", "input", "tool_input", "action_input", "params", "parameters", "kwargs", "in")
_RESULTS = ("result", "observation", "output", "response", "tool_output", "returned", "return", "out")
_ERRORS = ("error", "exception")
_CALL_IDS = ("call_id", "tool_call_id", "tool_use_id")
_SAID = ("thought", "thoughts", "reasoning", "message", "text", "content", "msg", "utterance")
TASK_NAMES = ("task", "goal", "request", "question", "instruction", "prompt", "ask", "query", "objective")
"""What the text of a task is called."""
SPEAKERS = ("speaker", "from", "author", "sender", "role", "actor", "who")
WORDS = ("text", "content", "message", "value", "body", "msg", "utterance")
USERS = frozenset("user human customer client caller person".split())
_TOOLS = frozenset("tool function environment env api".split())
_FINAL = ("final", "final_answer", "answer", "response")


class StepCall(NamedTuple):
    """What a step did."""

    name: str
    arguments: Any
    """None where the step says nothing about them."""
    result: Any
    error: str


class StepsReader:
    name = "steps"

    def claims(self, file: TraceFile) -> bool:
        """Only the plain form: for other shapes, doctor suggests `--format steps`."""
        head = file.head
        record = head[0] if isinstance(head, list) and head else head
        steps = record.get("steps") if isinstance(record, dict) else None
        return isinstance(steps, list) and bool(steps) and all(_is_plain(step) for step in steps[:20])

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        paths = options.record_fields
        place = paths.get("records")
        if file.ending in TABLE_ENDINGS:
            records: Iterable[tuple[object, Any]] = table_records(file)
        else:
            records = records_in(file, _is_no_message) if place is None else records_at(file, place)
        around = {field: path for field, path in options.fields.items() if field not in (*STEP_FIELDS, "records")}
        return read_records(
            file,
            replace(options, fields=around),
            lambda record: _as_chat_record(record, paths),
            _is_no_message,
            join_rows(records, paths, lambda record: _is_row(record, paths)),
        )


def is_spoken(step: object) -> bool:
    """Is this step a chat message?"""
    return is_chat_message(step) and isinstance(step, dict) and ("content" in step or "tool_calls" in step)


def _is_plain(step: object) -> bool:
    return isinstance(step, dict) and isinstance(step.get("tool"), str) and "step_number" not in step


def _is_no_message(_: object) -> bool:
    return False


def _is_row(record: Any, paths: Mapping[str, str]) -> bool:
    """Is this one call or event of a run, not a run? A run has its steps in a list."""
    if not isinstance(record, dict) or _steps_place(record, paths):
        return False
    return (not is_spoken(record) and call_in(record, paths) is not None) or names_run(record, paths)


def _steps_place(record: Mapping[str, Any], paths: Mapping[str, str]) -> str:
    return paths.get("messages") or next((key for key in STEP_KEYS if isinstance(record.get(key), list)), "")


def table_records(file: TraceFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, row) of a CSV table, with the JSON in its cells decoded."""
    text = file.content.decode("utf-8-sig", "replace")
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=find_separator(text))
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
    place = _steps_place(record, paths) or "steps"
    steps = value_at(record, place)
    if steps is ABSENT or not isinstance(steps, list):
        keys = ", ".join(map(str, list(record)[:40]))
        raise TraceError(f"has no list of steps (keys: {keys})", "Say where it is with --map messages=PATH.")
    task = value_at(record, paths["task"]) if "task" in paths else _task_in(record)
    final = next((record[key] for key in _FINAL if record.get(key)), "")
    messages = [{"role": "user", "content": text_of(task)}] if task is not ABSENT and task else []
    steps = [_name_speaker(step) if isinstance(step, dict) else step for step in steps]
    messages += [message for step in join_results(steps, paths) for message in _messages(step, paths)]
    messages += [{"role": "assistant", "content": text_of(final)}] if final else []
    return {**record, "messages": messages, place: messages}


def _task_in(record: Mapping[str, Any]) -> Any:
    return next((record[name] for name in TASK_NAMES if record.get(name)), ABSENT)


def _name_speaker(step: dict[str, Any]) -> dict[str, Any]:
    """A step of a dialogue with names of its own: what the user says becomes a chat message, what a tool says a
    result."""
    speaker = next((step[key] for key in SPEAKERS if isinstance(step.get(key), str)), "").lower()
    text = next((step[key] for key in WORDS if isinstance(step.get(key), str)), None)
    if text is None or is_spoken(step):
        return step
    if speaker in USERS:
        return {"role": "user", "content": text}
    return {**step, "result": text} if speaker in _TOOLS and not _outcome_fields(step, {}) else step


def join_results(steps: list[Any], paths: Mapping[str, str]) -> list[Any]:
    """The steps, with results that stand in a step of their own put to the call that they answer: the one with its id,
    else the first of its tool that waits."""
    joined: list[Any] = []
    waiting: dict[str, list[int]] = {}
    for step in steps:
        call = call_in(step, paths) if isinstance(step, dict) and not is_spoken(step) else None
        name = _call_id(step) or (call.name if call else "")
        answers = _outcome_fields(step, paths) if isinstance(step, dict) else {}
        if answers and (call is None or call.arguments is None) and waiting.get(name):
            place = waiting[name].pop(0)
            joined[place] = {**step, **joined[place], **answers}
            continue
        if call is not None and not answers:
            waiting.setdefault(name, []).append(len(joined))
        joined.append(step)
    return joined


def _call_id(step: Any) -> str:
    found = (step.get(key) for key in _CALL_IDS) if isinstance(step, dict) else ()
    return next((str(value) for value in found if isinstance(value, (str, int))), "")


def _outcome_fields(step: Mapping[str, Any], paths: Mapping[str, str]) -> dict[str, Any]:
    """What a step says about what came back."""
    names = (paths["result"].partition(".")[0],) if "result" in paths else (*_RESULTS, *_ERRORS)
    return {name: step[name] for name in names if step.get(name) is not None}


def _messages(step: Any, paths: Mapping[str, str]) -> Iterable[dict[str, Any]]:
    if not isinstance(step, dict):
        raise TraceError(f"has a step that is a {type(step).__name__}", "A step is an object: tool, arguments, result.")
    if is_spoken(step):  # a line of a log that has chat messages among its events
        yield dict(step)
        return
    call, text = call_in(step, paths), next((step[key] for key in _SAID if isinstance(step.get(key), str)), "")
    calls = [call_entry(None, call.name, call.arguments or {})] if call else []
    if text or calls:
        yield {"role": "assistant", "content": text, "tool_calls": calls}
    if call and (call.error or call.result is not None):
        yield tool_message(None, call.error or call.result, error=bool(call.error) or None)


def call_in(step: Mapping[str, Any], paths: Mapping[str, str] | None = None) -> StepCall | None:
    """The call of a step, where `paths` says or under the usual names; None where nothing was called."""
    if paths and "tool" in paths:
        return _read_mapped_call(step, paths)
    inner: dict[str, Any] = next((step[key] for key in _NESTED if isinstance(step.get(key), dict)), {})
    fields = {**step, **inner}
    name = next((fields[key] for key in _NAMES if isinstance(fields.get(key), str) and fields[key]), None)
    is_call = any(key in fields for key in (*_ARGUMENTS, *_RESULTS, *_ERRORS))
    if name is None or not (is_call or read_written_call(name)):
        return None
    arguments, result = (next((fields[key] for key in keys if fields.get(key) is not None), None)
                         for keys in (_ARGUMENTS, _RESULTS))  # fmt: skip
    error = next((text_of(fields[key]) for key in _ERRORS if isinstance(fields.get(key), (str, dict))), "")
    return _make_call(name, arguments, result, error)


def _read_mapped_call(step: Mapping[str, Any], paths: Mapping[str, str]) -> StepCall | None:
    name, arguments, result = (value_at(step, paths[part]) if part in paths else ABSENT
                               for part in ("tool", "arguments", "result"))  # fmt: skip
    if not isinstance(name, str) or not name:
        return None
    return _make_call(name, None if arguments is ABSENT else arguments, None if result is ABSENT else result)


def _make_call(name: str, arguments: Any, result: Any, error: str = "") -> StepCall:
    """Where a step has no arguments, its action may be a call that is written out: `click('a51')`."""
    written = read_written_call(name) if arguments is None else None
    return (
        StepCall(written.name, written.arguments, result, error)
        if written
        else StepCall(name, arguments, result, error)
    )
