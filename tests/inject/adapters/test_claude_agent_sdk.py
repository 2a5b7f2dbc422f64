import asyncio

import pytest

pytest.importorskip("claude_agent_sdk", reason="needs contramem[claude-agent-sdk]")

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher, create_sdk_mcp_server, tool

from contramem.inject.adapters.claude_agent_sdk import memory_hooks

DELETE = "mcp__EmailClient__delete_email"
CARD = "### EmailClient.delete_email"
NOTES = "## Notes from earlier runs"
COUNT = iter(range(10_000))


def delete(*ids):
    return [
        {"type": "tool_use", "id": f"toolu_{next(COUNT)}", "name": DELETE, "input": {"email_id": name}} for name in ids
    ]


@pytest.fixture
def server(inbox):
    @tool("delete_email", "Delete one email.", {"email_id": str})
    async def delete_email(arguments):
        try:
            text = inbox.delete_email(arguments["email_id"])
        except ValueError as error:
            return {"content": [{"type": "text", "text": str(error)}], "is_error": True}
        return {"content": [{"type": "text", "text": text}]}

    return create_sdk_mcp_server("EmailClient", tools=[delete_email])


def ask(hooks, server, folder, *prompts):
    """One session."""

    async def session():
        options = ClaudeAgentOptions(
            cwd=folder, setting_sources=[], allowed_tools=[DELETE], mcp_servers={"EmailClient": server}, hooks=hooks
        )
        async with ClaudeSDKClient(options) as client:
            for prompt in prompts:
                await client.query(prompt)
                async for _ in client.receive_response():
                    pass

    asyncio.run(session())


@pytest.mark.slow
def test_both_texts_reach_the_model_and_what_comes_next(memory, server, inbox, task, anthropic, tmp_path):
    anthropic.replies = [delete("m1", "m2"), delete("m1", "m2"), delete("x"), delete("m3"), delete("m3")]
    ask(memory_hooks(memory, ability="ambiguity"), server, tmp_path, task)
    assert NOTES in str(anthropic.requests[0]["messages"])
    assert "### Delete clear emails despite an ambiguous keep exception" in str(anthropic.requests[0]["messages"])
    held, as_well, *made, failed, again, last = anthropic.told(5)
    assert CARD in held
    assert "was held as well" in as_well
    assert made == ["deleted m1", "deleted m2"]
    assert failed.startswith("no email x")
    assert "The last call of this function failed." in again
    assert last == "deleted m3"
    assert inbox.deleted == ["m1", "m2", "m3"]


@pytest.mark.slow
def test_a_session_is_a_run(memory, server, inbox, task, anthropic, tmp_path):
    started = []
    hooks = memory_hooks(memory, ability="ambiguity", on_start=started.append)
    for _ in range(2):
        anthropic.requests.clear()
        anthropic.replies = [delete("m1"), delete("m1"), [{"type": "text", "text": "More?"}], delete("m2")]
        ask(hooks, server, tmp_path, task, "Go on.")
        assert [CARD in text for text in anthropic.told(4)] == [True, False, False]
    assert inbox.deleted == ["m1", "m2"] * 2
    assert len({run.run_id for run in started}) == 2


@pytest.mark.slow
def test_nothing_is_injected_when_memory_is_off(memory, server, inbox, task, anthropic, tmp_path, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    anthropic.replies = [delete("m1")]
    ask(memory_hooks(memory), server, tmp_path, task)
    assert NOTES not in str(anthropic.requests[0]["messages"])
    assert inbox.deleted == ["m1"]


def told(hooks, event, **fields):
    [matcher] = hooks[event]
    [callback] = matcher.hooks
    event = {"session_id": "s", "hook_event_name": event, **fields}
    return asyncio.run(callback(event, fields.get("tool_use_id"), {"signal": None})).get("hookSpecificOutput", {})


def test_the_same_guidance_is_not_given_twice(memory, task):
    hooks = memory_hooks(memory, ability="ambiguity")
    assert NOTES in told(hooks, "UserPromptSubmit", prompt=task)["additionalContext"]
    assert told(hooks, "UserPromptSubmit", prompt=task) == {}
    assert told(hooks, "UserPromptSubmit", prompt="Thank you.") == {}
    assert told(hooks, "UserPromptSubmit", prompt=task, session_id="t") != {}


def test_a_sub_agent_has_not_read_what_the_main_agent_has(memory):
    hooks = memory_hooks(memory)
    call = {"tool_name": DELETE, "tool_input": {"email_id": "m1"}}
    assert CARD in told(hooks, "PreToolUse", tool_use_id="1", **call)["permissionDecisionReason"]
    told(hooks, "PostToolBatch")
    assert told(hooks, "PreToolUse", tool_use_id="2", **call) == {}
    assert CARD in told(hooks, "PreToolUse", tool_use_id="3", agent_id="sub", **call)["permissionDecisionReason"]


def test_an_interrupt_is_no_error_and_an_error_in_words_is_one(memory):
    hooks = memory_hooks(memory)
    call = {"tool_name": DELETE, "tool_input": {"email_id": "m1"}}
    told(hooks, "PreToolUse", **call)
    told(hooks, "PostToolUseFailure", error="stopped", is_interrupt=True, **call)
    told(hooks, "PostToolBatch")
    assert told(hooks, "PreToolUse", **call) == {}
    told(hooks, "PostToolUse", tool_response=[{"type": "text", "text": "Error: no such email"}], **call)
    told(hooks, "PostToolBatch")
    assert "The last call of this function failed." in told(hooks, "PreToolUse", **call)["permissionDecisionReason"]


def test_other_hooks_are_kept(memory):
    other = HookMatcher(matcher="Bash", hooks=[])
    mine = {"PreToolUse": [other], "Stop": [other]}
    joined = memory_hooks(memory, hooks=mine)
    assert joined["PreToolUse"][0] is other
    assert len(joined["PreToolUse"]) == 2
    assert joined["Stop"] == [other]
    assert mine["PreToolUse"] == [other]
