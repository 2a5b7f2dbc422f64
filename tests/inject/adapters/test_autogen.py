import asyncio

import pytest

pytest.importorskip("autogen_agentchat", reason="needs contramem[autogen], in an environment of its own")
pytest.importorskip("autogen_ext.models.replay", reason="needs autogen-ext")

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.models import CreateResult, ModelFamily, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient
from strict_provider import assert_cacheable

from contramem.inject.adapters.autogen import guided_tools

pytestmark = pytest.mark.slow


def reply(*calls):
    content = [FunctionCall(id=str(number), name=name, arguments=text) for number, (name, text) in enumerate(calls)]
    return CreateResult(
        finish_reason="function_calls" if calls else "stop",
        content=content or "done",
        usage=RequestUsage(prompt_tokens=1, completion_tokens=1),
        cached=False,
    )


def test_notes_stand_after_results_and_no_call_is_held(desk, office, open_task):
    steps = [reply(("open_ticket", '{"reason": "late"}')), reply(("close_ticket", '{"ticket": "T1"}')), reply()]
    info = {"function_calling": True, "vision": False, "json_output": False, "structured_output": False}
    model = ReplayChatCompletionClient(steps, model_info={**info, "family": ModelFamily.UNKNOWN})
    run = desk.start(open_task)
    agent = AssistantAgent(
        "desk",
        model,
        tools=guided_tools(office.tools, run),
        system_message=run.guidance.text,
        max_tool_iterations=5,
    )
    asyncio.run(agent.run(task=open_task))
    assert office.done == ["open_ticket", "close_ticket"]
    asked = [str(call["messages"]) for call in model.create_calls]
    assert "Look up the reason code" in asked[0]
    assert "That call broke a rule that passing runs kept" in asked[1]
    assert "Closing fails while a notice is missing" in asked[2]
    assert_cacheable([list(call["messages"]) for call in model.create_calls])
    schemas = {tool.name: tool.schema["description"] for tool in guided_tools(office.tools, desk.start("A sonnet"))}
    assert "Closing fails while a notice is missing" in schemas["close_ticket"]
