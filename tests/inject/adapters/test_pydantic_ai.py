"""The real PydanticAI, over HTTP, with a strict provider."""

import asyncio
import contextlib

import pytest

pytest.importorskip("pydantic_ai", reason="needs contramem[pydantic-ai]")
pytest.importorskip("openai", reason="needs the OpenAI client")

from pydantic import BaseModel
from pydantic_ai import Agent, ApprovalRequired, DeferredToolRequests, DeferredToolResults, ModelRetry, RunContext
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

from contramem.inject.adapters.pydantic_ai import MemoryCapability

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
OPEN, LOOK = ("open_ticket", {"reason": "late"}), ("lookup_code", {"topic": "late"})
NOTICE = ("send_notice", {"text": "x"})
CLOSE = ("close_ticket", {"ticket": "T1"})


class Verdict(BaseModel):
    """What the agent gives back."""

    text: str


def agent(desk, provider, tools, **options):
    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=provider.url, api_key="none"))
    capability = MemoryCapability(desk, on_start=options.pop("on_start", None))
    return Agent(model, instructions="You are X.", tools=tools, capabilities=[capability], retries=3, **options)


def run(guided, prompt, **options):
    # Not run_sync, which leaves its event loop open.
    return asyncio.run(guided.run(prompt, **options))


def system(body):
    return "\n".join(message["content"] for message in body["messages"] if message["role"] in ("system", "developer"))


def test_guidance_is_in_the_instructions_and_a_line_in_the_tool(desk, provider, office, open_task):
    run(agent(desk, provider, office.tools), open_task)
    assert system(provider.bodies[0]).startswith("You are X.")
    assert "### Look up the reason code before opening a ticket" in system(provider.bodies[0])
    assert "Closing fails while a notice is missing" in provider.tool("close_ticket")


def test_a_call_that_would_break_a_guard_is_held_once_and_then_made(desk, provider, office, open_task):
    provider.replies = [[OPEN], [LOOK], [OPEN], [NOTICE]]
    run(agent(desk, provider, office.tools), open_task)
    assert "Not executed yet" in provider.results()[0]
    assert office.done == ["lookup_code", "open_ticket", "send_notice"]
    provider.assert_cacheable()


def test_a_card_that_was_shown_in_full_at_the_start_costs_no_turn_and_is_not_shown_again(
    desk, provider, office, open_task
):
    provider.replies = [[LOOK], [OPEN], [NOTICE]]
    run(agent(desk, provider, office.tools), open_task)
    assert office.done == ["lookup_code", "open_ticket", "send_notice"]
    assert len(provider.bodies) == 4, "three calls and the answer"
    assert str(provider.bodies[-1]).count("### Look up the reason code before opening a ticket") == 1


def test_a_call_in_the_reply_that_gives_the_output_is_made(desk, provider, office, open_task):
    provider.replies = [[OPEN, ("final_result", {"text": "done"})]]
    guided = agent(desk, provider, office.tools, output_type=Verdict, end_strategy="exhaustive")
    assert run(guided, open_task).output == Verdict(text="done")
    assert office.done == ["open_ticket"]


TOKENS_OF_A_REPLY = 2
"""Input and output, as the provider says."""


@pytest.mark.parametrize(
    "limits",
    [
        {"request_limit": 1},
        {"request_limit": 3},
        {"tool_calls_limit": 3},
        {"input_tokens_limit": 5},
        {"output_tokens_limit": 5},
        {"total_tokens_limit": 10 * TOKENS_OF_A_REPLY - 1},
        {"per_request_input_tokens_limit": 5},
    ],
)
def test_a_call_is_made_where_the_limits_of_the_run_leave_no_room_to_make_it_later(
    desk, provider, office, open_task, limits
):
    provider.replies = [[OPEN], [LOOK], [OPEN], [NOTICE]]
    with contextlib.suppress(UsageLimitExceeded):
        run(agent(desk, provider, office.tools), open_task, usage_limits=UsageLimits(**limits))
    assert office.done[0] == "open_ticket"


def test_a_call_of_a_run_with_a_deadline_is_made(desk, provider, office, open_task):
    provider.replies = [[OPEN]]
    run(agent(desk, provider, office.tools), open_task, timeout=60)
    assert office.done == ["open_ticket"]


