"""Runs as lists of steps, each a call with what came back: what teams log themselves, as JSON, JSON lines or CSV.

The plain form is `{"task_id", "source", "passed", "task", "steps": [{"tool", "arguments", "result"}]}`. Other names are
recognised too, or named with `--map`, in steps as well as around them. Tables with one call per row and event logs with
one event per line are read as well: the rows of each run are joined, in their order.

    {"run_id": "r1", "event": "start", "task_id": "t1", "model": "m"}
    {"run_id": "r2", "event": "tool_call", "tool": "find", "args": {"name": "Bob"}}
    {"run_id": "r2", "event": "tool_result", "tool": "find", "result": 7}
    {"run_id": "r1", "event": "end", "passed": true}

Runs may take turns. A result on a line of its own belongs to the first call of its tool that has none.
"""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, decode, find_separator, parse_python, plain_value
from contramem.traces.map import ABSENT, STEP_FIELDS, rows_at, value_at
from contramem.traces.normalize import text_of
from contramem.traces.reader import Reading, ReadOptions, first_of
from contramem.traces.readers.messages import call_entry, is_message, tool_message
from contramem.traces.readers.records import Records, read_records, records_in

TABLE_ENDINGS = (".csv", ".tsv")
STEP_KEYS = ("steps", "trajectory", "actions", "calls", "tool_log", "log", "events")
RUN_NAMES = ("run_id", "run", "session_id", "session", "conversation_id", "trace_id", "episode_id", "episode",
             "trajectory_id", "attempt_id")  # fmt: skip
TASK_NAMES = ("task", "goal", "request", "question", "instruction", "prompt", "ask", "query", "objective")
"""What the text of a task is called."""
SPEAKERS = ("speaker", "from", "author", "sender", "role", "actor", "who")
WORDS = ("text", "content", "message", "value", "body", "msg", "utterance")
USERS = frozenset("user human customer client caller person".split())
_TOOLS = frozenset("tool function environment env api".split())
_NESTED = ("action", "tool_call", "call", "function", "tool")
_NAMES = ("tool", "tool_name", "function", "function_name", "action", "fn", "op", "operation", "name")
_ARGUMENTS = ("arguments", "args", "input", "tool_input", "action_input", "params", "parameters", "kwargs", "in")
_RESULTS = ("result", "observation", "output", "response", "tool_output", "returned", "return", "out")
_ERRORS = ("error", "exception")
_CALL_IDS = ("call_id", "tool_call_id", "tool_use_id")
_SAID = ("thought", "thoughts", "reasoning", "message", "text", "content", "msg", "utterance")
_FINAL = ("final", "final_answer", "answer", "response")
_PAYLOADS = ("data", "payload", "body", "event", "details")


def has_plain_steps(file: TraceFile) -> bool:
    """Only the plain form: for other shapes, doctor suggests `--format steps`."""
    record = first_of(file.head)
    steps = record.get("steps") if isinstance(record, dict) else None
    return isinstance(steps, list) and bool(steps) and all(
        isinstance(step, dict) and isinstance(step.get("tool"), str) and "step_number" not in step
        for step in steps[:20]
    )  # fmt: skip


def read_steps(file: TraceFile, options: ReadOptions) -> Reading:
    paths = options.record_fields
    is_table = file.ending in TABLE_ENDINGS
    records: Records = table_records(file) if is_table else records_in(file, options, _is_no_message)
    around = {
        field: path for field, path in options.fields.items() if field not in (*STEP_FIELDS, "records", "messages")
    }
    return read_records(
        file,
        replace(options, fields=around),
        lambda record: _as_chat_record(record, paths),
        records=_join_rows(records, paths),
    )


def _is_no_message(_: object) -> bool:
    return False


def is_spoken(step: object) -> bool:
    """Is this step a chat message?"""
    return is_message(step) and isinstance(step, dict) and ("content" in step or "tool_calls" in step)


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


def _join_rows(records: Records, paths: Mapping[str, str]) -> Iterator[tuple[object, Any]]:
    """Joins the rows of each run into one record that has them as `steps`; other records stay as they are. A line that
    names a run and holds no steps is a row, whatever it says."""
    runs: dict[tuple[str, ...], tuple[object, list[dict[str, Any]]]] = {}
    for position, record in records:
        record = unpack_payload(record)
        if not _is_row(record, paths):
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


def _is_row(record: Any, paths: Mapping[str, str]) -> bool:
    """Is this one call or event of a run, not a run? A run has its steps in a list."""
    if not isinstance(record, dict) or _steps_place(record, paths):
        return False
    return (not is_spoken(record) and call_in(record, paths) is not None) or names_run(record, paths)


def unpack_payload(row: Any) -> Any:
    """A line that keeps what happened in an object, `{"session": ..., "data": {...}}`, with the fields of both."""
    if not isinstance(row, dict):
        return row
    inner: dict[str, Any] = next((row[key] for key in _PAYLOADS if isinstance(row.get(key), dict)), {})
    return {**inner, **{key: value for key, value in row.items() if value is not inner}} if inner else row


def names_run(row: Any, paths: Mapping[str, str]) -> bool:
    """Does this line say which run it belongs to?"""
    return isinstance(row, dict) and bool(_text(row, paths.get("run"), *RUN_NAMES))


def _run_key(row: Mapping[str, Any], paths: Mapping[str, str]) -> tuple[str, ...]:
    """What the rows of one run share: its name, else task, source and trial. Empty where a row says none of them."""
    if run := _text(row, paths.get("run"), *RUN_NAMES):
        return (run,)
    task = _text(row, paths.get("task_id"), "task_id", "task")
    source = _text(row, paths.get("source"), "model", "source")
    trial = _text(row, paths.get("trial"), "trial", "try", "attempt")
    return (trial or "0", task, source) if task or source else ()


