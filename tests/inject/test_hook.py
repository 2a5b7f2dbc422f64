import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from contramem.bank.bank import Bank
from contramem.bank.frozen import write_frozen
from contramem.cli.hook import hook
from contramem.errors import UsageError
from contramem.inject.adapters.starter import Starter
from contramem.inject.hook import Hook, HookPlace
from contramem.inject.hook_install import EVENTS
from contramem.inject.hook_server import HookServer, sessions_of
from contramem.inject.hook_sessions import HookSessions
from contramem.inject.hook_state import clear_old
from contramem.traces.read import read_traces

TASK = "Delete the newsletter emails except the one about travel; ask if the exception is ambiguous."
DELETE = "mcp__mail__delete_email"


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    monkeypatch.delenv("CONTRAMEM_OFF", raising=False)


@pytest.fixture
def sessions(memory):
    return HookSessions(Starter(memory, {}))


def event(name, session="s1", **fields):
    return {"hook_event_name": name, "session_id": session, "cwd": "/"} | fields


def prompt(text=TASK, session="s1"):
    return event("UserPromptSubmit", session, prompt=text)


def call(name="PreToolUse", tool=DELETE, **fields):
    return event(name, tool_name=tool, tool_input={"email_id": "7"}, **fields)


def context(answer):
    return answer.get("hookSpecificOutput", {}).get("additionalContext", "")


class TestHookSessions:
    """What events are answered with."""

    def test_a_prompt_gets_the_cards_that_fit_it(self, sessions, memory):
        assert context(sessions.answer(prompt())) == memory.start(TASK).guidance.text
        assert sessions.answer(prompt("Compose a sonnet about zeppelins", "s2")) == {}

    def test_a_session_sees_a_card_once(self, sessions):
        assert "### Delete clear emails" in context(sessions.answer(prompt()))
        assert sessions.answer(prompt()) == {}
        later = context(sessions.answer(prompt("Now order a ride to the airport with a cab.")))
        assert "### Delete clear emails" not in later
        assert "Cab.order_ride" in later

    def test_after_compaction_all_cards_are_given_again(self, sessions):
        first = context(sessions.answer(prompt()))
        later = context(sessions.answer(prompt("Now order a ride to the airport with a cab.")))
        assert sessions.answer(event("SessionStart", source="resume")) == {}
        assert context(sessions.answer(event("SessionStart", source="compact"))) == f"{first}\n\n{later}"

    def test_a_sub_agent_gets_its_own_start_notes(self, sessions):
        first = context(sessions.answer(prompt()))
        assert context(sessions.answer(event("SubagentStart", agent_id="a"))) == first

    def test_a_call_that_does_no_harm_is_left_to_the_permissions_of_the_client(self, sessions):
        sessions.answer(prompt("Compose a sonnet"))
        assert sessions.answer(call()) == {}
        assert sessions.answer(call(tool="Bash")) == {}

    def test_a_failure_brings_the_card_and_a_repetition_is_held_once(self, sessions):
        sessions.answer(prompt("Compose a sonnet"))
        failed = sessions.answer(call("PostToolUseFailure", error="no such email"))
        assert "### EmailClient.delete_email" in context(failed)
        answer = sessions.answer(call())["hookSpecificOutput"]
        assert answer["permissionDecision"] == "deny"
        assert "failed with these very arguments" in answer["permissionDecisionReason"]
        assert sessions.answer(call()) == {}

    def test_an_interrupt_is_no_failure(self, sessions):
        assert sessions.answer(call("PostToolUseFailure", error="stopped", is_interrupt=True)) == {}
        assert sessions.answer(call()) == {}

    def test_the_end_of_a_reply_is_noted_and_events_that_nobody_knows_say_nothing(self, sessions):
        assert sessions.answer(event("PostToolBatch")) == {}
        assert sessions.answer(event("Notification")) == {}


@pytest.fixture
def resident(bank_path, tmp_path):
    """Options of a hook whose resident process ends with the test."""
    options = Hook(str(bank_path), tmp_path / "state")
    yield options
    for path in (tmp_path / "state").glob("hook-*.sock"):
        path.unlink()


def run_hook(options, given, **environment):
    command = [sys.executable, "-m", "contramem.inject.hook", *options.arguments]
    env = os.environ | environment
    return subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False, env=env)


@pytest.mark.slow
def test_a_process_per_event_shares_one_resident_process(resident):
    first = run_hook(resident, prompt())
    assert "### Delete clear emails" in context(json.loads(first.stdout))
    assert run_hook(resident, prompt()).stdout == "", "the session is remembered"
    assert run_hook(resident, prompt(session="s2"), CONTRAMEM_OFF="1").stdout == ""


