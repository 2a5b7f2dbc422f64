"""Targets behind an OpenAI-compatible URL: the same task in both modes, against a server on this machine."""

from __future__ import annotations

import json

import pytest
from tests.lab.bench.small_world import House
from tests.loopback import Answer, loopback

from contramem.errors import ModelError, UsageError
from contramem_lab.agent import attempt
from contramem_lab.environment import Limits
from contramem_lab.target import OpenAITarget

pytest.importorskip("openai")

CALLS = [("list_lamps", {}), ("switch_on", {"lamp": "hall lamp"})]


def native(body, before):
    """Lists the lamps, switches one on, says so: told from how many results it has read."""
    done = sum(message["role"] == "tool" for message in body["messages"])
    if done == len(CALLS):
        return Answer("It is on.")
    name, arguments = CALLS[done]
    call = {"id": f"c{done}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return tool_calls(call)


def tool_calls(*calls):
    message = {"role": "assistant", "content": None, "tool_calls": list(calls)}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return Answer(raw=json.dumps(body).encode())


def in_json(body, before):
    done = sum("Result of" in message["content"] for message in body["messages"][1:])
    if done == len(CALLS):
        return Answer('{"function": "finish", "arguments": {"answer": "It is on."}}')
    return Answer(json.dumps(dict(zip(("function", "arguments"), CALLS[done], strict=True))))


@pytest.mark.parametrize(("mode", "behave"), [("tools", native), ("json", in_json)])
def test_both_modes_give_the_same_run(mode, behave, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-1")
    with loopback(behave) as server:
        target = OpenAITarget("m", base_url=server.url, mode=mode, temperature=0.5, key_from="MY_KEY")
        run = attempt(House(), "hall", target, seed=7)
        target.close()
    assert run.outcome.passed is True
    assert [(event.function, event.arguments) for event in run.calls] == [
        ("house.list_lamps", {}),
        ("house.switch_on", {"lamp": "hall lamp"}),
    ]
    assert run.events[-1].text == "It is on."
    assert (run.usage.model_calls, run.usage.tokens_in, run.usage.tokens_out) == (3, 3000, 300)
    assert set(server.keys) == {"Bearer secret-1"}
    body = server.bodies[0]
    assert (body["temperature"], body["seed"]) == (0.5, 7000)
    if mode == "tools":
        assert [tool["function"]["name"] for tool in body["tools"]] == ["list_lamps", "switch_on", "switch_off"]
        assert server.bodies[1]["messages"][-1]["tool_call_id"] == "c0"
    else:
        assert "tools" not in body
        assert len(body["response_format"]["json_schema"]["schema"]["anyOf"]) == 4


def test_the_model_is_told_that_arguments_must_be_an_object():
    broken = {"id": "c", "type": "function", "function": {"name": "switch_on", "arguments": "{'lamp': "}}
    with loopback(
        lambda body, before: tool_calls(broken) if len(body["messages"]) == 2 else Answer("Sorry.")
    ) as server:
        run = attempt(House(), "hall", OpenAITarget("m", base_url=server.url))
    assert run.calls == ()
    assert "no JSON object" in server.bodies[1]["messages"][-1]["content"]


def test_the_model_is_told_that_its_reply_was_cut_off():
    cut = Answer('{"function": "swi', finish="length")
    with loopback(lambda body, before: cut) as server:
        attempt(House(), "hall", OpenAITarget("m", base_url=server.url, mode="json"), limits=Limits(steps=2))
    assert "cut off" in server.bodies[1]["messages"][-1]["content"]


def test_a_request_that_fails_once_is_repeated():
    with loopback(lambda body, before: Answer("2 lamps.") if before else Answer(status=500)) as server:
        run = attempt(House(), "report", OpenAITarget("m", base_url=server.url, retries=2))
    assert run.outcome.passed is True
    assert len(server.bodies) == 2


def test_a_model_that_cannot_be_asked_is_an_error_and_no_run():
    with (
        loopback(lambda body, before: Answer(status=401)) as server,
        pytest.raises(ModelError, match="told to answer 401"),
    ):
        attempt(House(), "hall", OpenAITarget("m", base_url=server.url, retries=0))


def test_a_full_context_window_ends_the_run_as_a_limit():
    raw = json.dumps({"error": {"message": "the request exceeds the available context size", "code": 400}}).encode()
    with loopback(lambda body, before: Answer(status=400, raw=raw)) as server:
        run = attempt(House(), "hall", OpenAITarget("m", base_url=server.url, retries=0))
    assert run.outcome.ended == "limit"


def test_openai_itself_needs_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="set OPENAI_API_KEY"):
        OpenAITarget("gpt-5")


def test_an_unknown_mode_is_named():
    with pytest.raises(UsageError, match="no mode 'xml'"):
        OpenAITarget("m", base_url="http://127.0.0.1:1/v1", mode="xml")