def _text(row: Mapping[str, Any], path: str | None, *usual: str) -> str:
    value = value_at(row, path) if path else next((row[name] for name in usual if name in row), ABSENT)
    return "" if value is ABSENT or value is None else str(value)


def _as_chat_record(record: Any, paths: Mapping[str, str]) -> Any:
    if not isinstance(record, dict):
        return record
    place = _steps_place(record, paths) or "steps"
    steps = rows_at(record, place)
    if not isinstance(steps, list):
        keys = ", ".join(map(str, list(record)[:40]))
        raise TraceError(f"has no list of steps (keys: {keys})", "Say where it is with --map messages=PATH.")
    usual = next((record[name] for name in TASK_NAMES if record.get(name)), ABSENT)
    task = value_at(record, paths["task"]) if "task" in paths else usual
    final = next((record[key] for key in _FINAL if record.get(key)), "")
    messages = [{"role": "user", "content": text_of(task)}] if task is not ABSENT and task else []
    steps = [_name_speaker(step) if isinstance(step, dict) else step for step in steps]
    messages += [message for step in _join_results(steps, paths) for message in _messages(step, paths)]
    messages += [{"role": "assistant", "content": text_of(final)}] if final else []
    return {**record, "messages": messages}


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


def _join_results(steps: list[Any], paths: Mapping[str, str]) -> list[Any]:
    """The steps, with results that stand in a step of their own put to the call that they answer: the one with its id,
    else the first of its tool that waits."""
    joined: list[Any] = []
    waiting: dict[str, list[int]] = {}
    for step in steps:
        if not isinstance(step, dict):
            joined.append(step)
            continue
        call = None if is_spoken(step) else call_in(step, paths)
        ids = (str(step[key]) for key in _CALL_IDS if isinstance(step.get(key), (str, int)))
        name = next(ids, "") or (call.name if call else "")
        answers = _outcome_fields(step, paths)
        if answers and (call is None or call.arguments is None) and waiting.get(name):
            place = waiting[name].pop(0)
            joined[place] = {**step, **joined[place], **answers}
            continue
        if call is not None and not answers:
            waiting.setdefault(name, []).append(len(joined))
        joined.append(step)
    return joined


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


class StepCall(NamedTuple):
    """What a step did."""

    name: str
    arguments: Any
    """None where the step says nothing about them."""
    result: Any
    error: str = ""


def call_in(step: Mapping[str, Any], paths: Mapping[str, str] | None = None) -> StepCall | None:
    """The call of a step, where `paths` says or under the usual names; None where nothing was called.

    Where a step has no arguments, its action may be a call that is written out: `click('a51')`."""
    call = _mapped_call(step, paths) if paths and "tool" in paths else _usual_call(step)
    written = read_written_call(call.name) if call and call.arguments is None else None
    return call._replace(name=written.name, arguments=written.arguments) if call and written else call


def _usual_call(step: Mapping[str, Any]) -> StepCall | None:
    inner: dict[str, Any] = next((step[key] for key in _NESTED if isinstance(step.get(key), dict)), {})
    fields = {**step, **inner}
    name = next((fields[key] for key in _NAMES if isinstance(fields.get(key), str) and fields[key]), None)
    is_call = any(key in fields for key in (*_ARGUMENTS, *_RESULTS, *_ERRORS))
    if name is None or not (is_call or read_written_call(name)):
        return None
    arguments, result = (next((fields[key] for key in keys if fields.get(key) is not None), None)
                         for keys in (_ARGUMENTS, _RESULTS))  # fmt: skip
    error = next((text_of(fields[key]) for key in _ERRORS if isinstance(fields.get(key), (str, dict))), "")
    return StepCall(name, arguments, result, error)


def _mapped_call(step: Mapping[str, Any], paths: Mapping[str, str]) -> StepCall | None:
    found = (value_at(step, paths[part]) if part in paths else None for part in ("tool", "arguments", "result"))
    name, arguments, result = (None if value is ABSENT else value for value in found)
    return StepCall(name, arguments, result) if isinstance(name, str) and name else None


# Calls that an agent wrote as text: `click('a51')`, `type [164] [hello]`, `Search[Oslo]`. Agents for browsers and those
# in the manner of ReAct name what they do in one line. It is read off its text, never run.

_MAX_CHARS = 10_000
_IN_PARENTHESES = re.compile(r"[A-Za-z_][\w.]*\(.*\)", re.DOTALL)
_IN_BRACKETS = re.compile(r"([A-Za-z_]\w*)((?:\s*\[[^\[\]]*\])+)", re.DOTALL)
_BRACKET = re.compile(r"\[([^\[\]]*)\]")


class WrittenCall(NamedTuple):
    """A call that was written as text. Arguments without a name are called by their place."""

    name: str
    arguments: dict[str, Any]


def read_written_call(text: str) -> WrittenCall | None:
    """The call that `text` writes out; None for any other text, such as the bare name of a tool."""
    text = text.strip()
    if len(text) > _MAX_CHARS:
        return None
    if match := _IN_BRACKETS.fullmatch(text):
        return WrittenCall(match[1], _by_place(_BRACKET.findall(match[2])))
    if not _IN_PARENTHESES.fullmatch(text):
        return None
    try:
        call = parse_python(text, "eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
            return None
        named = {keyword.arg: _literal(keyword.value) for keyword in call.keywords if keyword.arg}
        return WrittenCall(ast.unparse(call.func), {**_by_place(map(_literal, call.args)), **named})
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _literal(node: ast.expr) -> Any:
    return plain_value(ast.literal_eval(node))


def _by_place(values: Iterable[Any]) -> dict[str, Any]:
    return {f"argument_{place}": value for place, value in enumerate(values, 1)}
