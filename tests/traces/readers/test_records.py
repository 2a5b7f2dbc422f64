"""Records: what stands around the messages of a run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contramem.traces.files import TraceFile
from contramem.traces.normalize import Naming
from contramem.traces.reader import ReadOptions
from contramem.traces.readers.chat import ChatReader
from contramem.traces.readers.records import tools_of
from contramem.traces.trajectory import Trajectory

SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param({"type": "function", "function": {"name": "send", "parameters": SCHEMA}}, id="openai"),
        pytest.param({"name": "send", "input_schema": SCHEMA}, id="anthropic"),
        pytest.param({"name": "send", "inputSchema": SCHEMA}, id="mcp"),
        pytest.param({"functionDeclarations": [{"name": "send", "parameters": SCHEMA}]}, id="gemini"),
        pytest.param({"function_declarations": [{"name": "send", "parametersJsonSchema": SCHEMA}]}, id="gemini-sdk"),
    ],
)
def test_tools_are_read_as_each_provider_lists_them(listed: dict[str, Any]) -> None:
    (tool,) = tools_of([listed], Naming())
    assert (tool.function.rpartition(".")[2], tool.parameters) == ("send", SCHEMA)


def read_only_run(document: object) -> Trajectory:
    (run,) = ChatReader().read(TraceFile.of_bytes("runs.json", json.dumps(document).encode()), ReadOptions())
    assert isinstance(run, Trajectory), run
    return run


@pytest.mark.parametrize(
    ("field", "value", "passed"), [("success", True, True), ("correct", False, False), ("success", "maybe", None)]
)
def test_a_verdict_is_found_under_its_usual_names(field: str, value: object, passed: bool | None) -> None:
    run = read_only_run({field: value, "messages": [{"role": "user", "content": "Mail Bob."}]})
    assert run.outcome.passed is passed


def test_a_result_that_cohere_wraps_in_a_document_is_read() -> None:
    call = {"id": "c1", "function": {"name": "find", "arguments": "{}"}}
    document = {"type": "document", "document": {"data": '{"found": 3}'}}
    run = read_only_run(
        [
            {"role": "user", "content": "Count them."},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": [document]},
        ]
    )
    assert run.calls[0].result is not None
    assert run.calls[0].result.content == '{"found": 3}'
