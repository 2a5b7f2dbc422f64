import asyncio
from threading import Barrier, get_ident
from typing import ClassVar

import pytest

pytest.importorskip("langchain", reason="needs contramem[langchain]")

from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ToolCallLimitMiddleware,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command
from pydantic import BaseModel, PrivateAttr
from strict_provider import assert_cacheable, problems_in

from contramem.errors import UsageError
from contramem.inject.adapters.langchain import GuidedState, MemoryMiddleware


class Scripted(GenericFakeChatModel):
    """The framework's fake model, replying from a list. The messages of each request are kept."""

    kept: ClassVar[list] = []
    _requests: list = PrivateAttr(default_factory=list)

    _bound: list = PrivateAttr(default_factory=list)

    def bind_tools(self, tools, **options):
        self._bound[:] = tools
        return self

    @property
    def bound(self):
        return self._bound

    def _generate(self, messages, *args, **options):
        self._requests.append(list(messages))
        type(self).kept.append(list(messages))
        return super()._generate(messages, *args, **options)

    @property
    def requests(self):
        return self._requests


COUNT = iter(range(10_000))
OPEN, LOOK = ("open_ticket", {"reason": "late"}), ("lookup_code", {"topic": "late"})
NOTICE = ("send_notice", {"text": "x"})
CLOSE = ("close_ticket", {"ticket": "T1"})


def script(*replies):
    return Scripted(messages=iter([*map(reply, replies), AIMessage("done"), AIMessage("done"), AIMessage("done")]))


def reply(calls):
    if isinstance(calls, str):
        return AIMessage(calls)
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": str(next(COUNT))} for name, args in calls])


def delete(*ids):
    return reply([("delete_email", {"email_id": name}) for name in ids])


@pytest.fixture
def tools(office):
    return [tool(own) for own in office.tools]


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """Every request of every model in these tests is one that a provider would take."""
    requests = []
    monkeypatch.setattr(Scripted, "kept", requests, raising=False)
    yield
    for messages in requests:
        assert not problems_in([_as_chat(message) for message in messages])


def _as_chat(message):
    calls = [{"id": call["id"]} for call in getattr(message, "tool_calls", ())]
    return {"role": message.type, "tool_calls": calls, "tool_call_id": getattr(message, "tool_call_id", None)}


def results(request):
    return [message for message in request if message.type == "tool"]


def ask(agent, text, **options):
    return agent.invoke({"messages": [HumanMessage(text)]}, **options)


def test_guidance_is_in_the_system_message(desk, tools, open_task):
    model = script()
    ask(create_agent(model, tools, system_prompt="You are X.", middleware=[MemoryMiddleware(desk)]), open_task)
    assert model.requests[0][0].content.startswith("You are X.\n\n## Notes from earlier runs")


def test_a_line_is_in_the_description_of_a_tool(desk, tools, open_task):
    model = script()
    ask(create_agent(model, tools, middleware=[MemoryMiddleware(desk)]), open_task)
    assert any("Closing fails while a notice is missing" in own.description for own in model.bound)
    assert tools[3].description == "Close a ticket.", "the tool itself stays as it is"


def test_a_call_that_would_break_a_guard_is_held_once_and_then_made(desk, tools, office, open_task):
    model = script([OPEN], [LOOK], [OPEN], [NOTICE])
    ask(create_agent(model, tools, middleware=[MemoryMiddleware(desk)]), open_task)
    first = results(model.requests[-1])[0]
    assert "Not executed yet" in first.content
    assert (first.status, first.additional_kwargs) == ("error", {"contramem": "held"})
    assert office.done == ["lookup_code", "open_ticket", "send_notice"]
    assert_cacheable([[(message.type, message.content) for message in request] for request in model.requests])


