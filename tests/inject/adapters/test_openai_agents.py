import asyncio
import json

import pytest

pytest.importorskip("agents", reason="needs contramem[openai-agents]")

from agents import (
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    ToolGuardrailFunctionOutput,
    Usage,
    function_tool,
    handoff,
    tool_input_guardrail,
)
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from contramem.inject.adapters.openai_agents import guided

QUIET = RunConfig(tracing_disabled=True)
COUNT = iter(range(10_000))


class Scripted(Model):
    """The SDK's Model, replying from a list. What each request holds is kept."""

    def __init__(self, *replies):
        self.requests = []
        self._replies = iter(replies)

    async def get_response(self, system_instructions, input, *args, **options):
        self.requests.append((system_instructions, input))
        return ModelResponse(output=next(self._replies), usage=Usage(requests=1), response_id=None)

    def stream_response(self, *args, **options):
        raise NotImplementedError

    def told(self, request):
        """The outputs of tools that a request holds."""
        return [item["output"] for item in self.requests[request][1] if item.get("type") == "function_call_output"]


def call(name, **arguments):
    text = json.dumps(arguments)
    return ResponseFunctionToolCall(type="function_call", call_id=str(next(COUNT)), name=name, arguments=text)


def delete(*ids):
    return [call("delete_email", email_id=email_id) for email_id in ids]


def done():
    text = ResponseOutputText(type="output_text", text="done", annotations=[])
    return [ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])]


@pytest.fixture
def tool(inbox):
    return function_tool(inbox.delete_email)


def ask(agent, task):
    return asyncio.run(Runner.run(agent, task, run_config=QUIET))


def test_both_texts_reach_the_model_and_the_second_call_is_made(memory, tool, inbox, task):
    model = Scripted(delete("m1"), delete("m1"), done())
    agent = Agent("a", instructions="You are X.", model=model, tools=[tool])
    ask(guided(agent, memory.start(task, ability="ambiguity")), task)
    instructions = model.requests[0][0]
    assert instructions.startswith("You are X.\n\n## Notes from earlier runs")
    assert "### Delete clear emails despite an ambiguous keep exception" in instructions
    held, made = model.told(2)
    assert "### EmailClient.delete_email" in held
    assert made == "deleted m1"
    assert inbox.deleted == ["m1"]


def test_parallel_calls_of_one_reply_are_held_together(memory, tool, inbox, task):
    model = Scripted(delete("m1", "m2"), delete("m1", "m2"), done())
    ask(guided(Agent("a", model=model, tools=[tool]), memory.start(task)), task)
    held, as_well, *made = model.told(2)
    assert "### EmailClient.delete_email" in held
    assert "was held as well" in as_well
    assert made == ["deleted m1", "deleted m2"]


def test_runs_of_one_agent_share_nothing_and_the_agent_stays_as_it_is(memory, tool, inbox, task):
    models = [Scripted(delete(name), delete(name), done()) for name in ("m1", "m2")]
    agent = Agent("a", instructions="You are X.", tools=[tool])

    async def one(model):
        mine = guided(agent, memory.start(task, run_id=str(id(model)))).clone(model=model)
        await Runner.run(mine, task, run_config=QUIET)

    async def both():
        await asyncio.gather(*map(one, models))

    asyncio.run(both())
    assert all("Not executed yet" in model.told(1)[0] for model in models)
    assert sorted(inbox.deleted) == ["m1", "m2"]
    assert agent.tools == [tool]
    assert tool.tool_input_guardrails is None
    assert agent.instructions == "You are X."


def test_an_error_brings_the_card_back(memory, inbox, task):
    default = function_tool(inbox.delete_email)
    own = function_tool(inbox.delete_email, failure_error_function=lambda context, error: f"Error: {error}")
    for tool in (default, own):
        model = Scripted(delete("m1"), delete("x"), delete("m1"), delete("m1"), done())
        ask(guided(Agent("a", model=model, tools=[tool]), memory.start(task)), task)
        _, _, again, made = model.told(4)
        assert "The last call of this function failed." in again
        assert made == "deleted m1"


def test_arguments_that_are_no_json_are_for_the_tool_to_refuse(memory, tool, task):
    broken = ResponseFunctionToolCall(type="function_call", call_id="b", name="delete_email", arguments="{")
    model = Scripted([broken], [broken.model_copy(update={"call_id": "c"})], delete("m1"), delete("m1"), done())
    ask(guided(Agent("a", model=model, tools=[tool]), memory.start(task)), task)
    held, refused, again, made = model.told(4)
    assert "Not executed yet" in held
    assert "error" in refused.lower()
    assert "The last call of this function failed." in again
    assert made == "deleted m1"


def test_guidance_and_holds_follow_a_handoff(memory, tool, inbox, task):
    model = Scripted([call("transfer_to_deleter")], delete("m1"), [call("back")], [call("transfer_to_deleter")])
    deleter = Agent("deleter", instructions=lambda context, agent: f"You are {agent.name}.", model=model, tools=[tool])
    first = Agent("first", model=model, handoffs=[deleter])
    deleter.handoffs = [handoff(first, tool_name_override="back")]
    model._replies = iter([*model._replies, delete("m1"), done()])
    ask(guided(first, memory.start(task, ability="ambiguity")), task)
    assert model.requests[0][0].startswith("## Notes from earlier runs")
    assert model.requests[1][0].startswith("You are deleter.\n\n## Notes from earlier runs")
    assert any("Not executed yet" in output for output in model.told(2))
    assert inbox.deleted == ["m1"], "back and forth it is one run, and the card is shown once"


def test_guardrails_of_one_s_own_come_first(memory, inbox, task):
    @tool_input_guardrail
    def refuse(data):
        return ToolGuardrailFunctionOutput.reject_content("Not you.")

    model = Scripted(delete("m1"), done())
    tool = function_tool(inbox.delete_email, tool_input_guardrails=[refuse])
    ask(guided(Agent("a", model=model, tools=[tool]), memory.start(task)), task)
    assert model.told(1) == ["Not you."]


def test_nothing_is_injected_when_memory_is_off(memory, tool, inbox, task, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    model = Scripted(delete("m1"), done())
    ask(guided(Agent("a", model=model, tools=[tool]), memory.start(task)), task)
    assert model.requests[0][0] is None
    assert inbox.deleted == ["m1"]