@pytest.mark.slow
def test_a_broken_bank_is_told_to_the_user_once_a_session_and_costs_nothing_after(tmp_path):
    bank = tmp_path / "bank.jsonl"
    bank.write_text("no bank")
    options = Hook(str(bank), tmp_path / "state")
    first = run_hook(options, prompt())
    message = json.loads(first.stdout)["systemMessage"]
    assert first.returncode == 0
    assert "gives no guidance" in message
    assert "bank.jsonl" in message
    assert run_hook(options, prompt()).stdout == "", "once a session"
    assert "systemMessage" in run_hook(options, prompt(session="s2")).stdout
    assert not list((tmp_path / "state").glob("*.sock"))


def test_a_resident_process_ends_by_itself(memory, tmp_path):
    server = HookServer(tmp_path / "hook.sock", HookSessions(Starter(memory, {})), idle_s=0.05)
    server.serve_until_idle()
    assert not (tmp_path / "hook.sock").exists()


def test_another_bank_is_another_setup(bank_path, tmp_path):
    bank = tmp_path / "bank.jsonl"
    bank.write_bytes(bank_path.read_bytes())
    options = Hook(str(bank), tmp_path)
    before = HookPlace.of(options).socket
    write_frozen(bank, Bank())
    assert HookPlace.of(options).socket != before
    assert sessions_of(options).answer(prompt()) == {}