@pytest.mark.parametrize(
    "limits",
    [{"request_limit": 5}, {"request_limit": None}, {"tool_calls_limit": 5}, {"total_tokens_limit": 1000}],
)
def test_a_call_is_held_where_the_limits_of_the_run_leave_room(desk, provider, office, open_task, limits):
    provider.replies = [[OPEN], [LOOK], [OPEN], [NOTICE]]
    run(agent(desk, provider, office.tools), open_task, usage_limits=UsageLimits(**limits))
    assert office.done == ["lookup_code", "open_ticket", "send_notice"]


def test_an_answer_at_the_request_limit_is_not_lost_to_a_reminder(desk, provider, office, open_task):
    provider.replies = [[LOOK], [OPEN], ["done"]]
    result = run(agent(desk, provider, office.tools), open_task, usage_limits=UsageLimits(request_limit=3))
    assert result.output == "done"


def test_a_failure_brings_the_card_beside_its_result(desk, provider, office, open_task):
    provider.replies = [[CLOSE], [NOTICE], [CLOSE]]
    run(agent(desk, provider, office.tools), open_task)
    assert "### desk.close_ticket" in str(provider.bodies[1]["messages"][-1])
    assert provider.results(1) == ["Error: a notice is missing"], "results stay as they are"
    provider.assert_cacheable()


def test_what_is_open_is_said_before_the_end_once(desk, provider, office, open_task):
    provider.replies = [[LOOK], [OPEN], ["done"], ["really done"]]
    result = run(agent(desk, provider, office.tools), open_task)
    assert "Before you finish" in str(provider.bodies[3]["messages"][-1])
    assert result.output == "really done"
    assert len(provider.bodies) == 4


def test_a_conversation_is_one_run_and_a_later_request_adds_only_what_is_new(desk, provider, office, open_task):
    started = []
    guided = agent(desk, provider, office.tools, on_start=started.append)
    first = run(guided, open_task)
    run(guided, "Thank you.", message_history=first.all_messages())
    assert len(started) == 1
    provider.assert_cacheable()


def test_runs_of_one_agent_share_nothing(desk, provider, office, open_task):
    guided = agent(desk, provider, office.tools)
    for _ in range(2):
        provider.replies = [[OPEN], [LOOK], [OPEN], [NOTICE]]
        run(guided, open_task)
        assert "Not executed yet" in provider.results()[0]


def test_an_error_that_is_raised_is_a_failure(desk, provider, open_task):
    def close_ticket(ticket: str) -> str:
        """Close a ticket."""
        raise ModelRetry("a notice is missing")

    provider.replies = [[CLOSE], [CLOSE]]
    run(agent(desk, provider, [close_ticket]), open_task)
    assert "### desk.close_ticket" in str(provider.bodies[1]["messages"])
    assert "failed with these very arguments" in provider.results()[-1]


def test_a_call_that_a_person_approved_is_made(desk, provider, office, open_task):
    def open_ticket(ctx: RunContext, reason: str) -> str:
        """Open a ticket."""
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return office.open_ticket(reason)

    provider.replies = [[LOOK], [OPEN], ["done"]]
    guided = agent(desk, provider, [office.lookup_code, open_ticket], output_type=[str, DeferredToolRequests])
    asked = run(guided, open_task)
    call = asked.output.approvals[0]
    results = DeferredToolResults(approvals={call.tool_call_id: True})
    run(guided, None, message_history=asked.all_messages(), deferred_tool_results=results)
    assert office.done == ["lookup_code", "open_ticket"]


def test_the_framework_s_own_test_model_is_served(desk, office, open_task):
    guided = Agent(TestModel(), tools=office.tools, capabilities=[MemoryCapability(desk)])
    assert run(guided, open_task).output
    assert set(office.done) == {"lookup_code", "open_ticket", "send_notice", "close_ticket"}


def test_nothing_is_said_when_memory_is_off(desk, provider, office, open_task, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    provider.replies = [[OPEN]]
    run(agent(desk, provider, office.tools), open_task)
    assert system(provider.bodies[0]) == "You are X."
    assert provider.tool("close_ticket") == "Close a ticket."
    assert office.done == ["open_ticket"]
