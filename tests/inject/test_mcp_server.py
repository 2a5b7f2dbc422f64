import asyncio
import sys

import pytest
from click.testing import CliRunner

from contramem.cli.connect import mcp as mcp_command
from contramem.errors import UsageError
from contramem.inject.run import Memory
from contramem.traces.read import read_traces

mcp = pytest.importorskip("mcp", reason="the MCP server is an extra: pip install 'contramem[mcp]'")

TASK = "Delete the newsletter emails except the one about travel; ask if the exception is ambiguous."


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    monkeypatch.delenv("CONTRAMEM_OFF", raising=False)


@pytest.fixture
def ask(memory):
    """A client of the server, in memory."""
    from contramem.inject.mcp_server import server

    def ask(question, memory=memory):
        async def asked():
            async with mcp.Client(server(memory)) as client:
                return await question(client)

        return asyncio.run(asked())

    return ask


def test_guidance_is_the_guidance_of_a_run(ask, memory):
    found = ask(lambda client: client.call_tool("get_guidance", {"task": TASK, "ability": "ambiguity"}))
    assert found.content[0].text == memory.start(TASK, ability="ambiguity").guidance.text


@pytest.mark.parametrize("name", ["EmailClient.delete_email", "delete_email", "mcp__mail__delete_email"])
def test_a_function_card_is_found_by_any_name(ask, name):
    found = ask(lambda client: client.call_tool("get_function_card", {"function": name}))
    assert "### EmailClient.delete_email" in found.content[0].text
    assert "soft guidance" in found.content[0].text


def test_an_unknown_function_is_said_to_be_unknown(ask):
    found = ask(lambda client: client.call_tool("get_function_card", {"function": "Unheard.of"}))
    assert not found.is_error
    assert found.content[0].text == "Nothing is known about Unheard.of."


def test_cards_are_resources(ask):
    card = ask(lambda client: client.read_resource("contramem://functions/EmailClient.delete_email"))
    assert "### EmailClient.delete_email" in card.contents[0].text
    names = ask(lambda client: client.read_resource("contramem://functions"))
    assert "Cab.order_ride" in names.contents[0].text.splitlines()


def test_a_prompt_starts_a_task(ask):
    found = ask(lambda client: client.get_prompt("start_task", {"task": TASK}))
    text = found.messages[0].content.text
    assert text.startswith("## Notes from earlier runs")
    assert text.endswith(TASK)


def test_instructions_say_when_to_ask(ask):
    async def told(client):
        return client.instructions, [tool.name for tool in (await client.list_tools()).tools]

    instructions, tools = ask(told)
    assert all(tool in instructions for tool in tools)
    assert tools == ["get_guidance", "report_outcome", "report_call", "get_function_card"]


def test_what_is_given_is_logged(ask, bank_path, tmp_path):
    logged = Memory.load(bank_path, log=tmp_path / "inject.jsonl")
    ask(lambda client: client.call_tool("get_guidance", {"task": TASK}), logged)
    ask(lambda client: client.call_tool("get_function_card", {"function": "delete_email"}), logged)
    log = (tmp_path / "inject.jsonl").read_text()
    assert '"where":"start"' in log
    assert '"where":"before_call"' in log


def test_clients_get_plain_text_and_know_that_nothing_is_changed(ask):
    tools = ask(lambda client: client.list_tools()).tools
    assert all(tool.output_schema is None for tool in tools)
    assert all(tool.annotations.read_only_hint for tool in tools if tool.name.startswith("get_"))
    given = ask(lambda client: client.call_tool("get_guidance", {"task": TASK}))
    assert given.structured_content is None
    assert "\n" in given.content[0].text


def test_a_label_that_the_bank_does_not_have_drops_no_skill(ask):
    given = ask(lambda client: client.call_tool("get_guidance", {"task": TASK, "ability": "emails"}))
    assert "### Delete clear emails" in given.content[0].text


def test_an_unknown_resource_is_an_answer_and_no_crash(ask, caplog):
    async def read(client):
        with pytest.raises(Exception, match="no card of"):
            await client.read_resource("contramem://functions/Unheard.of")

    ask(read)
    assert "Traceback" not in caplog.text


def test_the_command_needs_a_bank(tmp_path):
    with pytest.raises(UsageError, match="there is no bank here"):
        CliRunner().invoke(mcp_command, ["--bank", str(tmp_path / "none")], catch_exceptions=False)


@pytest.mark.slow
def test_the_command_serves_over_standard_input_and_output(bank_path):
    from mcp.client.stdio import StdioServerParameters

    code = "from contramem.cli import main; main()"
    server = StdioServerParameters(command=sys.executable, args=["-c", code, "mcp", "--bank", str(bank_path)])

    async def asked():
        async with mcp.Client(server) as client:
            return await client.call_tool("get_function_card", {"function": "delete_email"})

    assert "### EmailClient.delete_email" in asyncio.run(asked()).content[0].text


def test_calls_and_outcome_that_a_client_reports_are_recorded(ask, bank_path, tmp_path):
    recording = Memory.load(bank_path, record=tmp_path / "runs.jsonl")

    async def work(client):
        told = await client.call_tool("get_guidance", {"task": TASK})
        await client.call_tool("report_call", {"function": "EmailClient.delete_email", "arguments": {"id": "7"}})
        return told, await client.call_tool("report_outcome", {"passed": False, "feedback": "One was kept."})

    told, noted = ask(work, recording)
    (run,) = read_traces([tmp_path / "runs.jsonl"])
    assert run.run in told.content[0].text and run.run in noted.content[0].text
    assert [call.function for call in run.calls] == ["EmailClient.delete_email"]
    assert (run.outcome.passed, run.outcome.feedback) == (False, "One was kept.")


def test_a_result_may_be_a_text_an_object_or_a_list(ask, bank_path, tmp_path):
    recording = Memory.load(bank_path, record=tmp_path / "runs.jsonl")

    async def work(client):
        await client.call_tool("get_guidance", {"task": TASK})
        for result in ("7 found", {"found": 7}, ["a", "b"]):
            call = {"function": "EmailClient.search_emails", "arguments": {}, "result": result}
            await client.call_tool("report_call", call)

    ask(work, recording)
    (run,) = read_traces([tmp_path / "runs.jsonl"])
    assert [call.result.content for call in run.calls] == ["7 found", {"found": 7}, ["a", "b"]]


def test_an_outcome_without_a_run_is_refused_in_words(ask):
    assert "get_guidance first" in ask(lambda c: c.call_tool("report_outcome", {"passed": True})).content[0].text
