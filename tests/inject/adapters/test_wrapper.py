import asyncio
from contextvars import ContextVar
from functools import partial

import pytest

from contramem.inject.adapters.wrapper import GuidedTools, HeldCall, guided


@pytest.fixture
def tools(desk, open_task, office):
    tools = GuidedTools(desk.start(open_task), {tool.__name__: tool for tool in office.tools})
    tools.new_turn(ends_run=False)
    return tools


def test_a_call_that_would_break_a_guard_is_held_once_and_then_made(tools, office):
    first = tools["open_ticket"](reason="late")
    assert isinstance(first, HeldCall)
    assert first.startswith("Not executed yet: this call of open_ticket was held")
    assert office.done == []
    tools.new_turn(ends_run=False)
    assert tools["open_ticket"](reason="late") == "ticket T1 is open"


def test_no_call_of_the_last_reply_is_held(tools, office):
    tools.new_turn(ends_run=True)
    assert tools["open_ticket"](reason="late") == "ticket T1 is open"
    assert "That call broke" in tools.take_notes()


def test_no_call_is_held_while_the_loop_has_not_said_whether_it_goes_on(desk, open_task, office):
    tools = GuidedTools(desk.start(open_task), {"open_ticket": office.open_ticket})
    assert tools["open_ticket"](reason="late") == "ticket T1 is open"


def test_other_calls_are_made_at_once(tools):
    assert tools["lookup_code"]("late") == "R7"
    assert len(tools) == len(set(tools)) == 4


def test_results_stay_as_they_are_and_notes_are_taken_apart(tools):
    assert "send it first" in tools.describe("close_ticket")
    assert tools["close_ticket"]("T1") == "Error: a notice is missing"
    assert "### desk.close_ticket" in tools.take_notes()
    assert tools.take_notes() == ""


def test_what_is_open_is_said_once_before_the_end(tools):
    tools["lookup_code"]("late")
    tools["open_ticket"]("R7")
    assert "send_notice" in tools.before_final()
    assert tools.before_final() == ""


def test_calls_of_one_reply_are_held_together(tools):
    first, second = tools["open_ticket"]("a"), tools["open_ticket"]("b")
    assert "Look up the reason code" in first
    assert "was held as well" in second
    tools.new_turn(ends_run=False)
    assert tools["open_ticket"]("a") == "ticket T1 is open"


def test_an_exception_is_a_failure(desk, open_task):
    def close_ticket(ticket):
        raise ValueError("a notice is missing")

    tools = GuidedTools(desk.start(open_task), {"close_ticket": close_ticket})
    with pytest.raises(ValueError, match="a notice is missing"):
        tools["close_ticket"]("T1")
    tools.new_turn(ends_run=False)
    assert isinstance(tools["close_ticket"]("T1"), HeldCall)


def test_async_tools_stay_async(desk, open_task, office):
    async def open_ticket(reason):
        await asyncio.sleep(0)
        return office.open_ticket(reason)

    class Opener:
        async def __call__(self, reason):
            return office.open_ticket(reason)

    for tool in (open_ticket, Opener(), partial(open_ticket)):
        decorate = guided(desk.start(open_task), "desk.open_ticket")
        result = asyncio.run(decorate(tool)("a"))
        assert result.startswith("ticket T1 is open\n\n[Note from earlier runs")


def test_a_tool_made_once_serves_many_runs(desk, open_task, office):
    current = ContextVar("current", default=None)
    open_ticket = guided(current.get, "open_ticket")(office.open_ticket)
    assert open_ticket("x") == "ticket T1 is open", "no run, no memory"

    async def attempt(number):
        current.set(desk.start(open_task, run_id=str(number)))
        first = open_ticket("x")
        await asyncio.sleep(0)
        return "That call broke" in first, open_ticket("x")

    async def both():
        return await asyncio.gather(attempt(1), attempt(2))

    assert asyncio.run(both()) == [(True, "ticket T1 is open")] * 2


def test_a_decorated_tool_keeps_its_name_its_results_that_are_no_text_and_its_errors(desk, open_task):
    @guided(desk.start(open_task))
    def open_ticket(reason: str) -> dict:
        """Open a ticket."""
        return {"reason": reason}

    @guided(desk.start(open_task))
    def close_ticket(ticket: str) -> str:
        raise ValueError("a notice is missing")

    assert (open_ticket.__name__, open_ticket.__doc__) == ("open_ticket", "Open a ticket.")
    assert open_ticket("x") == {"reason": "x"}
    with pytest.raises(ValueError, match="a notice is missing") as raised:
        close_ticket("T1")
    assert "### desk.close_ticket" in raised.value.__notes__[0]


def test_nothing_is_held_when_memory_is_off(desk, open_task, office, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    tools = GuidedTools(desk.start(open_task), {"open_ticket": office.open_ticket})
    tools.new_turn(ends_run=False)
    assert tools["open_ticket"]("x") == "ticket T1 is open"
