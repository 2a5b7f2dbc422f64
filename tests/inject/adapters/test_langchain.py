import asyncio

import pytest

pytest.importorskip("langchain", reason="needs contramem[langchain]")

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command
from pydantic import PrivateAttr

from contramem.errors import UsageError
from contramem.inject.adapters.langchain import GuidedState, MemoryMiddleware


class Scripted(GenericFakeChatModel):
    """The framework's fake model, replying from a list. The messages of each request are kept."""

    _requests: list = PrivateAttr(default_factory=list)

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, *args, **options):
        self._requests.append(list(messages))
        return super()._generate(messages, *args, **options)

    @property
    def requests(self):
        return self._requests


COUNT = iter(range(10_000))


def script(*replies):
    return Scripted(messages=iter(replies))


def delete(*ids):
    return AIMessage(
        "", tool_calls=[{"name": "delete_email", "args": {"email_id": name}, "id": str(next(COUNT))} for name in ids]
    )


def done():
    return AIMessage("done")


@pytest.fixture
def tools(inbox):
    return [tool(inbox.delete_email)]


def told(request):
    """The messages since the last reply of the model."""
    return [
        message for message in request[[message.type for message in request].index("human") :] if message.type == "tool"
    ]


def ask(agent, text, **options):
    return agent.invoke({"messages": [HumanMessage(text)]}, **options)


def test_both_texts_reach_the_model_and_the_second_call_is_made(memory, tools, inbox, task):
    model = script(delete("m1"), delete("m1"), done())
    agent = create_agent(
        model, tools, system_prompt="You are X.", middleware=[MemoryMiddleware(memory, ability="ambiguity")]
    )
    result = ask(agent, task)
    system = model.requests[0][0]
    assert isinstance(system, SystemMessage)
    assert system.content.startswith("You are X.\n\n## Notes from earlier runs")
    assert "### Delete clear emails despite an ambiguous keep exception" in system.content
    held, made = told(model.requests[2])
    assert "### EmailClient.delete_email" in held.content
    assert (held.status, held.additional_kwargs) == ("error", {"contramem": "held"})
    assert (made.status, made.content) == ("success", "deleted m1")
    assert inbox.deleted == ["m1"]
    assert "contramem_run" not in result


def test_async_agents_too(memory, inbox, task):
    @tool
    async def delete_email(email_id: str) -> str:
        """Delete one email."""
        return inbox.delete_email(email_id)

    async def one(name):
        model = script(delete(name, name), delete(name), done())
        agent = create_agent(model, [delete_email], middleware=[middleware])
        await agent.ainvoke({"messages": [HumanMessage(task)]})
        return model.requests

    async def both():
        return await asyncio.gather(one("m1"), one("m2"))

    middleware = MemoryMiddleware(memory)
    for requests in asyncio.run(both()):
        assert requests[0][0].content.startswith("## Notes from earlier runs")
        held, as_well, made = told(requests[2])
        assert "### EmailClient.delete_email" in held.content
        assert "was held as well" in as_well.content
        assert made.content.startswith("deleted")
    assert sorted(inbox.deleted) == ["m1", "m2"]


def test_parallel_calls_of_one_reply_are_held_together(memory, tools, inbox, task):
    model = script(delete("m1", "m2", "m3"), delete("m1", "m2", "m3"), done())
    ask(create_agent(model, tools, middleware=[MemoryMiddleware(memory)]), task)
    texts = [message.content for message in told(model.requests[1])]
    assert sum("### EmailClient.delete_email" in text for text in texts) == 1
    assert sum("was held as well" in text for text in texts) == 2
    assert sorted(inbox.deleted) == ["m1", "m2", "m3"]


def test_each_invocation_is_a_run_even_of_one_message_object(memory, tools, inbox, task):
    started = []
    model = script(delete("m1"), delete("m1"), done(), delete("m2"), delete("m2"), done())
    agent = create_agent(model, tools, middleware=[MemoryMiddleware(memory, on_start=started.append)])
    message = HumanMessage(task)
    for _ in range(2):
        agent.invoke({"messages": [message]})
    assert "Not executed yet" in told(model.requests[1])[-1].content
    assert "Not executed yet" in told(model.requests[4])[-1].content
    assert inbox.deleted == ["m1", "m2"]
    assert len({run.run_id for run in started}) == 2


def test_an_error_brings_the_card_back(memory, inbox, task):
    def failing(email_id: str) -> str:
        """Delete one email."""
        return inbox.delete_email(email_id)

    for handled in (True, "That failed."):
        erring = tool("delete_email")(failing)
        erring.handle_tool_error = handled
        model = script(delete("m1"), delete("x"), delete("m1"), delete("m1"), done())
        graph = own_graph(model, MemoryMiddleware(memory), ToolNode, [erring], handle_tool_errors=handled)
        ask(graph, task)
        _, failed, again, made = told(model.requests[4])
        assert failed.status == "error"
        assert "The last call of this function failed." in again.content
        assert made.content == "deleted m1"


