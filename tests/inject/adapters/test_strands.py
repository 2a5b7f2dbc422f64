import pytest

pytest.importorskip("strands", reason="needs contramem[strands], in an environment of its own")

from pydantic import BaseModel
from strands import Agent, ToolContext, tool
from strands.agent.conversation_manager import SlidingWindowConversationManager
from strands.models import Model
from strict_provider import assert_cacheable

from contramem.inject.adapters.strands import MemoryHooks

pytestmark = pytest.mark.slow


class ListModel(Model):
    """Replies from a list and keeps what it was asked, as the mocked provider of Strands' own tests does."""

    def __init__(self, *replies):
        self.replies, self.requests = list(replies), []

    def update_config(self, **_):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, *_, **__):
        raise NotImplementedError
        yield

    async def stream(self, messages, tool_specs=None, system_prompt=None, **_):
        self.requests.append(([*messages], tool_specs))
        blocks = self.replies.pop(0) if self.replies else ["done"]
        yield {"messageStart": {"role": "assistant"}}
        for number, block in enumerate(blocks):
            if isinstance(block, str):
                yield {"contentBlockStart": {"start": {}}}
                yield {"contentBlockDelta": {"delta": {"text": block}}}
            else:
                name, arguments = block
                use = {"toolUseId": f"t{len(self.requests)}-{number}", "name": name}
                yield {"contentBlockStart": {"start": {"toolUse": use}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": arguments}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(blocks[-1], str) else "tool_use"}}


TICKET = ("open_ticket", '{"reason": "late"}')


def agent(desk, office, model, *tools, unlimited=True, **more):
    tools, hooks = [*map(tool, office.tools), *tools], [MemoryHooks(desk, unlimited=unlimited)]
    return Agent(model=model, tools=tools, hooks=hooks, callback_handler=None, **more)


def results(messages):
    blocks = [block["toolResult"] for message in messages for block in message["content"] if "toolResult" in block]
    return ["\n".join(part["text"] for part in block["content"]) for block in blocks]


def test_guidance_notes_holds_and_what_is_open_reach_the_model(desk, office, open_task):
    close = ("close_ticket", '{"ticket": "T1"}')
    model = ListModel([TICKET], [("lookup_code", '{"topic": "late"}')], [TICKET], [close])
    strands_agent = agent(desk, office, model)
    strands_agent(open_task)
    first, _ = model.requests[0]
    assert "Look up the reason code" in first[0]["content"][0]["text"]
    held, _, made, failed = results(strands_agent.messages)
    assert "lookup_code" in held
    assert made == "ticket T1 is open"
    assert "Closing fails while a notice is missing" in failed
    assert office.done == ["lookup_code", "open_ticket", "close_ticket"]
    assert str(strands_agent.messages).count("this is still open") == 1
    assert str(strands_agent.messages).count("## Notes from earlier runs") == 1, "a reminder is no request"
    assert_cacheable([messages for messages, _ in model.requests])


def test_cards_that_the_conversation_manager_dropped_come_again_with_the_next_request(desk, office, open_task):
    model = ListModel(["ok"], ["ok"], ["ok"])
    manager = SlidingWindowConversationManager(window_size=2)
    strands_agent = agent(desk, office, model, conversation_manager=manager)
    for request in (open_task, "Thank you.", "Go on."):
        strands_agent(request)
    asked = [str(messages).count("## Notes from earlier runs") for messages, _ in model.requests]
    assert asked == [1, 1, 1]


def test_a_call_beside_a_structured_answer_is_made(desk, office, open_task):
    class Answer(BaseModel):
        text: str

    model = ListModel([TICKET, ("Answer", '{"text": "done"}')])
    agent(desk, office, model)(open_task, structured_output_model=Answer)
    assert office.done == ["open_ticket"]


def test_a_call_beside_a_tool_that_ends_the_run_is_made(desk, office, open_task):
    @tool(context=True)
    def hang_up(tool_context: ToolContext) -> str:
        """End the call."""
        tool_context.invocation_state["request_state"]["stop_event_loop"] = True
        return "ended"

    agent(desk, office, ListModel([TICKET, ("hang_up", "{}")]), hang_up)(open_task)
    assert office.done == ["open_ticket"]


def test_a_call_is_made_and_an_answer_kept_where_limits_may_end_the_run(desk, office, open_task):
    model = ListModel([TICKET], ["done"])
    limited = agent(desk, office, model, unlimited=False)
    result = limited(open_task, limits={"turns": 2})
    assert office.done == ["open_ticket"]
    [told] = results(limited.messages)
    assert "lookup_code" in told, "a warning stands after the result"
    assert result.stop_reason == "end_turn"
    assert str(result).strip() == "done"
