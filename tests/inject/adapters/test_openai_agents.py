"""The real OpenAI Agents SDK, over HTTP, with a strict provider."""

import asyncio

import pytest

pytest.importorskip("agents", reason="needs contramem[openai-agents]")

from agents import Agent, MaxTurnsExceeded, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool
from agents.run import DEFAULT_MAX_TURNS
from openai import AsyncOpenAI

from contramem.inject.adapters.openai_agents import guided, run_guided

QUIET = RunConfig(tracing_disabled=True)
OPEN, LOOK = ("open_ticket", {"reason": "late"}), ("lookup_code", {"topic": "late"})
NOTICE = ("send_notice", {"text": "x"})
CLOSE = ("close_ticket", {"ticket": "T1"})


def agent(provider, office, name="desk", **options):
    client = AsyncOpenAI(base_url=provider.url, api_key="none")
    model = OpenAIChatCompletionsModel("m", client)
    return Agent(name, instructions="You are X.", model=model, tools=[*map(function_tool, office.tools)], **options)


def run(desk, own, task):
    own = guided(own, desk.start(task), max_turns=DEFAULT_MAX_TURNS)
    return asyncio.run(Runner.run(own, task, run_config=QUIET)).final_output


def test_guidance_is_in_the_instructions_and_a_line_in_the_tool(desk, provider, office, open_task):
    own = agent(provider, office)
    run(desk, own, open_task)
    system = provider.bodies[0]["messages"][0]["content"]
    assert system.startswith("You are X.\n\n## Notes from earlier runs")
    assert "Closing fails while a notice is missing" in provider.tool("close_ticket")
    assert own.instructions == "You are X.", "the agent itself stays as it is"
    assert own.tools[3].description == "Close a ticket."


def test_a_call_that_would_break_a_guard_is_held_once_and_then_made(desk, provider, office, open_task):
    provider.replies = [[OPEN], [LOOK], [OPEN], [NOTICE]]
    run(desk, agent(provider, office), open_task)
    assert "Not executed yet" in provider.results()[0]
    assert office.done == ["lookup_code", "open_ticket", "send_notice"]
    provider.assert_cacheable()


def test_calls_of_one_reply_are_held_together(desk, provider, office, open_task):
    provider.replies = [[OPEN, OPEN], [LOOK]]
    run(desk, agent(provider, office), open_task)
    first, second, _ = provider.results()
    assert "Look up the reason code" in first
    assert "was held as well" in second


def test_a_failure_brings_the_card_beside_its_result(desk, provider, office, open_task):
    provider.replies = [[CLOSE], [CLOSE]]
    run(desk, agent(provider, office), open_task)
    failed, again = provider.results()
    assert failed.startswith("Error: a notice is missing\n\n[Note from earlier runs")
    assert "failed with these very arguments" in again


def test_a_result_that_ends_the_run_is_made_and_stays_as_it_is(desk, provider, office, open_task):
    provider.replies = [[OPEN]]
    own = agent(provider, office, tool_use_behavior="stop_on_first_tool")
    assert run(desk, own, open_task) == "ticket T1 is open"


def test_a_call_beside_a_handoff_is_made(desk, provider, office, open_task):
    other = agent(provider, office, name="other")
    provider.replies = [[OPEN, ("transfer_to_other", {})]]
    run(desk, agent(provider, office, handoffs=[other]), open_task)
    assert office.done == ["open_ticket"]
    assert "## Notes from earlier runs" in provider.bodies[1]["messages"][0]["content"], "guidance follows"


def test_a_call_in_the_last_turn_is_made(desk, provider, office, open_task):
    provider.replies = [[OPEN]]
    with pytest.raises(MaxTurnsExceeded):
        asyncio.run(
            run_guided(agent(provider, office), desk.start(open_task), open_task, max_turns=1, run_config=QUIET)
        )
    assert office.done == ["open_ticket"]


@pytest.mark.parametrize(("max_turns", "done"), [(1, ["open_ticket"]), (4, []), (None, [])])
def test_a_guided_agent_holds_a_call_only_where_turns_are_left(desk, provider, office, open_task, max_turns, done):
    provider.replies = [[OPEN]]
    own = guided(agent(provider, office), desk.start(open_task), max_turns=max_turns)
    asyncio.run(Runner.run(own, open_task, run_config=QUIET))
    assert office.done == done


def test_a_guided_agent_whose_turns_nobody_told_makes_every_call_and_is_warned(desk, provider, office, open_task):
    provider.replies = [[OPEN]]
    own = guided(agent(provider, office), desk.start(open_task))
    asyncio.run(Runner.run(own, open_task, max_turns=2, run_config=QUIET))
    assert office.done == ["open_ticket"]
    assert "lookup_code" in provider.results()[0]


def test_calls_are_not_held_in_the_last_of_the_runner_s_turns(desk, provider, office, open_task):
    provider.replies = [*[[LOOK]] * 8, [CLOSE], [CLOSE]]
    with pytest.raises(MaxTurnsExceeded):
        run(desk, agent(provider, office), open_task)
    assert office.done[8:] == ["close_ticket", "close_ticket"], "the tenth turn is the last: a repetition is made"


def test_an_answer_is_not_lost_to_a_reminder_that_takes_too_many_turns(desk, provider, office, open_task):
    provider.replies = [[LOOK], [OPEN], ["the answer"], [NOTICE], [NOTICE], [NOTICE]]
    own, started = agent(provider, office), desk.start(open_task)
    result = asyncio.run(run_guided(own, started, open_task, max_turns=3, run_config=QUIET))
    assert result.final_output == "the answer"


def test_arguments_that_are_no_json_are_for_the_tool_to_refuse(desk, provider, office, open_task):
    provider.replies = [[("open_ticket", "late")]]
    run(desk, agent(provider, office), open_task)
    assert office.done == []


def test_nothing_is_said_when_memory_is_off(desk, provider, office, open_task, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    provider.replies = [[OPEN]]
    run(desk, agent(provider, office), open_task)
    assert provider.bodies[0]["messages"][0]["content"] == "You are X."
    assert office.done == ["open_ticket"]


def test_what_is_still_open_is_asked_for_once_before_the_end(desk, provider, office, open_task):
    provider.replies = [[LOOK], [OPEN], ["done"], [NOTICE], ["done, with a notice"]]
    result = asyncio.run(run_guided(agent(provider, office), desk.start(open_task), open_task, run_config=QUIET))
    assert result.final_output == "done, with a notice"
    assert office.done == ["lookup_code", "open_ticket", "send_notice"]
    assert str(provider.bodies[-1]["messages"]).count("this is still open") == 1
    provider.assert_cacheable()


def test_a_run_that_owes_nothing_ends_as_it_would(desk, provider, office, open_task):
    provider.replies = [["done"]]
    result = asyncio.run(run_guided(agent(provider, office), desk.start(open_task), open_task, run_config=QUIET))
    assert (result.final_output, len(provider.bodies)) == ("done", 1)