def test_old_files_are_cleared_away(tmp_path):
    old, new = tmp_path / "warned-old", tmp_path / "warned-new"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    clear_old(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["warned-new"]


def test_a_recorded_session_reads_back_as_a_run(bank_path, tmp_path):
    record = tmp_path / "runs.jsonl"
    sessions = sessions_of(Hook(str(bank_path), tmp_path / "state", record=record))
    sessions.answer(prompt("Tidy the inbox"))
    made = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    sessions.answer(event("PostToolUse", tool_response="a.txt", **made))
    sessions.answer(event("PostToolUseFailure", error="exit code 2", **made))
    (run,) = read_traces([record])
    assert (run.task, run.run) == ("Tidy the inbox", "s1")
    assert [(call.function, bool(call.result.error)) for call in run.calls] == [("shell.ls", False), ("shell.ls", True)]


@pytest.mark.parametrize(
    ("arguments", "given", "complaint"),
    [
        pytest.param((), json.dumps(call()), "--bank", id="no-option"),
        pytest.param(("--bnak", "x"), json.dumps(call()), "option", id="wrong-option"),
        pytest.param(("--bank", "BANK"), "no json", "Expecting value", id="no-json"),
        pytest.param(("--bank", "BANK"), "[]", "no hook event", id="no-event"),
        pytest.param(("--bank", "BANK", "--state", "FILE"), json.dumps(call()), "FILE", id="no-state"),
    ],
)
def test_whatever_is_wrong_the_agent_goes_on(arguments, given, complaint, bank_path, tmp_path):
    (tmp_path / "FILE").write_text("")
    words = [str(bank_path) if word == "BANK" else word for word in arguments]
    by_module = subprocess.run(
        [sys.executable, "-m", "contramem.inject.hook", *words],
        input=given, capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    by_command = CliRunner().invoke(hook, words, input=given, catch_exceptions=False) if "FILE" not in words else None
    assert (by_module.returncode, by_module.stdout) == (0, "")
    assert complaint in by_module.stderr
    assert by_command is None or (by_command.exit_code, complaint in by_command.output) == (0, True)


def test_an_event_loads_no_library(bank_path, tmp_path):
    """A hook runs at every event: it must cost next to nothing."""
    code = (
        "import sys, contramem.inject.hook; "
        "heavy = {'pydantic', 'msgspec', 'click', 'numpy', 'jinja2', 'rich', 'logging', 'asyncio'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def run(*arguments, given=""):
    return CliRunner().invoke(hook, list(arguments), input=given, catch_exceptions=False)


class TestInstall:
    """`contramem hook install` writes settings that run the hook."""

    def install(self, bank_path, project, client="claude-code", *more):
        return run("install", "--client", client, "--bank", str(bank_path), "--project", str(project), *more)

    def test_the_command_it_writes_is_one_that_answers(self, bank_path, tmp_path):
        output = self.install(bank_path, tmp_path).output
        assert "PreToolUse: added" in output
        settings = json.loads((tmp_path / ".claude" / "settings.local.json").read_text())
        assert set(settings["hooks"]) == set(EVENTS["claude-code"])
        (group,) = settings["hooks"]["PreToolUse"]
        assert group["matcher"] == "*"
        command = group["hooks"][0]["command"] + f" --state {tmp_path / 'state'}"
        event = json.dumps(prompt())
        done = subprocess.run(command, shell=True, input=event, capture_output=True, text=True, check=True)
        assert "additionalContext" in json.loads(done.stdout)["hookSpecificOutput"]

    def test_a_second_time_changes_nothing_and_another_bank_changes_the_command(self, bank_path, tmp_path):
        self.install(bank_path, tmp_path)
        path = tmp_path / ".claude" / "settings.local.json"
        before = path.read_text()
        assert "PreToolUse: unchanged" in self.install(bank_path, tmp_path).output
        assert path.read_text() == before
        assert "PreToolUse: updated" in self.install(bank_path, tmp_path, "claude-code", "--profile", "small").output
        assert len(json.loads(path.read_text())["hooks"]["PreToolUse"]) == 1

    def test_other_settings_and_hooks_stay(self, bank_path, tmp_path):
        path = tmp_path / ".claude" / "settings.local.json"
        path.parent.mkdir()
        other = {"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}
        path.write_text(json.dumps({"permissions": {"allow": ["Bash(ls)"]}, "hooks": {"PreToolUse": [other]}}))
        self.install(bank_path, tmp_path)
        settings = json.loads(path.read_text())
        assert settings["permissions"] == {"allow": ["Bash(ls)"]}
        assert settings["hooks"]["PreToolUse"][0] == other

    def test_codex_has_its_own_file_and_wants_to_be_asked(self, bank_path, tmp_path):
        output = self.install(bank_path, tmp_path, "codex").output
        assert "Codex skips a hook without a word until you trust it" in output
        hooks = json.loads((tmp_path / ".codex" / "hooks.json").read_text())["hooks"]
        assert set(hooks) == {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"}

    @pytest.mark.parametrize("content", ["{", "[]", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}'])
    def test_settings_that_cannot_be_read_are_left_alone(self, bank_path, tmp_path, content):
        path = tmp_path / ".claude" / "settings.local.json"
        path.parent.mkdir()
        path.write_text(content)
        with pytest.raises(UsageError, match=r"settings\.local\.json"):
            self.install(bank_path, tmp_path)
        assert path.read_text() == content

    def test_a_bank_that_is_not_there_is_told_before_anything_is_written(self, tmp_path):
        with pytest.raises(UsageError, match="there is no bank here"):
            self.install(tmp_path / "none.jsonl", tmp_path)
        assert not (tmp_path / ".claude").exists()

    def test_what_a_team_commits_names_no_path_of_this_machine(self, bank_path, tmp_path):
        bank = tmp_path / "memory" / "bank.jsonl"
        bank.parent.mkdir()
        bank.write_bytes(bank_path.read_bytes())
        self.install(bank, tmp_path)
        self.install(bank, tmp_path, "claude-code", "--shared")
        shared = (tmp_path / ".claude" / "settings.json").read_text()
        assert str(tmp_path) not in shared
        assert sys.executable not in shared
        assert "contramem hook" in shared
        assert "hooks" not in json.loads((tmp_path / ".claude" / "settings.local.json").read_text()), "not twice"
        with pytest.raises(UsageError, match="a bank inside"):
            self.install(bank_path, tmp_path, "claude-code", "--shared")

    def test_uninstall_leaves_everything_else(self, bank_path, tmp_path):
        path = tmp_path / ".claude" / "settings.local.json"
        path.parent.mkdir()
        other = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}]}}
        path.write_text(json.dumps(other))
        self.install(bank_path, tmp_path)
        output = run("uninstall", "--client", "claude-code", "--project", str(tmp_path)).output
        assert "PreToolUse" in output
        assert json.loads(path.read_text()) == other

    def test_status_says_what_is_installed_and_what_is_broken(self, bank_path, tmp_path):
        assert "No hook of contramem" in run("status", "--project", str(tmp_path)).output
        bank = tmp_path / "bank.jsonl"
        bank.write_bytes(bank_path.read_bytes())
        self.install(bank, tmp_path)
        assert "works:" in run("status", "--project", str(tmp_path)).output
        bank.write_text("no bank")
        [setup] = json.loads(run("status", "--project", str(tmp_path), "--json").output)
        assert setup["problem"].startswith("broken:")
        assert setup["missing"] == []