def test_an_error_that_ends_the_run_is_still_raised(memory, tools, task):
    agent = create_agent(script(delete("m1"), delete("x")), tools, middleware=[MemoryMiddleware(memory)])
    with pytest.raises(ValueError, match="no email x"):
        ask(agent, task)


def own_graph(model, middleware, node, tools, checkpointer=None, **options):
    """A graph without `create_agent`, as in the documents."""

    def call_model(state):
        guidance = middleware.guidance(state, [one.name for one in tools])
        system = [SystemMessage(guidance)] if guidance else []
        return {"messages": [model.invoke(system + state["messages"])]}

    wrapped = node(
        tools, wrap_tool_call=middleware.wrap_tool_call, awrap_tool_call=middleware.awrap_tool_call, **options
    )
    return (
        StateGraph(GuidedState)
        .add_node("guide", middleware.before_agent)
        .add_node("model", call_model)
        .add_node("tools", wrapped)
        .add_edge(START, "guide")
        .add_edge("guide", "model")
        .add_conditional_edges("model", tools_condition)
        .add_edge("tools", "model")
        .compile(checkpointer=checkpointer)
    )


def test_a_graph_of_one_s_own(memory, tools, inbox, task):
    model = script(delete("m1", "m2"), delete("m1"), done())
    ask(own_graph(model, MemoryMiddleware(memory, ability="ambiguity"), ToolNode, tools), task)
    assert "### Delete clear emails" in model.requests[0][0].content
    held, as_well, made = told(model.requests[2])
    assert "### EmailClient.delete_email" in held.content
    assert "was held as well" in as_well.content
    assert made.content == "deleted m1"
    assert inbox.deleted == ["m1"]


def test_a_graph_that_does_not_name_its_runs_is_told_what_to_do(memory, tools, task):
    middleware = MemoryMiddleware(memory)
    node = ToolNode(tools, wrap_tool_call=middleware.wrap_tool_call, handle_tool_errors=False)
    graph = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").compile()
    with pytest.raises(UsageError, match="has no 'contramem_run'"):
        graph.invoke({"messages": [HumanMessage(task), delete("m1")]})


def test_a_run_goes_on_after_an_interrupt(memory, tools, inbox, task):
    model = script(delete("m1"), delete("m1"), done())
    ask_person = HumanInTheLoopMiddleware(interrupt_on={"delete_email": True})
    agent = create_agent(model, tools, middleware=[MemoryMiddleware(memory), ask_person], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    ask(agent, task, config=thread)
    approve = Command(resume={"decisions": [{"type": "approve"}]})
    agent.invoke(approve, config=thread)
    assert "Not executed yet" in told(model.requests[1])[-1].content
    agent.invoke(approve, config=thread)
    assert inbox.deleted == ["m1"]


def test_the_task_is_all_the_user_wrote_in_the_thread(memory, tools, task):
    started = []
    model = script(done(), done())
    middleware = MemoryMiddleware(memory, on_start=started.append)
    agent = create_agent(model, tools, middleware=[middleware], checkpointer=InMemorySaver())
    for text in (task, "Yes."):
        ask(agent, text, config={"configurable": {"thread_id": "1"}})
    assert [run.task for run in started] == [task, f"{task}\n\nYes."]


def test_content_blocks_of_a_system_message_stay_as_they_are(memory, tools, task):
    block = {"type": "text", "text": "You are X.", "cache_control": {"type": "ephemeral"}}
    model = script(done())
    agent = create_agent(
        model, tools, system_prompt=SystemMessage([block]), middleware=[MemoryMiddleware(memory, ability="ambiguity")]
    )
    ask(agent, task)
    first, second = model.requests[0][0].content
    assert first == block
    assert second["text"].startswith("## Notes from earlier runs")


def test_nothing_is_injected_when_memory_is_off(memory, tools, inbox, task, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    model = script(delete("m1"), done())
    ask(create_agent(model, tools, middleware=[MemoryMiddleware(memory)]), task)
    assert [message.type for message in model.requests[0]] == ["human"]
    assert inbox.deleted == ["m1"]


def test_a_thread_is_one_run_and_another_is_another(memory, tools, inbox, task):
    started = []
    model = script(delete("m1"), delete("m1"), done(), delete("m2"), done(), delete("m3"), delete("m3"), done())
    guide = MemoryMiddleware(memory, ability="ambiguity", on_start=started.append)
    agent = create_agent(model, tools, middleware=[guide], checkpointer=InMemorySaver())

    def ask(text, thread):
        config = {"configurable": {"thread_id": thread}}
        return agent.invoke({"messages": [HumanMessage(text)]}, config)["messages"]

    ask(task, "a")
    ask("And the one of May.", "a")
    assert inbox.deleted == ["m1", "m2"], "what was held stays held: its card is in the thread"
    assert [run.task for run in started] == [task, f"{task}\n\nAnd the one of May."], "each prompt gets guidance"
    ask(task, "b")
    assert inbox.deleted == ["m1", "m2", "m3"]
    assert len({run.run_id for run in started}) == 2
