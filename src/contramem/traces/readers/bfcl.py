"""BFCL: what each model called for each test of a category, and beside it which tests it failed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, decode, parse_python, plain_value
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import Reading, ReadOptions, each_run
from contramem.traces.readers.messages import whole
from contramem.traces.trajectory import Origin, Outcome, RunUsage, Trajectory

_NAME = re.compile(r"(?:gorilla_openfunctions_v\d_test_|BFCL_v\d_)(?P<category>\w+?)(?:_result)?\.jsonl?")
_NUMBER = re.compile(r".*?(\d+)")


def is_bfcl(file: TraceFile) -> bool:
    head = file.head if _NAME.fullmatch(file.name) else None
    return isinstance(head, dict) and "result" in head and ("id" in head or "idx" in head)


def read_bfcl(file: TraceFile, options: ReadOptions) -> Reading:
    """result/MODEL/BFCL_v3_simple_result.json  {"id": "simple_0", "result": [{"area": "{\\"base\\": 10}"}]}
    result/MODEL/BFCL_v3_java_result.json    {"id": "java_0", "result": "[area(base=10)]"}
    score/MODEL/BFCL_v3_simple_score.json    {"accuracy": 0.5, "correct_count": 1, ...} and one line per failed test

    A model's folder is its name. Nothing is executed in most categories, so calls have no results. A test passed if
    the scores of its category do not list it; without scores, nothing is known."""
    category = _category(file)
    failed = _failed_tests(file, category)

    def build(row: Any, position: str) -> Trajectory:
        number = _number(row.get("id", row.get("idx")))
        recorder = Recorder(options.naming("bfcl"))
        calls = list(_calls(row["result"]))
        for name, given in calls:
            recorder.call(name, given)
        if not calls:
            recorder.message("agent", text_of(row["result"]) or "(nothing)")
        return Trajectory(
            environment="bfcl",
            task_id=f"{category}_{number}",
            source=file.path.parent.name or "unknown",
            origin=Origin(file.origin, position),
            events=recorder.events(),
            outcome=Outcome(None if failed is None else number not in failed),
            run=next((part for part in file.parts[-4:-3] if part[:1].isdigit()), "0"),
            ability=category,
            usage=RunUsage(None, whole(row.get("input_token_count")), whole(row.get("output_token_count"))),
        )

    return each_run(file, file.lines(), build)


def _category(file: TraceFile) -> str:
    match = _NAME.fullmatch(file.name)
    return match["category"] if match else file.name.partition(".")[0]


def _number(test: Any) -> int:
    match = _NUMBER.fullmatch(str(test))
    if match is None:
        raise TraceError(f"names no test ({str(test)[:40]!r})", "Is this a result of BFCL?")
    return int(match[1])


def _failed_tests(file: TraceFile, category: str) -> set[int] | None:
    """The numbers of the tests that the score file of this category lists. Its rows count from one."""
    tree, model = file.path.parent.parent.name, file.path.parent.name
    for name in (f"{category}_score.json", file.name.replace("_result.json", "_score.json")):
        scores = file.beside(f"../../{tree.replace('result', 'score')}/{model}/{name}")
        if scores is not None:
            rows = [row for _, row in scores.lines() if isinstance(row, dict) and "valid" in row]
            return {_of_score(row) for row in rows if row["valid"] is False}
    return None


def _of_score(row: Mapping[str, Any]) -> int:
    """The number of a test: newer files name it as the results do, older ones give the place, counted from one."""
    return _number(row["id"]) - (0 if isinstance(row["id"], str) else 1)


def _calls(result: Any) -> Iterator[tuple[str, Any]]:
    """The calls in a reply: a list of objects of a name and its arguments, or calls as Python, which is read and never
    run. Of several turns, those of all of them. An object alone is what a provider said instead of a reply."""
    if isinstance(result, list):
        for item in result:
            yield from ((str(name), given) for name, given in item.items()) if isinstance(item, dict) else _calls(item)
    elif isinstance(result, str):
        yield from _written_calls(result)


def _written_calls(text: str) -> Iterator[tuple[str, Any]]:
    text = text.strip().strip("`").removeprefix("python").strip()
    if text.startswith("{") and (listed := _listed(text)):
        yield from listed
        return
    try:
        tree = parse_python(text, "eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for call in tree.elts if isinstance(tree, (ast.List, ast.Tuple)) else [tree]:
        if isinstance(call, ast.Call):
            named = {keyword.arg or "more": _value(keyword.value) for keyword in call.keywords}
            placed = {f"argument_{place}": _value(value) for place, value in enumerate(call.args, 1)}
            yield ast.unparse(call.func), {**placed, **named}


def _listed(text: str) -> list[tuple[str, Any]]:
    """Of `{"tool_calls": [{"name": ..., "arguments": ...}]}`."""
    try:
        value = decode(text.encode("utf-8", "replace"))
    except TraceError:
        return []
    calls = value.get("tool_calls") if isinstance(value, dict) else None
    return [(str(call["name"]), call.get("arguments")) for call in calls or ()
            if isinstance(call, dict) and "name" in call]  # fmt: skip


def _value(node: ast.expr) -> Any:
    try:
        return plain_value(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ast.unparse(node)
