import pytest

pytest.importorskip("crewai", reason="needs contramem[crewai], in an environment of its own")

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool
from strict_provider import assert_cacheable

from contramem.inject.adapters.crewai import guided_tools

pytestmark = pytest.mark.slow


class ListModel(BaseLLM):
    """Replies from a list and keeps what it was asked."""

    replies: list
    requests: list

    def call(self, messages, *_, **__):
        self.requests.append([str(message) for message in messages])
        return self.replies.pop(0)

    def supports_function_calling(self):
        return False


def test_notes_stand_after_results_and_no_call_is_held(desk, office, open_task):
    @tool("open_ticket")
    def open_ticket(reason: str) -> str:
        """Open a ticket."""
        return office.open_ticket(reason)

    @tool("close_ticket")
    def close_ticket(ticket: str) -> str:
        """Close a ticket."""
        return office.close_ticket(ticket)

    model = ListModel(
        model="list",
        replies=[
            'Thought: go\nAction: open_ticket\nAction Input: {"reason": "late"}',
            'Thought: go\nAction: close_ticket\nAction Input: {"ticket": "T1"}',
            "Thought: I now know the final answer\nFinal Answer: done",
        ],
        requests=[],
    )
    run = desk.start(open_task)
    story = f"You look after a desk.\n\n{run.guidance.text}"
    agent = Agent(
        role="clerk", goal="help", backstory=story, llm=model, tools=guided_tools([open_ticket, close_ticket], run)
    )
    Crew(agents=[agent], tasks=[Task(description=open_task, expected_output="done", agent=agent)]).kickoff()
    assert office.done == ["open_ticket", "close_ticket"]
    assert "Look up the reason code" in str(model.requests[0])
    assert "That call broke a rule that passing runs kept" in str(model.requests[1])
    assert "The last call of this function failed" in str(model.requests[2])
    assert_cacheable(model.requests)


def test_a_result_that_is_the_answer_has_no_note_after_it(desk, office, open_task):
    @tool("open_ticket", result_as_answer=True)
    def open_ticket(reason: str) -> str:
        """Open a ticket."""
        return office.open_ticket(reason)

    call = 'Thought: go\nAction: open_ticket\nAction Input: {"reason": "late"}'
    model = ListModel(model="list", replies=[call], requests=[])
    tools = guided_tools([open_ticket], desk.start(open_task))
    agent = Agent(role="clerk", goal="help", backstory="You look after a desk.", llm=model, tools=tools)
    crew = Crew(agents=[agent], tasks=[Task(description=open_task, expected_output="done", agent=agent)])
    assert str(crew.kickoff()) == "ticket T1 is open"
