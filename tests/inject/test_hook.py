import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO

import pytest
from click.testing import CliRunner

from contramem.bank.bank import Bank
from contramem.bank.frozen import write_frozen
from contramem.cli import main
from contramem.cli.hook import hook
from contramem.errors import UsageError
from contramem.inject.hook import Hook, answer
from contramem.inject.hook_install import EVENTS
from contramem.inject.injections import read_log
from contramem.traces.read import read_traces

TASK = "Delete the newsletter emails except the one about travel; ask if the exception is ambiguous."
DELETE = "mcp__EmailClient__delete_email"


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    monkeypatch.delenv("CONTRAMEM_OFF", raising=False)


@pytest.fixture
def options(bank_path, tmp_path):
    return Hook(str(bank_path), tmp_path / "state")


def prompt(text=TASK, session="s1"):
    return {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": text, "cwd": "/"}


def call(tool=DELETE, session="s1"):
    event = {"hook_event_name": "PreToolUse", "session_id": session, "tool_name": tool}
    return event | {"tool_input": {"email_id": "7"}, "tool_use_id": "t1"}


def test_a_prompt_gets_the_cards_that_fit_it(options, memory):
    assert answer(options, prompt()) == {"additionalContext": memory.start(TASK).guidance.text}
    assert answer(options, prompt("Compose a sonnet about zeppelins", "s2")) is None


def test_a_session_sees_a_card_once(options):
    first = answer(options, prompt())["additionalContext"]
    assert "### Delete clear emails" in first
    assert answer(options, prompt()) is None
    later = answer(options, prompt("Delete the emails and order a ride to the airport"))["additionalContext"]
    assert "### Delete clear emails" not in later
    assert "Cab.order_ride" in later
    assert answer(options, prompt(session="s2"))["additionalContext"] == first


def test_the_first_call_of_a_function_is_held_with_its_card(options):
    held = answer(options, call())
    assert held["permissionDecision"] == "deny"
    assert held["permissionDecisionReason"].startswith("Not executed yet: this call of EmailClient.delete_email")
    assert "### EmailClient.delete_email" in held["permissionDecisionReason"]
    assert answer(options, call()) is None
    assert answer(options, call("delete_email")) is None, "by whatever name"
    assert answer(options, call(session="s2"))


@pytest.mark.parametrize("tool", ["Bash", "mcp__Calendar__list_events", ""])
def test_other_calls_are_left_to_the_permissions_of_the_client(options, tool):
    # list_events has a card, but neither writes nor has known mistakes: the default profile does not hold it.
    assert answer(options, call(tool)) is None


def test_of_calls_made_at_once_one_is_held(options):
    answer(options, call("Bash"))
    with ThreadPoolExecutor(10) as pool:
        assert sum(held is not None for held in pool.map(lambda _: answer(options, call()), range(50))) == 1


@pytest.fixture
def batched(options):
    """A client that says when the calls of a reply are over."""
    return replace(options, batches=True)


def told(event, **fields):
    return {"hook_event_name": event, "session_id": "s1", "tool_name": DELETE} | fields


def reason(hook, event):
    said = answer(hook, event)
    return said["permissionDecisionReason"] if said else None


def test_calls_of_one_reply_are_held_together_where_the_client_says_when_it_is_over(batched):
    assert "### EmailClient.delete_email" in reason(batched, call())
    assert "was held as well" in reason(batched, call())
    answer(batched, told("PostToolBatch"))
    assert reason(batched, call()) is None
    assert reason(batched, call()) is None


def test_a_client_that_stops_telling_is_not_held_up_for_long(batched):
    answer(batched, call())
    (mark,) = batched.state.glob("session-*/held-*")
    os.utime(mark, (0, 0))
    assert reason(batched, call()) is None


def test_after_a_failure_the_card_comes_back_but_not_for_calls_of_the_same_reply(batched):
    answer(batched, call())
    answer(batched, told("PostToolBatch"))
    answer(batched, told("PostToolUseFailure", error="no such email"))
    assert reason(batched, call()) is None
    answer(batched, told("PostToolBatch"))
    assert "The last call of this function failed." in reason(batched, call())
    answer(batched, told("PostToolBatch"))
    answer(batched, told("PostToolUseFailure", error="stopped", is_interrupt=True))
    answer(batched, told("PostToolUseFailure", error="no card", tool_name="Bash"))
    answer(batched, told("PostToolBatch"))
    assert reason(batched, call()) is None


def test_a_sub_agent_has_not_read_what_the_main_agent_has(batched):
    answer(batched, call())
    answer(batched, told("PostToolBatch"))
    assert "### EmailClient.delete_email" in reason(batched, call() | {"agent_id": "sub"})


def test_after_compaction_the_guidance_is_given_again(options):
    start = {"hook_event_name": "SessionStart", "session_id": "s1"}
    assert answer(options, start | {"source": "startup"}) is None
    given = answer(options, prompt())
    assert answer(options, start | {"source": "resume"}) is None
    assert answer(options, start | {"source": "compact"}) == given


def test_the_kill_switch_and_events_we_do_not_know_say_nothing(options, monkeypatch):
    assert answer(options, {"hook_event_name": "Stop", "session_id": "s1"}) is None
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    assert answer(options, prompt()) is None
    assert answer(options, call()) is None


def test_a_changed_bank_is_noticed(options, tmp_path, bank_path):
    bank = tmp_path / "bank.jsonl"
    bank.write_bytes(bank_path.read_bytes())
    mine = Hook(str(bank), options.state)
    assert answer(mine, call())
    write_frozen(bank, Bank())
    assert answer(mine, call(session="s2")) is None


def test_old_sessions_are_cleared_away(options):
    answer(options, call(session="old"))
    (old,) = options.state.glob("session-*")
    os.utime(old, (0, 0))
    answer(options, {"hook_event_name": "SessionStart", "session_id": "new"})
    assert not old.exists()
    assert len(list(options.state.glob("session-*"))) == 1
    assert list(options.state.glob("deck-*.json"))


def test_what_a_session_was_shown_is_logged_as_a_run(options, tmp_path):
    logged = Hook(options.bank, options.state, log=tmp_path / "inject.jsonl")
    answer(logged, prompt())
    answer(logged, call())
    lines, _ = read_log(tmp_path / "inject.jsonl")
    assert [(line.run, line.where) for line in lines] == [("s1", "start"), ("s1", "before_call")]
    assert lines[1].cards.keys() == {"function::EmailClient.delete_email"}


def test_a_state_that_cannot_be_kept_never_holds_a_call(bank_path, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        answer(Hook(str(bank_path), tmp_path / "file"), call())


def run(*arguments, given=""):
    return CliRunner().invoke(hook, list(arguments), input=given, catch_exceptions=False)


def test_the_command_speaks_the_dialect_of_both_clients(bank_path, tmp_path):
    options = ("--bank", str(bank_path), "--state", str(tmp_path))
    said = json.loads(run(*options, given=json.dumps(prompt())).output)["hookSpecificOutput"]
    assert said["hookEventName"] == "UserPromptSubmit"
    said = json.loads(run(*options, given=json.dumps(call())).output)["hookSpecificOutput"]
    assert (said["hookEventName"], said["permissionDecision"]) == ("PreToolUse", "deny")
    assert run(*options, given=json.dumps(call())).output == ""


@pytest.mark.parametrize(
    ("arguments", "given", "complaint"),
    [
        pytest.param(("--bank", "none.jsonl"), json.dumps(call()), "none.jsonl", id="no-bank"),
        pytest.param((), json.dumps(call()), "--bank", id="no-option"),
        pytest.param(("--bnak", "x"), json.dumps(call()), "option", id="wrong-option"),
        pytest.param(("--bank", "BANK"), "no json", "Expecting value", id="no-json"),
        pytest.param(("--bank", "BANK"), "[]", "no hook event", id="no-event"),
        pytest.param(("--bank", "BANK", "--profile", "huge"), json.dumps(call()), "no profile 'huge'", id="no-profile"),
        pytest.param(("--bank", "BANK", "--state", "FILE"), json.dumps(call()), "FILE", id="no-state"),
    ],
)
def test_whatever_is_wrong_the_agent_goes_on(arguments, given, complaint, bank_path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_text("")
    words = ["--state", "state", *(str(bank_path) if word == "BANK" else word for word in arguments)]
    by_module = subprocess.run(
        [sys.executable, "-m", "contramem.inject.hook", *words],
        input=given, capture_output=True, text=True, check=False,
    )  # fmt: skip
    monkeypatch.setattr(sys, "stdin", StringIO(given))
    with pytest.raises(SystemExit) as ended:
        main(["hook", *words])
    by_command = capsys.readouterr()
    assert (by_module.returncode, by_module.stdout) == (0, "")
    assert (ended.value.code, by_command.out) == (0, "")
    for said in (by_command.err, by_module.stderr):
        assert complaint in said
        assert len(said.splitlines()) == 1


def test_a_call_of_a_known_bank_loads_no_library(bank_path, tmp_path):
    """A hook runs before every call of the agent: with its deck written, it must cost next to nothing."""
    options = Hook(str(bank_path), tmp_path)
    answer(options, call("Bash"))
    code = (
        "import sys; from pathlib import Path; from contramem.inject.hook import Hook, answer; "
        f"assert answer(Hook({str(bank_path)!r}, Path({str(tmp_path)!r})), {call()!r}); "
        "heavy = {'pydantic', 'msgspec', 'click', 'numpy', 'jinja2', 'rich', 'logging'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class TestInstall:
    """`contramem hook install` writes settings that run the hook."""

    def install(self, bank_path, project, client="claude-code", *more):
        return run("install", "--client", client, "--bank", str(bank_path), "--project", str(project), *more)

    def test_the_command_it_writes_is_one_that_answers(self, bank_path, tmp_path):
        output = self.install(bank_path, tmp_path).output
        assert "PreToolUse: added" in output
        settings = json.loads((tmp_path / ".claude" / "settings.json").read_text())
        assert set(settings["hooks"]) == set(EVENTS["claude-code"])
        (group,) = settings["hooks"]["PreToolUse"]
        assert group["matcher"] == "*"
        command = group["hooks"][0]["command"] + f" --state {tmp_path / 'state'}"
        done = subprocess.run(command, shell=True, input=json.dumps(call()), capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"

    def test_a_second_time_changes_nothing_and_another_bank_changes_the_command(self, bank_path, tmp_path):
        self.install(bank_path, tmp_path)
        path = tmp_path / ".claude" / "settings.json"
        before = path.read_text()
        assert "PreToolUse: unchanged" in self.install(bank_path, tmp_path).output
        assert path.read_text() == before
        assert "PreToolUse: updated" in self.install(bank_path, tmp_path, "claude-code", "--profile", "small").output
        assert len(json.loads(path.read_text())["hooks"]["PreToolUse"]) == 1

    def test_other_settings_and_hooks_stay(self, bank_path, tmp_path):
        path = tmp_path / ".claude" / "settings.json"
        path.parent.mkdir()
        other = {"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}
        path.write_text(json.dumps({"permissions": {"allow": ["Bash(ls)"]}, "hooks": {"PreToolUse": [other]}}))
        self.install(bank_path, tmp_path)
        settings = json.loads(path.read_text())
        assert settings["permissions"] == {"allow": ["Bash(ls)"]}
        assert settings["hooks"]["PreToolUse"][0] == other

    def test_codex_has_its_own_file_and_wants_to_be_asked(self, bank_path, tmp_path):
        output = self.install(bank_path, tmp_path, "codex").output
        assert "Codex skips a hook until you trust it" in output
        hooks = json.loads((tmp_path / ".codex" / "hooks.json").read_text())["hooks"]
        assert set(hooks) == {"SessionStart", "UserPromptSubmit", "PreToolUse"}, (
            "it has no event for the end of a reply"
        )
        assert "--batches" not in str(hooks)

    @pytest.mark.parametrize("content", ["{", "[]", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}'])
    def test_settings_that_cannot_be_read_are_left_alone(self, bank_path, tmp_path, content):
        path = tmp_path / ".claude" / "settings.json"
        path.parent.mkdir()
        path.write_text(content)
        with pytest.raises(UsageError, match=r"settings\.json"):
            self.install(bank_path, tmp_path)
        assert path.read_text() == content

    def test_a_bank_that_is_not_there_is_told_before_anything_is_written(self, tmp_path):
        with pytest.raises(UsageError, match="there is no bank here"):
            self.install(tmp_path / "none.jsonl", tmp_path)
        assert not (tmp_path / ".claude").exists()


def test_a_recorded_session_reads_back_as_a_run(bank_path, tmp_path):
    record = tmp_path / "runs.jsonl"
    hook = Hook(str(bank_path), tmp_path / "state", record=record)
    session = {"session_id": "s1"}
    answer(hook, {"hook_event_name": "UserPromptSubmit", "prompt": "Tidy the inbox", **session})
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, **session}
    answer(hook, {"hook_event_name": "PostToolUse", "tool_response": "a.txt", **call})
    answer(hook, {"hook_event_name": "PostToolUseFailure", "error": "exit code 2", **call})
    (run,) = read_traces([record])
    assert (run.task, run.run) == ("Tidy the inbox", "s1")
    assert [(call.function, bool(call.result.error)) for call in run.calls] == [("shell.ls", False), ("shell.ls", True)]
