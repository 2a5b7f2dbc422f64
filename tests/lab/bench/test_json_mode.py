"""JSON mode: a schema made from the tools, and a reply understood whatever the model wrote."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lab.bench.small_world import TOOLS

from contramem.traces.trajectory import Tool
from contramem_lab.target import AgentReply, ChatMessage, ToolCall, plain_messages, reply_of, schema_of


@pytest.mark.parametrize(
    ("text", "call"),
    [
        pytest.param('{"function": "f", "arguments": {"a": 1}}', ToolCall("f", {"a": 1}), id="plain"),
        pytest.param('{"function": "f"}', ToolCall("f"), id="no arguments"),
        pytest.param('```json\n{"function": "f", "arguments": {}}\n```', ToolCall("f"), id="in a fence"),
        pytest.param('{odd} then {"function": "f", "arguments": {}} and more', ToolCall("f"), id="between words"),
    ],
)
def test_written_calls_are_parsed(text, call):
    assert reply_of(text).calls == (call,)


def test_finishing_gives_the_answer():
    assert reply_of('{"function": "finish", "arguments": {"answer": "It is on."}}') == AgentReply("It is on.")
    assert reply_of('{"function": "finish", "arguments": {"answer": ["a", 2]}}').text == '["a", 2]'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("", "no JSON object", id="empty"),
        pytest.param("I will do it.", "no JSON object", id="words"),
        pytest.param('{"function": "f", "argum', "no JSON object", id="cut off"),
        pytest.param("[1, 2]", "no JSON object", id="list"),
        pytest.param('{"arguments": {}}', 'no "function"', id="no function"),
        pytest.param('{"function": 3}', 'no "function"', id="number as function"),
        pytest.param('{"function": "f", "arguments": "x"}', "must be a JSON object", id="text as arguments"),
        pytest.param('{"a":' * 3000, "no JSON object", id="too deep"),
    ],
)
def test_a_reply_without_a_call_gives_a_problem_for_the_model(text, problem):
    reply = reply_of(text)
    assert problem in reply.problem
    assert reply.calls == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["function", "arguments"]), inner),
    max_leaves=8,
)


@settings(max_examples=60)
@given(
    st.text()
    | st.text(alphabet='{}[]":,function')
    | JSON.map(json.dumps)
    | st.tuples(st.text(), JSON.map(json.dumps)).map("".join)
)
def test_any_text_gives_a_call_an_answer_or_a_problem(text):
    reply = reply_of(text)
    assert bool(reply.calls) + bool(reply.problem) <= 1
    for call in reply.calls:
        assert call.function
        assert isinstance(call.arguments, dict)


@settings(max_examples=60)
@given(st.text(min_size=1).filter(lambda name: name != "finish"), st.dictionaries(st.text(), st.integers() | st.text()))
def test_a_call_that_was_written_is_the_call_that_is_read(function, arguments):
    call = ToolCall(function, arguments)
    said = plain_messages([ChatMessage("assistant", "", (call,))], [])
    assert reply_of(said[0]["content"]).calls == (call,)


def test_the_schema_has_a_branch_for_each_tool_and_one_to_finish():
    branches = {branch["properties"]["function"]["const"]: branch for branch in schema_of(TOOLS)["anyOf"]}
    assert list(branches) == ["house.list_lamps", "house.switch_on", "house.switch_off", "finish"]
    assert branches["house.switch_on"]["properties"]["arguments"] == TOOLS[1].parameters
    assert branches["finish"]["properties"]["arguments"]["required"] == ["answer"]


def test_the_schema_keeps_arguments_that_are_called_like_keywords():
    parameters = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "x", "default": ""},
            "n": {"anyOf": [{"type": "null"}]},
        },
    }
    branch = schema_of([Tool("f", "", parameters)])["anyOf"][0]["properties"]["arguments"]
    assert branch["properties"] == {"title": {"type": "string"}, "n": {"anyOf": [{"type": "null"}]}}


def test_the_conversation_is_plain_messages_that_take_turns():
    on = ToolCall("switch_on", {"lamp": "hall lamp"})
    said = plain_messages(
        [
            ChatMessage("system", "Work."),
            ChatMessage("user", "On, please."),
            ChatMessage("assistant", "", (on, on)),
            ChatMessage("tool", "ok", answers=on),
            ChatMessage("tool", "again", answers=on),
        ],
        TOOLS,
    )
    assert [message["role"] for message in said] == ["system", "user", "assistant", "user"]
    assert "- house.switch_on(lamp: string): Switch a lamp on." in said[0]["content"]
    assert said[2]["content"].splitlines()[0] == '{"function": "switch_on", "arguments": {"lamp": "hall lamp"}}'
    assert said[3]["content"] == "Result of switch_on: ok\n\nResult of switch_on: again"
