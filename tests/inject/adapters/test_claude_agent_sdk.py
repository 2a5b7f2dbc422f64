import asyncio

import pytest

pytest.importorskip("claude_agent_sdk", reason="needs contramem[claude-agent-sdk]")

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher, create_sdk_mcp_server, tool

from contramem.inject.adapters.claude_agent_sdk import guided, memory_hooks

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
    run_session(ClaudeAgentOptions(**own_options(server, folder), hooks=hooks), *prompts)


def own_options(server, folder):
    return {"cwd": folder, "setting_sources": [], "allowed_tools": [DELETE], "mcp_servers": {"EmailClient": server}}


def run_session(options, *prompts):
    async def session():
        async with ClaudeSDKClient(options) as client:
            for prompt in prompts:
                await client.query(prompt)
                async for _ in client.receive_response():
                    pass

    asyncio.run(session())


@pytest.mark.slow
def test_the_client_shows_guidance_once_and_a_card_after_a_failure(memory, server, inbox, task, anthropic, tmp_path):
    started = []
    anthropic.replies = [delete("m1", "m2"), delete("x"), delete("x"), delete("m3")]
    hooks = memory_hooks(memory, ability="ambiguity", on_start=started.append)
    ask(hooks, server, tmp_path, task, "Go on.")
    requests = [str(request["messages"]) for request in anthropic.requests]
    assert [request.count("### Delete clear emails despite") for request in requests] == [1, 1, 1, 1, 1, 1]
    assert [request.count(CARD) for request in requests] == [1, 1, 2, 2, 2, 2], "at the start, and beside the failure"
    assert inbox.deleted == ["m1", "m2", "m3"]
    assert len(started) == 1, "a session is a run"
    anthropic.assert_cacheable()


@pytest.mark.slow
@pytest.mark.parametrize("limit", [{}, {"max_turns": 4}, {"max_turns": 3}])
def test_a_call_is_held_only_in_a_session_without_a_limit(memory, server, inbox, task, anthropic, tmp_path, limit):
    anthropic.replies = [delete("x"), delete("x"), delete("x"), delete("m1")]
    options = ClaudeAgentOptions(**own_options(server, tmp_path), **limit)
    run_session(guided(options, memory), task)
    results = anthropic.told(len(anthropic.requests) - 1)
    assert ["failed with these very arguments" in result for result in results].count(True) == (0 if limit else 1)
    assert options.hooks is None, "the options themselves stay as they are"


@pytest.mark.slow
def test_nothing_is_injected_when_memory_is_off(memory, server, inbox, task, anthropic, tmp_path, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    anthropic.replies = [delete("m1")]
    ask(memory_hooks(memory), server, tmp_path, task)
    assert NOTES not in str(anthropic.requests[0]["messages"])
    assert inbox.deleted == ["m1"]


def test_the_hooks_answer_as_sessions_do(memory, task):
    hooks = memory_hooks(memory, ability="ambiguity")
    [matcher] = hooks["UserPromptSubmit"]
    event = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": task}
    answer = asyncio.run(matcher.hooks[0](event, None, {"signal": None}))
    assert NOTES in answer["hookSpecificOutput"]["additionalContext"]


def test_other_hooks_are_kept(memory):
    other = HookMatcher(matcher="Bash", hooks=[])
    mine = {"PreToolUse": [other], "Notification": [other]}
    joined = memory_hooks(memory, hooks=mine)
    assert joined["PreToolUse"][0] is other
    assert len(joined["PreToolUse"]) == 2
    assert joined["Notification"] == [other]
    assert mine["PreToolUse"] == [other]
