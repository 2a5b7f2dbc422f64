"""AppWorld's outputs: `experiments/outputs/EXPERIMENT/tasks/TASK/logs`, with the report of its evaluation beside them.

A run is claimed by its log of requests (`logs/api_calls.jsonl`); `logs/environment_io.md` has the cells and what they
printed. Passwords are redacted while they are read. Tried on what AppWorld 0.1.3 itself writes, with a task of ours.
"""

from __future__ import annotations

import ast
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, parse_python, read_literal
from contramem.traces.normalize import Recorder
from contramem.traces.reader import Reading, ReadOptions, each_run
from contramem.traces.trajectory import Origin, Outcome, Trajectory

_CELL = re.compile(
    r"^### Environment Interaction \d+\n[^\n]*\n```python\n(.*?)\n```\n\n```\n(.*?)\n```\n", re.DOTALL | re.MULTILINE
)
_FAILED_TESTS = re.compile(r"Num Failed Tests : (\d+)")
_REQUIREMENT = re.compile(r">> Failed Requirement\n(.+)")


def is_appworld(file: TraceFile) -> bool:
    is_requests = isinstance(file.head, dict) and {"method", "url"} <= file.head.keys()
    return file.name == "api_calls.jsonl" and file.path.parent.name == "logs" and is_requests


def read_appworld(file: TraceFile, options: ReadOptions) -> Reading:
    requests = [row for _, row in file.lines() if isinstance(row, dict)]
    return each_run(file, [("", requests)], lambda requests, _: _trajectory(requests, file, options))


def _trajectory(requests: list[dict[str, Any]], file: TraceFile, options: ReadOptions) -> Trajectory:
    folder, log = file.path.parent.parent, file.beside("environment_io.md")
    recorder = Recorder(options.naming("appworld"))
    if log is None:
        raise TraceError("has no environment_io.md beside it", "AppWorld writes both; is the folder complete?")
    left: deque[Mapping[str, Any]] = deque(requests)
    for code, output in _CELL.findall(log.path.read_text(encoding="utf-8", errors="replace")):
        record_cell(recorder, code, output, left)
    for request in left:  # calls that no cell accounts for were made all the same
        app, _, path = str(request.get("url", "")).strip("/").partition("/")
        recorder.call(f"{str(request['method']).lower()} {path}", _redact(request.get("data") or {}), app=app)
    return Trajectory(
        environment="appworld",
        task_id=folder.name,
        source=folder.parent.parent.name or "unknown",
        origin=Origin(file.origin),
        events=recorder.events(finalize=False),
        outcome=_outcome(file),
        scenario_id=folder.name.partition("_")[0],
    )


def _outcome(file: TraceFile) -> Outcome:
    """All of the task's tests have to pass. Unknown without a report: `appworld evaluate` writes it."""
    report = file.beside("../evaluation/report.md")
    text = report.path.read_text(encoding="utf-8", errors="replace") if report else ""
    failed = _FAILED_TESTS.search(text)
    if failed is None:
        return Outcome()
    passed = failed[1] == "0"
    return Outcome(passed, float(passed), "; ".join(_REQUIREMENT.findall(text)))


# A cell is code that runs elsewhere. Its calls are read off its text (`apis.gmail.login(...)`), never run. AppWorld's
# own log of requests, where it is there, has the arguments as they were sent; responses are in no log, so a result is
# what the cell printed, and belongs to the last call in it.

_FAILED = "Execution failed. Traceback:"
_DONE = "Execution successful."
REDACTED = "<SECRET>"
_MAX_LITERAL = 65_536
_SECRET = re.compile(r"password|passwd|secret|token|api_?key|verification_code|card_number|cvv", re.IGNORECASE)
_REPEATING = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.FunctionDef,
              ast.Lambda)  # fmt: skip


@dataclass(frozen=True)
class CellCall:
    """A call of `apis.APP.API(...)` in the code."""

    app: str
    api: str
    arguments: Mapping[str, Any]
    """Literal ones; of the others only the cell's text knows more."""
    keywords: frozenset[str]
    repeats: bool
    """It stands in a loop, a comprehension or a function, so it may run any number of times."""


def record_cell(recorder: Recorder, code: str, output: str, requests: deque[Mapping[str, Any]]) -> None:
    """Add the calls of a cell. `requests` is AppWorld's log, of which this takes what belongs to the cell."""
    made = [(call, data) for call in calls_in(code) for data in _arguments_of_each_time(call, requests)]
    failed = output.lstrip().startswith(_FAILED)
    lines = [line for line in output.strip().splitlines() if line.strip()]
    error = lines[-1].strip() if lines else "failed"
    for number, (call, data) in enumerate(made, 1):
        recorder.call(call.api, data, app=call.app)
        if number < len(made):
            recorder.result(None, error=False)
        elif failed:
            recorder.result(None, error=error)
        else:
            recorder.result(_value(output), error=False)
    if not made and (failed or output.strip() not in ("", _DONE)):
        recorder.message("environment", error if failed else output, kind="observation")


def calls_in(code: str) -> list[CellCall]:
    """The calls in the order in which they run, as far as the text shows it."""
    try:
        tree = parse_python(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return list(_calls(tree, repeats=False))


def _calls(node: ast.AST, repeats: bool) -> Iterator[CellCall]:
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, repeats or isinstance(node, _REPEATING))
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="apis"), attr=app), attr=api)):
            named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
            literals = {key: value for key, expression in named.items() if (value := _literal(expression)) is not ...}
            yield CellCall(app, api, _redact(literals), frozenset(named), repeats)


def _literal(expression: ast.expr) -> Any:
    """Its value, or ... if only running the code would tell."""
    try:
        return ast.literal_eval(expression)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ...


def _redact(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments without what is secret by its name. AppWorld's logs hold passwords in clear text."""
    return {key: REDACTED if _SECRET.search(key) else value for key, value in arguments.items()}


def _arguments_of_each_time(call: CellCall, requests: deque[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The arguments of each time that the call ran: those that were sent, or else those that the text shows."""
    if not requests:
        yield call.arguments
        return
    while requests and _belongs(call, requests[0]):
        data = _redact(requests.popleft().get("data") or {})
        yield {name: value for name, value in call.arguments.items() if name not in data} | data
        if not call.repeats:
            return


def _belongs(call: CellCall, request: Mapping[str, Any]) -> bool:
    app, *path = str(request.get("url", "")).strip("/").split("/")
    literals = {key: value for key, value in call.arguments.items() if value != REDACTED}
    data = request.get("data") or {}
    in_path = call.keywords - data.keys()  # as in /notes/99, where 99 is the note_id
    return (
        app == call.app
        and len(in_path) < max(1, len(path))
        and all(str(value) in path if key in in_path else data[key] == value for key, value in literals.items())
    )


def _value(output: str) -> Any:
    text = output.strip()
    if text in ("", _DONE):
        return None
    if len(text) > _MAX_LITERAL:
        return text
    for read in (json.loads, read_literal):
        try:
            return _redact_deep(read(text))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            pass
    return text


def _redact_deep(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _redact_deep(item) for key, item in _redact(value).items()}
    return [_redact_deep(item) for item in value] if isinstance(value, list | tuple) else value
