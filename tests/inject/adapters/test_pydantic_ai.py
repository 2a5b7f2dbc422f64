import asyncio

import pytest

pytest.importorskip("pydantic_ai", reason="needs contramem[pydantic-ai]")

from pydantic_ai import Agent, ApprovalRequired, DeferredToolRequests, DeferredToolResults, ModelRetry, RunContext
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel

from contramem.inject.adapters.pydantic_ai import MemoryCapability


class Scripted:
    """The framework's FunctionModel, replying from a list. What each request holds is kept as text."""

    def __init__(self, *replies):
        self.requests = []
        self._replies = iter(replies)
        self.model = FunctionModel(self._reply)

    def _reply(self, messages, info):
        self.requests.append((info.instructions or "", str(messages[-1].parts)))
        return ModelResponse(list(next(self._replies)))


def delete(*ids):
    return [ToolCallPart("delete_email", {"email_id": email_id}) for email_id in ids]


DONE = [TextPart("done")]


def agent(memory, inbox, model, **options):
    return Agent(
        model,
        instructions="You are X.",
        tools=[inbox.delete_email],
        capabilities=[MemoryCapability(memory, ability="ambiguity", **options)],
        retries=3,
    )


def run(guided, prompt, **options):
    # Not run_sync, which leaves its event loop open.
    return asyncio.run(guided.run(prompt, **options))


def test_both_texts_reach_the_model_and_the_second_call_is_made(memory, inbox, task):
    model = Scripted(delete("m1"), delete("m1"), DONE)
    result = run(agent(memory, inbox, model.model), task)
    instructions = model.requests[0][0]
    assert instructions.startswith("You are X.")
    assert "### Delete clear emails despite an ambiguous keep exception" in instructions
    assert "### EmailClient.delete_email" in model.requests[1][1]
    assert "Not executed yet" in model.requests[1][1]
    assert "deleted m1" in model.requests[2][1]
    assert inbox.deleted == ["m1"]
    assert result.usage.tool_calls == 1, "a held call is not an executed call"


def test_the_framework_s_own_test_model_calls_twice(memory, inbox, task):
    model = TestModel(custom_output_text="done")
    run(agent(memory, inbox, model), task)
    assert "### Delete clear emails" in model.last_model_request_parameters.instruction_parts[-1].content
    assert inbox.deleted == [], "it calls each tool once, and the first call is held"


def test_parallel_calls_of_one_reply_are_held_together(memory, inbox, task):
    model = Scripted(delete("m1", "m2"), delete("m1", "m2"), DONE)
    run(agent(memory, inbox, model.model), task)
    assert model.requests[1][1].count("### EmailClient.delete_email") == 1
    assert model.requests[1][1].count("was held as well") == 1
    assert sorted(inbox.deleted) == ["m1", "m2"]


def test_runs_of_one_agent_share_nothing(memory, inbox, task):
    async def both():
        models = [Scripted(delete(name), delete(name), DONE) for name in ("m1", "m2")]
        guided = agent(memory, inbox, models[0].model)
        await asyncio.gather(*(guided.run(task, model=model.model) for model in models))
        return models

    for model in asyncio.run(both()):
        assert "Not executed yet" in model.requests[1][1]
    assert sorted(inbox.deleted) == ["m1", "m2"]


def test_an_error_brings_the_card_back(memory, task):
    replies = {"retry": ModelRetry("no such email"), "words": "Error: no such email"}

    def delete_email(email_id: str) -> str:
        """Delete one email."""
        reply = replies.get(email_id, "deleted")
        if isinstance(reply, Exception):
            raise reply
        return reply

    for wrong in (delete("retry"), delete("words"), [ToolCallPart("delete_email", {"id": "m1"})]):
        model = Scripted(delete("m1"), wrong, delete("m1"), delete("m1"), DONE)
        guided = Agent(model.model, tools=[delete_email], capabilities=[MemoryCapability(memory)], retries=3)
        run(guided, task)
        assert "The last call of this function failed." in model.requests[3][1]
        assert "deleted" in model.requests[4][1]


def test_an_approved_call_is_made(memory, task, inbox):
    def delete_email(ctx: RunContext[None], email_id: str) -> str:
        """Delete one email."""
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return inbox.delete_email(email_id)

    model = Scripted(delete("m1"), delete("m1"), DONE)
    guided = Agent(
        model.model,
        tools=[delete_email],
        capabilities=[MemoryCapability(memory)],
        output_type=[str, DeferredToolRequests],
    )
    asked = run(guided, task)
    assert "Not executed yet" in model.requests[1][1]
    [waiting] = asked.output.approvals
    results = DeferredToolResults(approvals={waiting.tool_call_id: True})
    run(guided, None, message_history=asked.all_messages(), deferred_tool_results=results)
    assert inbox.deleted == ["m1"]
    assert "failed" not in model.requests[2][1]


def test_the_task_is_all_the_user_wrote_and_runs_carry_the_framework_s_id(memory, inbox, task):
    started = []
    guided = agent(memory, inbox, Scripted(DONE, DONE).model, on_start=started.append)
    first = run(guided, [task, "In the inbox."])
    second = run(guided, "Yes.", message_history=first.all_messages())
    assert [run.task for run in started] == [f"{task}\n\nIn the inbox.", f"{task}\n\nIn the inbox.\n\nYes."]
    assert [run.run_id for run in started] == [first.conversation_id, second.conversation_id]
    assert first.conversation_id == second.conversation_id


def test_only_cards_of_the_agent_s_tools_are_shown(memory, task):
    def search_emails(query: str) -> list[str]:
        """Find emails."""
        return [query]

    model = Scripted(DONE)
    run(Agent(model.model, tools=[search_emails], capabilities=[MemoryCapability(memory, profile="gaia2")]), task)
    assert "### EmailClient.search_emails" in model.requests[0][0]
    assert "### EmailClient.delete_email" not in model.requests[0][0]


def test_nothing_is_injected_when_memory_is_off(memory, inbox, task, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    model = Scripted(delete("m1"), DONE)
    run(agent(memory, inbox, model.model), task)
    assert model.requests[0][0] == "You are X."
    assert inbox.deleted == ["m1"]


def test_a_chat_that_goes_on_is_one_run_and_another_is_another(memory, inbox, task):
    started = []
    model = Scripted(delete("m1"), delete("m1"), DONE, delete("m2"), DONE, delete("m3"), delete("m3"), DONE)
    guided = agent(memory, inbox, model.model, on_start=started.append)
    first = run(guided, task)
    run(guided, "And the one of May.", message_history=first.all_messages())
    assert inbox.deleted == ["m1", "m2"], "what was held stays held: its card is in the history"
    run(guided, task)
    assert "Not executed yet" in model.requests[-2][1]
    assert len({one.run_id for one in started}) == 2
