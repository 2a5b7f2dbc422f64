import asyncio
import contextlib

import pytest

pytest.importorskip("google.adk", reason="needs contramem[google-adk], in an environment of its own")

from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.invocation_context import LlmCallsLimitExceededError
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import ToolContext
from google.genai import types
from pydantic import PrivateAttr
from strict_provider import assert_cacheable

from contramem.inject.adapters.google_adk import MemoryPlugin

pytestmark = pytest.mark.slow


class ListModel(BaseLlm):
    """Replies from a list and keeps what it was asked, as the models of ADK's own tests do."""

    replies: list
    _requests: list = PrivateAttr(default_factory=list)

    async def generate_content_async(self, llm_request, stream=False):
        self._requests.append(llm_request.model_copy(deep=True))
        reply = self.replies.pop(0) if self.replies else [types.Part(text="done")]
        yield LlmResponse(content=types.Content(role="model", parts=reply))


def call(name, **arguments):
    return types.Part(function_call=types.FunctionCall(name=name, args=arguments))


def ask(model, tools, plugin, *prompts, config=None, **more):
    async def session():
        agent = LlmAgent(name="desk", model=model, tools=tools, instruction="You look after a desk.", **more)
        runner = InMemoryRunner(agent, app_name="desk", plugins=[plugin])
        session = await runner.session_service.create_session(app_name="desk", user_id="u")
        for prompt in prompts:
            message = types.Content(role="user", parts=[types.Part(text=prompt)])
            steps = runner.run_async(user_id="u", session_id=session.id, new_message=message, run_config=config)
            async for _ in steps:
                pass

    asyncio.run(session())
    return model._requests


def results(request):
    parts = [part for content in request.contents for part in content.parts or ()]
    return [part.function_response.response for part in parts if part.function_response]


def test_guidance_notes_and_holds_reach_the_model(desk, office, open_task):
    ticket = call("open_ticket", reason="late")
    failing = call("close_ticket", ticket="T1")
    model = ListModel(model="list", replies=[[ticket], [call("lookup_code", topic="late")], [ticket], [failing]])
    requests = ask(model, office.tools, MemoryPlugin(desk), open_task, "Go on.")
    systems = {request.config.system_instruction for request in requests}
    assert len(systems) == 1, "the same in every request, for a provider's cache"
    assert "Look up the reason code" in systems.pop()
    held, _, made, failed = results(requests[-1])
    assert "lookup_code" in held["error"]
    assert made == {"result": "ticket T1 is open"}
    assert "Closing fails while a notice is missing" in failed["note"]
    assert office.done == ["lookup_code", "open_ticket", "close_ticket"]


def test_what_was_sent_once_is_never_changed_by_a_later_request(desk, office, open_task):
    replies = [[types.Part(text="ok")], [call("lookup_code", topic="late")], [types.Part(text="ok")]]
    model = ListModel(model="list", replies=replies)
    requests = ask(model, office.tools, MemoryPlugin(desk), "Compose a sonnet", open_task, "Go on.")
    assert "Look up the reason code" in str(requests[1].contents[-1])
    assert len({request.config.system_instruction for request in requests}) == 1
    assert_cacheable([request.contents for request in requests])


def test_the_card_of_a_function_stands_in_the_description_of_its_tool(desk, office):
    model = ListModel(model="list", replies=[])
    [request] = ask(model, office.tools, MemoryPlugin(desk), "Compose a sonnet")
    declared = {tool.name: tool.description for tool in request.config.tools[0].function_declarations}
    assert "Closing fails while a notice is missing" in declared["close_ticket"]
    assert declared["send_notice"] == "Send a notice."


def test_a_call_beside_a_handoff_is_made(desk, office, open_task):
    other = LlmAgent(name="other", model=ListModel(model="list", replies=[]), instruction="Go on.")
    reply = [call("open_ticket", reason="late"), call("transfer_to_agent", agent_name="other")]
    ask(ListModel(model="list", replies=[reply]), office.tools, MemoryPlugin(desk), open_task, sub_agents=[other])
    assert office.done == ["open_ticket"]


def steps(*names):
    arguments = {"open_ticket": {"reason": "late"}, "lookup_code": {"topic": "late"}}
    return ListModel(model="list", replies=[[call(name, **arguments[name])] for name in names])


@pytest.mark.parametrize("limit", [1, 3])
def test_a_call_is_made_where_max_llm_calls_leaves_no_room_to_make_it_later(desk, office, open_task, limit):
    model = steps("open_ticket", "lookup_code", "open_ticket")
    with contextlib.suppress(LlmCallsLimitExceededError):
        ask(model, office.tools, MemoryPlugin(desk), open_task, config=RunConfig(max_llm_calls=limit))
    assert office.done[0] == "open_ticket"


@pytest.mark.parametrize("limit", [4, 0])
def test_a_call_is_held_where_max_llm_calls_leaves_room(desk, office, open_task, limit):
    model = steps("open_ticket", "lookup_code", "open_ticket")
    ask(model, office.tools, MemoryPlugin(desk), open_task, config=RunConfig(max_llm_calls=limit))
    assert office.done == ["lookup_code", "open_ticket"]


def test_every_invocation_of_a_session_has_its_own_max_llm_calls(desk, office, open_task):
    model = steps("open_ticket", "lookup_code", "open_ticket")
    model.replies.insert(0, [types.Part(text="Hello.")])
    ask(model, office.tools, MemoryPlugin(desk), "Hello.", open_task, config=RunConfig(max_llm_calls=4))
    assert office.done == ["lookup_code", "open_ticket"]


def test_a_call_beside_a_tool_that_ends_the_run_is_made(desk, office, open_task):
    def show_form(topic: str, tool_context: ToolContext) -> str:
        """Show a form to the user, who goes on from there."""
        tool_context.actions.skip_summarization = True
        return "shown"

    reply = [call("open_ticket", reason="late"), call("show_form", topic="late")]
    ask(ListModel(model="list", replies=[reply]), [*office.tools, show_form], MemoryPlugin(desk), open_task)
    assert office.done == ["open_ticket"]
