"""Records: what stands around the messages of a run."""

from __future__ import annotations

from typing import Any

import pytest

from contramem.traces.normalize import Naming
from contramem.traces.readers.records import tools_of

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
