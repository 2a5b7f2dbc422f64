import asyncio

import pytest

pytest.importorskip("llama_index.core", reason="needs contramem[llama-index], in an environment of its own")

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool
from strict_provider import assert_cacheable

from contramem.inject.adapters.llama_index import guided_tools

pytestmark = pytest.mark.slow


def test_notes_stand_after_results_and_no_call_is_held(desk, office, open_task):
    asked = []
    steps = [("open_ticket", {"reason": "late"}), ("close_ticket", {"ticket": "T1"})]

    def reply(messages, **_):
        asked.append([str(message) for message in messages])
        if not steps:
            return ChatMessage(role="assistant", blocks=[TextBlock(text="done")])
        name, arguments = steps.pop(0)
        call = ToolCallBlock(tool_call_id=f"c{len(asked)}", tool_name=name, tool_kwargs=arguments)
        return ChatMessage(role="assistant", blocks=[call])

    async def answer():
        run = desk.start(open_task)
        agent = FunctionAgent(
            tools=guided_tools(office.tools, run),
            llm=MockFunctionCallingLLM(response_generator=reply, is_chat_model=True),
            system_prompt=run.guidance.text,
            streaming=False,
        )
        return await agent.run(open_task)

    asyncio.run(answer())
    assert office.done == ["open_ticket", "close_ticket"]
    assert "Look up the reason code" in str(asked[0])
    assert "That call broke a rule that passing runs kept" in str(asked[1])
    assert "Closing fails while a notice is missing" in str(asked[2])
    assert_cacheable(asked)


def test_a_result_that_is_the_answer_has_no_note_after_it(desk, office, open_task):
    def reply(messages, **_):
        call = ToolCallBlock(tool_call_id="c1", tool_name="open_ticket", tool_kwargs={"reason": "late"})
        return ChatMessage(role="assistant", blocks=[call])

    async def answer():
        tools = guided_tools(
            [FunctionTool.from_defaults(office.open_ticket, return_direct=True)], desk.start(open_task)
        )
        model = MockFunctionCallingLLM(response_generator=reply, is_chat_model=True)
        return str(await FunctionAgent(tools=tools, llm=model, streaming=False).run(open_task))

    assert asyncio.run(answer()) == "ticket T1 is open"
