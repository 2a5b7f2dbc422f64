import pytest
from hook_events import context, event, prompt, to_bytes

from contramem.bank.bank import Bank
from contramem.bank.frozen import write_frozen
from contramem.inject.hook.client import ask
from contramem.inject.hook.place import HookOptions, HookPlace
from contramem.inject.hook.server import HookServer, sessions_of
from contramem.inject.hook.wire import HookAddress, end
from contramem.traces.read import read_traces


@pytest.mark.parametrize("unix", [True, False])
def test_events_are_answered_by_socket_and_by_port(serve, options, unix):
    server, _ = serve(unix=unix)
    assert bool(server.address.path) is unix
    place = HookPlace.of(options)
    assert b"### Delete clear emails" in ask(place.address, to_bytes(prompt()))
    assert ask(place.address, to_bytes(prompt())) == b"", "the session is remembered"
    assert ask(place.address, b"no json").startswith(b"!Expecting value")


def test_a_path_that_is_too_long_for_a_socket_is_served_by_a_port(bank_path, tmp_path):
    options = HookOptions(str(bank_path), tmp_path / ("folder" * 20))
    place = HookPlace.of(options)
    server = HookServer(place, sessions_of(options, place))
    assert server.address.port
    server.serve_until_idle(idle_s=0.01)


def test_whoever_does_not_know_the_key_of_the_port_gets_no_answer(serve, options):
    server, _ = serve(unix=False)
    place = HookPlace.of(options)
    place.address.write_text(HookAddress(port=server.address.port, key="0" * 32).text)
    assert ask(place.address, to_bytes(prompt())) is None
    place.address.write_text(server.address.text)


def test_a_resident_process_ends_by_itself(options):
    place = HookPlace.of(options)
    HookServer(place, sessions_of(options, place)).serve_until_idle(idle_s=0.05)
    assert not list(place.folder.glob("address-*"))
    assert not list(place.folder.glob("hook-*"))


def test_a_resident_process_ends_when_it_is_asked_to(serve, options):
    _, thread = serve()
    end(HookPlace.of(options).address)
    thread.join()
    assert not list(options.state.glob("hook-*"))


def test_a_resident_process_ends_when_its_files_are_gone(options):
    place = HookPlace.of(options)
    server = HookServer(place, sessions_of(options, place))
    place.address.unlink()
    server.serve_until_idle(look_s=0.01)


def test_another_bank_is_another_setup(bank_path, tmp_path, state):
    bank = tmp_path / "bank.jsonl"
    bank.write_bytes(bank_path.read_bytes())
    options = HookOptions(str(bank), state)
    before = HookPlace.of(options)
    assert context(sessions_of(options, before).answer(prompt()))
    write_frozen(bank, Bank())
    after = HookPlace.of(options)
    assert after.address != before.address
    assert sessions_of(options, after).answer(prompt()) == {}


def test_a_recorded_session_reads_back_as_a_run_whichever_process_answered(bank_path, tmp_path, state):
    record = tmp_path / "runs.jsonl"
    options = HookOptions(str(bank_path), state, record=record)
    made = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    for happened in (
        prompt("Tidy the inbox"),
        event("PostToolUse", tool_response="a.txt", **made),
        event("PostToolUseFailure", error="exit code 2", **made),
    ):
        sessions_of(options, HookPlace.of(options)).answer(happened)
    (run,) = read_traces([record])
    assert (run.task, run.run) == ("Tidy the inbox", "s1")
    assert [(call.function, bool(call.result.error)) for call in run.calls] == [("shell.ls", False), ("shell.ls", True)]