def test_async_agents_too(desk, tools, office, open_task):
    model = script([OPEN, OPEN], [LOOK], [OPEN], [NOTICE])
    agent = create_agent(model, tools, middleware=[MemoryMiddleware(desk)])
    asyncio.run(agent.ainvoke({"messages": [HumanMessage(open_task)]}))
    first, second, *_ = results(model.requests[-1])
    assert "Look up the reason code" in first.content
    assert "was held as well" in second.content
    assert office.done == ["lookup_code", "open_ticket", "send_notice"]


def test_a_call_in_the_reply_that_gives_the_structured_answer_is_made(desk, tools, office, open_task):
    class Verdict(BaseModel):
        """The answer."""

        text: str

    model = script([OPEN, ("Verdict", {"text": "done"})])
    agent = create_agent(model, tools, middleware=[MemoryMiddleware(desk)], response_format=ToolStrategy(Verdict))
    assert ask(agent, open_task)["structured_response"] == Verdict(text="done")
    assert office.done == ["open_ticket"]


def test_a_call_whose_result_is_the_answer_is_made_and_its_result_stays(desk, office, open_task):
    model = script([OPEN])
    direct = tool("open_ticket", return_direct=True)(office.open_ticket)
    agent = create_agent(model, [direct], middleware=[MemoryMiddleware(desk)])
    assert ask(agent, open_task)["messages"][-1].content == "ticket T1 is open"


LAST_CALL, ROOMY = {"recursion_limit": 4}, {"recursion_limit": 30}
"""A limit that the tools' step of the first reply reaches, and one that leaves room for what a held call leads to."""


def test_a_call_in_the_last_step_of_the_recursion_limit_is_made(desk, tools, office, open_task):
    agent = create_agent(script([OPEN], [LOOK]), tools, middleware=[MemoryMiddleware(desk)])
    with pytest.raises(GraphRecursionError):
        ask(agent, open_task, config=LAST_CALL)
    assert office.done == ["open_ticket"]


def test_a_call_is_held_where_the_recursion_limit_leaves_room(desk, tools, office, open_task):
    agent = create_agent(script([OPEN], [LOOK], [OPEN], [NOTICE]), tools, middleware=[MemoryMiddleware(desk)])
    ask(agent, open_task, config=ROOMY)
    assert office.done == ["lookup_code", "open_ticket", "send_notice"]


