"""API calls in a Python cell of AppWorld: which were made, with which arguments, and what they returned.

A cell is code that runs elsewhere. Its calls are read off its text (`apis.gmail.login(...)`), never run. AppWorld's own
log of requests, where it is there, has the arguments as they were sent; responses are in no log, so a result is what
the cell printed, and belongs to the last call in it.
"""

from __future__ import annotations

import ast
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contramem.traces.normalize import Recorder

FAILED = "Execution failed. Traceback:"
DONE = "Execution successful."
REDACTED = "<SECRET>"
MAX_LITERAL = 65_536
_SECRET = re.compile(r"password|passwd|secret|token|api_?key|verification_code|card_number|cvv", re.IGNORECASE)


@dataclass(frozen=True)
class CellCall:
    """A call of an API in the code."""

    app: str
    api: str
    arguments: Mapping[str, Any]
    """Literal ones; of the others only the cell's text knows more."""
    keywords: frozenset[str]
    repeats: bool
    """It stands in a loop, a comprehension or a function, so it may run any number of times."""


def calls_in(code: str) -> list[CellCall]:
    """The calls of `apis.APP.API(...)` in the order in which they run, as far as the text shows it."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return list(_calls(tree, repeats=False))


_REPEATING = (
    ast.For,
    ast.While,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.FunctionDef,
    ast.Lambda,
)


def _calls(node: ast.AST, repeats: bool) -> Iterator[CellCall]:
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, repeats or isinstance(node, _REPEATING))
    if isinstance(node, ast.Call) and (name := _api_name(node.func)) is not None:
        named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        literals = {key: value for key, expression in named.items() if (value := _literal(expression)) is not ...}
        yield CellCall(*name, redact(literals), frozenset(named), repeats)


def _api_name(function: ast.expr) -> tuple[str, str] | None:
    match function:
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="apis"), attr=app), attr=api):
            return app, api
    return None


def _literal(expression: ast.expr) -> Any:
    """Its value, or ... if only running the code would tell."""
    try:
        return ast.literal_eval(expression)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ...


def redact(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments without what is secret by its name. AppWorld's logs hold passwords in clear text."""
    return {key: REDACTED if _SECRET.search(key) else value for key, value in arguments.items()}


def record_cell(recorder: Recorder, code: str, output: str, requests: deque[Mapping[str, Any]]) -> None:
    """Add the calls of a cell. `requests` is AppWorld's log, of which this takes what belongs to the cell."""
    made = [(call, data) for call in calls_in(code) for data in _arguments_of_each_time(call, requests)]
    failed = output.lstrip().startswith(FAILED)
    for number, (call, data) in enumerate(made, 1):
        recorder.call(call.api, data, app=call.app)
        if number < len(made):
            recorder.result(None, error=False)
        elif failed:
            recorder.result(None, error=_error(output))
        else:
            recorder.result(_value(output), error=False)
    if not made and (failed or output.strip() not in ("", DONE)):
        recorder.message("environment", _error(output) if failed else output, kind="observation")


def _arguments_of_each_time(call: CellCall, requests: deque[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The arguments of each time that the call ran: those that were sent, or else those that the text shows."""
    if not requests:
        yield call.arguments
        return
    while requests and _belongs(call, requests[0]):
        data = redact(requests.popleft().get("data") or {})
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


def _error(output: str) -> str:
    lines = [line for line in output.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "failed"


def _value(output: str) -> Any:
    text = output.strip()
    if text in ("", DONE):
        return None
    if len(text) > MAX_LITERAL:
        return text
    try:
        return _redact_deep(json.loads(text))
    except (ValueError, RecursionError):
        pass
    try:
        return _redact_deep(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def _redact_deep(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _redact_deep(item) for key, item in redact(value).items()}
    return [_redact_deep(item) for item in value] if isinstance(value, list | tuple) else value
