"""Conversations as instrumentations log them."""

from __future__ import annotations

from typing import Any

import pytest

from contramem.traces.readers.dialects import messages_in


@pytest.mark.parametrize(
    ("logged", "said"),
    [
        pytest.param("Mail Bob", [("user", "Mail Bob")], id="text"),
        pytest.param(
            "system: Be brief.\nuser: Mail\nBob", [("system", "Be brief."), ("user", "Mail\nBob")], id="turns"
        ),
        pytest.param("assistant: None\ntool: sent", [("tool", "sent")], id="an-empty-turn"),
        pytest.param(["role='user' content='Mail Bob' name=None"], [("user", "Mail Bob")], id="a-printed-object"),
        pytest.param({"args": ["Mail Bob"]}, [("user", "Mail Bob")], id="arguments-of-a-function"),
        pytest.param({"candidates": [{"content": {"role": "model", "parts": []}}]}, [("model", None)], id="gemini"),
        pytest.param([{"role": "tool", "content": {"type": "function", "function": {}}}], [], id="an-offered-tool"),
        pytest.param(
            {"messages": [["system", "Be brief."], ["user", "Mail Bob"]]},
            [("system", "Be brief."), ("user", "Mail Bob")],
            id="langchains-short-form",
        ),
        pytest.param(
            [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Mail Bob"}]}],
            [("user", "Mail Bob")],
            id="pydantic-ai",
        ),
    ],
)
def test_messages_are_found_in_what_was_logged(logged: Any, said: list[tuple[str, str | None]]) -> None:
    assert [(message["role"], message.get("content")) for message in messages_in(logged)] == said


@pytest.mark.parametrize(
    "logged",
    [
        pytest.param({"type": "function_call", "call_id": "c1", "name": "send", "arguments": "{}"}, id="responses"),
        pytest.param({"text": "", "toolCalls": [{"toolCallId": "c1", "toolName": "send", "args": "{}"}]}, id="vercel"),
    ],
)
def test_calls_that_stand_alone_are_calls_of_the_assistant(logged: Any) -> None:
    (message,) = messages_in(logged, "assistant")
    (call,) = message["tool_calls"]
    assert (message["role"], call["id"], call["function"]["name"]) == ("assistant", "c1", "send")