def test_each_request_of_a_thread_has_its_own_recursion_limit(desk, tools, office, open_task):
    model = script("Hello.", [OPEN], [LOOK], [OPEN], [NOTICE])
    agent = create_agent(model, tools, middleware=[MemoryMiddleware(desk)], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    ask(agent, "Hello.", config=thread | {"recursion_limit": 5})
    ask(agent, open_task, config=thread | ROOMY)
    assert office.done == ["lookup_code", "open_ticket", "send_notice"]


def test_an_answer_in_the_last_step_is_not_lost_to_a_reminder(desk, tools, office, open_task):
    agent = create_agent(script([LOOK], [OPEN]), tools, middleware=[MemoryMiddleware(desk)])
    answer = ask(agent, open_task, config={"recursion_limit": 11})["messages"][-1]
    assert answer.content == "done"


def test_a_graph_of_one_s_own_makes_a_call_in_its_last_step(desk, tools, office, open_task):
    graph = own_graph(script([OPEN]), MemoryMiddleware(desk), ToolNode, tools)
    with pytest.raises(GraphRecursionError):
        ask(graph, open_task, config={"recursion_limit": 3})
    assert office.done == ["open_ticket"]


def test_a_graph_that_does_not_say_how_many_steps_are_left_makes_every_call(desk, tools, office, open_task):
    class OwnState(MessagesState):
        contramem_run: str

    graph = own_graph(script([OPEN]), MemoryMiddleware(desk), ToolNode, tools, state=OwnState)
    ask(graph, open_task)
    assert office.done == ["open_ticket"]


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("limiting", [ModelCallLimitMiddleware, ToolCallLimitMiddleware])
def test_a_call_is_made_where_other_middleware_limits_the_run(desk, tools, office, open_task, limiting, is_first):
    limited = limiting(run_limit=1)
    middleware = [limited, MemoryMiddleware(desk)] if is_first else [MemoryMiddleware(desk), limited]
    ask(create_agent(script([OPEN], [LOOK], [OPEN]), tools, middleware=middleware), open_task)
    assert office.done == ["open_ticket"]


def test_an_answer_is_not_lost_to_a_reminder_where_other_middleware_limits_the_run(desk, tools, office, open_task):
    middleware = [ModelCallLimitMiddleware(run_limit=3), MemoryMiddleware(desk)]
    agent = create_agent(script([LOOK], [OPEN], "the answer"), tools, middleware=middleware)
    assert ask(agent, open_task)["messages"][-1].content == "the answer"


def test_a_call_beside_a_tool_that_leaves_the_agent_is_made(desk, tools, office, open_task):
    @tool
    def ask_a_colleague(topic: str) -> Command:
        """Hand the conversation to a colleague."""
        return Command(goto="colleague", graph=Command.PARENT)

    agent = create_agent(
        script([OPEN, ("ask_a_colleague", {"topic": "late"})]),
        [*tools, ask_a_colleague],
        middleware=[MemoryMiddleware(desk)],
    )
    parent = StateGraph(MessagesState).add_node("desk", agent).add_node("colleague", lambda state: {"messages": []})
    ask(parent.add_edge(START, "desk").compile(), open_task)
    assert office.done == ["open_ticket"]


def test_a_failure_brings_the_card_beside_its_result(desk, tools, open_task):
    model = script([CLOSE], [CLOSE])
    ask(create_agent(model, tools, middleware=[MemoryMiddleware(desk)]), open_task)
    failed, again = results(model.requests[-1])
    assert failed.content.startswith("Error: a notice is missing\n\n[Note from earlier runs")
    assert "failed with these very arguments" in again.content


def test_what_is_open_is_said_before_the_end_once(desk, tools, open_task):
    model = script([LOOK], [OPEN], "finished", "really finished")
    agent = create_agent(model, tools, middleware=[MemoryMiddleware(desk)])
    assert ask(agent, open_task)["messages"][-1].content == "really finished"
    assert "Before you finish" in model.requests[-1][-1].content


def test_each_invocation_is_a_run_even_of_one_message_object(desk, tools, office, open_task):
    started = []
    agent = create_agent(
        script([LOOK], "a", [LOOK], "b"), tools, middleware=[MemoryMiddleware(desk, on_start=started.append)]
    )
    message = HumanMessage(open_task)
    for _ in range(2):
        agent.invoke({"messages": [message]})
    assert len({run.run_id for run in started}) == 2


def test_an_error_that_ends_the_run_is_still_raised(memory, inbox, task):
    agent = create_agent(
        Scripted(messages=iter([delete("x")])), [tool(inbox.delete_email)], middleware=[MemoryMiddleware(memory)]
    )
    with pytest.raises(ValueError, match="no email x"):
        ask(agent, task)


def own_graph(model, middleware, node, tools, checkpointer=None, state=GuidedState, **options):
    """A graph without `create_agent`, as in the documents."""

    def call_model(state):
        guidance = middleware.guidance(state, [own.name for own in tools])
        system = [SystemMessage(guidance)] if guidance else []
        return {"messages": [model.invoke(system + state["messages"])]}

    wrapped = node(
        tools, wrap_tool_call=middleware.wrap_tool_call, awrap_tool_call=middleware.awrap_tool_call, **options
    )
    return (
        StateGraph(state)
        .add_node("guide", middleware.before_agent)
        .add_node("model", call_model)
        .add_node("tools", wrapped)
        .add_edge(START, "guide")
        .add_edge("guide", "model")
        .add_conditional_edges("model", tools_condition)
        .add_edge("tools", "model")
        .compile(checkpointer=checkpointer)
    )


def test_a_graph_of_one_s_own(desk, tools, office, open_task):
    model = script([OPEN], [LOOK], [OPEN])
    ask(own_graph(model, MemoryMiddleware(desk), ToolNode, tools), open_task)
    assert "### Look up the reason code" in model.requests[0][0].content
    assert "Not executed yet" in results(model.requests[-1])[0].content
    assert office.done == ["lookup_code", "open_ticket"]


def test_a_graph_that_does_not_name_its_runs_is_told_what_to_do(memory, tools, task):
    middleware = MemoryMiddleware(memory)
    node = ToolNode(tools, wrap_tool_call=middleware.wrap_tool_call, handle_tool_errors=False)
    graph = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").compile()
    with pytest.raises(UsageError, match="has no 'contramem_run'"):
        graph.invoke({"messages": [HumanMessage(task), delete("m1")]})


def test_a_run_goes_on_after_an_interrupt(desk, tools, office, open_task):
    model = script([OPEN], [LOOK], [OPEN])
    ask_person = HumanInTheLoopMiddleware(interrupt_on={"open_ticket": True})
    agent = create_agent(model, tools, middleware=[MemoryMiddleware(desk), ask_person], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    ask(agent, open_task, config=thread)
    approve = Command(resume={"decisions": [{"type": "approve"}]})
    agent.invoke(approve, config=thread)
    agent.invoke(approve, config=thread)
    assert office.done == ["lookup_code", "open_ticket"]


def test_a_thread_is_one_run_whose_later_requests_add_only_what_is_new(memory, tools, task):
    started = []
    model = script("a", "b")
    middleware = MemoryMiddleware(memory, tools=None, on_start=started.append)
    agent = create_agent(model, tools, middleware=[middleware], checkpointer=InMemorySaver())
    for text in (task, "Now order a ride to the airport with a cab."):
        ask(agent, text, config={"configurable": {"thread_id": "1"}})
    first, second = model.requests
    assert second[0] == first[0], "the system message is never rewritten"
    assert "Cab.order_ride" in second[-1].content
    assert "### Delete clear emails" not in second[-1].content
    assert len(started) == 1


def test_content_blocks_of_a_system_message_stay_as_they_are(desk, tools, open_task):
    block = {"type": "text", "text": "You are X.", "cache_control": {"type": "ephemeral"}}
    model = script()
    ask(
        create_agent(model, tools, system_prompt=SystemMessage([block]), middleware=[MemoryMiddleware(desk)]), open_task
    )
    first, second = model.requests[0][0].content
    assert first == block
    assert second["text"].startswith("## Notes from earlier runs")


def test_nothing_is_said_when_memory_is_off(desk, tools, office, open_task, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    model = script([OPEN])
    ask(create_agent(model, tools, middleware=[MemoryMiddleware(desk)]), open_task)
    assert [message.type for message in model.requests[0]] == ["human"]
    assert office.done == ["open_ticket"]


PUSH, LIST, WHERE = ("git push", "ls", "pwd")


@pytest.mark.parametrize("order", [(LIST, WHERE, PUSH), (PUSH, LIST, WHERE)])
def test_calls_that_a_tool_node_makes_in_threads_are_told_apart_by_their_program(desk, open_task, order):
    """The push failed before, so it is held; the other two wait for each other, which only threads can do."""
    together, ran = Barrier(2, timeout=20), []

    @tool
    def bash(command: str) -> str:
        """Run a command."""
        if command == PUSH:
            return "Exit code 128: the branch is behind"
        together.wait()
        ran.append((command, get_ident()))
        return "ok"

    calls = [("bash", {"command": command}) for command in order]
    model = script([("bash", {"command": PUSH})], calls, [("bash", {"command": PUSH})])
    ask(own_graph(model, MemoryMiddleware(desk), ToolNode, [bash]), open_task)
    _, *parallel, last = results(model.requests[-1])
    answers = dict(zip(order, [message.content for message in parallel], strict=True))
    assert "failed with these very arguments" in answers[PUSH]
    assert (answers[LIST], answers[WHERE]) == ("ok", "ok")
    assert len({thread for _, thread in ran}) == 2
    assert last.content.startswith("Exit code 128"), "a call is held once"
