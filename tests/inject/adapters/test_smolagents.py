import pytest

pytest.importorskip("smolagents", reason="needs contramem[smolagents], in an environment of its own")

from smolagents import CodeAgent, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
from strict_provider import assert_cacheable

from contramem.inject.adapters.smolagents import guided

pytestmark = pytest.mark.slow


class ListModel(Model):
    """Replies from a list and keeps what it was asked, as the models of smolagents' own tests do."""

    def __init__(self, *replies):
        super().__init__()
        self.replies, self.requests, self.sent = list(replies), [], []

    def generate(self, messages, **_):
        self.requests.append(str(messages))
        self.sent.append([str(message) for message in messages])
        reply = self.replies.pop(0)
        if isinstance(reply, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=f"Thought: go on\n<code>\n{reply}\n</code>")
        calls = [
            ChatMessageToolCall(ChatMessageToolCallFunction(arguments, name), f"c{number}", "function")
            for number, (name, arguments) in enumerate(reply)
        ]
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls)


@pytest.fixture
def tools(office):
    @tool
    def open_ticket(reason: str) -> str:
        """Open a ticket.

        Args:
            reason: The reason code.
        """
        return office.open_ticket(reason)

    @tool
    def close_ticket(ticket: str) -> str:
        """Close a ticket.

        Args:
            ticket: Its number.
        """
        return office.close_ticket(ticket)

    return [open_ticket, close_ticket]


def test_a_program_gets_its_values_and_the_model_a_warning_beside_them(desk, office, tools, open_task):
    program = 'ticket = open_ticket("late")\nprint(ticket.upper())'
    model = ListModel(program, 'print(close_ticket("T1"))', *2 * ['final_answer("done")'])
    agent = CodeAgent(tools, model, verbosity_level=0)
    answer = guided(agent, desk.start(open_task)).run(open_task)
    assert answer == "done"
    assert office.done == ["open_ticket", "close_ticket"], "nothing is held"
    first, second, third, fourth = model.requests
    assert "Look up the reason code" in first
    assert "Closing fails while a notice is missing" in first, "in the description of the tool"
    assert "TICKET T1 IS OPEN" in second
    assert "That call broke a rule that passing runs kept" in second
    assert "The last call of this function failed" in third
    assert "Before you finish" in fourth
    assert agent.instructions is None, "the agent itself stays as it is"


FINAL = [("final_answer", {"answer": "done"})]


def test_an_agent_that_calls_tools_gets_the_same_notes_and_is_asked_once_what_is_open(desk, office, tools, open_task):
    model = ListModel([("open_ticket", {"reason": "late"})], FINAL, FINAL)
    agent = ToolCallingAgent(tools, model, verbosity_level=0)
    assert guided(agent, desk.start(open_task)).run(open_task) == "done"
    assert "That call broke a rule that passing runs kept" in model.requests[1]
    assert "send_notice" in model.requests[2].partition("Before you finish")[2]
    assert not model.replies, "asked once, and the second answer counts"


@pytest.mark.parametrize("max_steps", [2, 3, 4])
def test_the_answer_of_the_last_steps_counts_whatever_is_open(desk, office, tools, open_task, max_steps):
    model = ListModel([("open_ticket", {"reason": "late"})], FINAL)
    agent = ToolCallingAgent(tools, model, verbosity_level=0, max_steps=max_steps)
    assert guided(agent, desk.start(open_task)).run(open_task) == "done"


def test_what_was_sent_once_is_never_changed(desk, office, tools, open_task):
    model = ListModel([("open_ticket", {"reason": "late"})], FINAL, FINAL)
    guided(ToolCallingAgent(tools, model, verbosity_level=0), desk.start(open_task)).run(open_task)
    assert_cacheable(model.sent)
