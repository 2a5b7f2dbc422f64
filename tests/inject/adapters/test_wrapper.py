import asyncio
from contextvars import ContextVar
from functools import partial

import pytest

from contramem.inject.adapters.wrapper import GuidedTools, HeldCall, guided


@pytest.fixture
def tools(memory, task, inbox):
    return GuidedTools(memory.start(task), {"delete_email": inbox.delete_email, "list_folders": lambda: ["INBOX"]})


def test_the_first_call_gives_the_card_and_the_second_is_made(tools, inbox):
    first = tools["delete_email"](email_id="m1")
    assert isinstance(first, HeldCall)
    assert first.startswith("Not executed yet: this call of delete_email was held")
    assert "### EmailClient.delete_email" in first
    assert inbox.deleted == []
    assert tools["delete_email"](email_id="m1") == "deleted m1"
    assert inbox.deleted == ["m1"]


def test_a_function_without_a_card_is_called_at_once(tools):
    assert tools["list_folders"]() == ["INBOX"]
    assert set(tools) == {"delete_email", "list_folders"}
    assert len(tools) == 2


def test_after_an_error_the_card_comes_back(tools, inbox):
    tools["delete_email"]("m1")
    with pytest.raises(ValueError, match="no email x"):
        tools["delete_email"]("x")
    again = tools["delete_email"]("m1")
    assert isinstance(again, HeldCall)
    assert "The last call of this function failed." in again
    assert tools["delete_email"]("m1") == "deleted m1"


def test_an_error_in_words_is_an_error(memory, task):
    tools = GuidedTools(memory.start(task), {"delete_email": lambda email_id: {"error": f"no email {email_id}"}})
    assert isinstance(tools["delete_email"]("x"), HeldCall)
    assert tools["delete_email"]("x") == {"error": "no email x"}
    assert isinstance(tools["delete_email"]("x"), HeldCall)


def test_calls_of_one_reply_are_held_together(tools, inbox):
    tools.new_turn()
    first, second = tools["delete_email"]("m1"), tools["delete_email"]("m2")
    assert "### EmailClient.delete_email" in first
    assert second == (
        "Not executed: this call of delete_email was held as well. "
        "Read the answer to your first call of it, then call again."
    )
    tools.new_turn()
    assert [tools["delete_email"](name) for name in ("m1", "m2")] == ["deleted m1", "deleted m2"]


def test_an_error_within_a_reply_brings_the_card_before_the_next_reply(tools, inbox):
    tools.new_turn()
    tools["delete_email"]("m1")
    tools.new_turn()
    with pytest.raises(ValueError, match="no email x"):
        tools["delete_email"]("x")
    assert tools["delete_email"]("m2") == "deleted m2"
    tools.new_turn()
    assert isinstance(tools["delete_email"]("m3"), HeldCall)


def test_an_argument_that_is_missing_is_named_however_the_others_are_passed(memory, task):
    def delete_email(folder_name, **others):
        return "deleted"

    assert "This call lacks: email_id" in guided(memory.start(task))(delete_email)("INBOX")
    assert "This call lacks" not in guided(memory.start(task))(delete_email)("INBOX", email_id="m1")


def test_async_tools_stay_async(memory, task, inbox):
    async def delete_email(email_id):
        await asyncio.sleep(0)
        return inbox.delete_email(email_id)

    class Deleter:
        async def __call__(self, email_id):
            return inbox.delete_email(email_id)

    async def use(tool):
        held = await tool("m1")
        with pytest.raises(ValueError, match="no email x"):
            await tool("x")
        return [type(held), type(await tool("m2")), await tool("m3")]

    for tool in (delete_email, Deleter(), partial(delete_email)):
        decorate = guided(memory.start(task), "EmailClient.delete_email")
        assert asyncio.run(use(decorate(tool))) == [HeldCall, HeldCall, "deleted m3"]


def test_a_tool_made_once_serves_many_runs(memory, task, inbox):
    current = ContextVar("current", default=None)
    delete_email = guided(current.get, "delete_email")(inbox.delete_email)
    assert delete_email("m0") == "deleted m0", "no run, no memory"

    async def one(number):
        current.set(memory.start(task, run_id=str(number)))
        first = delete_email(f"m{number}")
        await asyncio.sleep(0)
        return isinstance(first, HeldCall), delete_email(f"m{number}")

    async def both():
        return await asyncio.gather(one(1), one(2))

    assert asyncio.run(both()) == [(True, "deleted m1"), (True, "deleted m2")]


def test_a_decorated_tool_keeps_its_name(memory, task):
    @guided(memory.start(task))
    def delete_email(email_id: str) -> str:
        """Delete one email."""
        return email_id

    assert (delete_email.__name__, delete_email.__doc__) == ("delete_email", "Delete one email.")
    assert isinstance(delete_email("m1"), HeldCall)


def test_nothing_is_held_when_memory_is_off(memory, task, inbox, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    tools = GuidedTools(memory.start(task), {"delete_email": inbox.delete_email})
    assert tools["delete_email"]("m1") == "deleted m1"
