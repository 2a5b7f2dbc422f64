import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hook_events import call, context, prompt

from contramem.cli.connect import hook
from contramem.inject.hook.install import hook_command
from contramem.inject.hook.place import HookOptions, HookPlace

LATE = """
import os, sys, time
if "contramem.inject.hook.server" in sys.orig_argv:
    time.sleep(4)
    os._exit(0)
"""


def run_hook(options, given, **environment):
    """As the settings of a client have it."""
    command = shlex.split(hook_command(Path(options.bank), options.named))
    env = os.environ | environment
    return subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False, env=env)


@pytest.mark.slow
def test_a_process_per_event_shares_one_resident_process(options):
    first = run_hook(options, prompt())
    assert "### Delete clear emails" in context(json.loads(first.stdout))
    assert run_hook(options, prompt()).stdout == "", "the session is remembered"
    assert run_hook(options, prompt(session="s2"), CONTRAMEM_OFF="1").stdout == ""
    assert len(list(options.state.glob("address-*"))) == 1


@pytest.mark.slow
def test_a_resident_process_that_starts_too_slowly_costs_time_and_not_the_guidance(options, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(LATE)
    late = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    first = run_hook(options, prompt(), **late)
    assert "### Delete clear emails" in context(json.loads(first.stdout))
    assert run_hook(options, prompt(), **late).stdout == "", "the session is remembered"
    assert not list(options.state.glob("address-*")), "nobody was there to ask"


@pytest.mark.slow
def test_a_broken_bank_is_told_to_the_user_once_a_session_and_costs_nothing_after(tmp_path, state):
    bank = tmp_path / "bank.jsonl"
    bank.write_text("no bank")
    options = HookOptions(str(bank), state)
    first = run_hook(options, prompt())
    message = json.loads(first.stdout)["systemMessage"]
    assert first.returncode == 0
    assert "gives no guidance" in message
    assert "bank.jsonl" in message
    assert run_hook(options, prompt()).stdout == "", "once a session"
    assert "systemMessage" in run_hook(options, prompt(session="s2")).stdout
    assert not list(state.glob("address-*"))


@pytest.mark.parametrize(
    ("arguments", "given", "complaint"),
    [
        pytest.param((), json.dumps(call()), "--bank", id="no-option"),
        pytest.param(("--bnak", "x"), json.dumps(call()), "option", id="wrong-option"),
        pytest.param(("--bank", "BANK"), "no json", "Expecting value", id="no-json"),
        pytest.param(("--bank", "BANK"), "[]", "not a hook event", id="no-event"),
        pytest.param(("--bank", "BANK", "--state", "FILE"), json.dumps(call()), "FILE", id="no-state"),
    ],
)
def test_whatever_is_wrong_the_agent_goes_on(arguments, given, complaint, bank_path, tmp_path, state):
    (tmp_path / "FILE").write_text("")
    words = [str(bank_path) if word == "BANK" else word for word in arguments]
    if "BANK" in arguments and "FILE" not in arguments:
        words += ["--state", str(state)]
        _say_that_no_resident_process_came(HookOptions.parse(words))
    command = [sys.executable, "-m", "contramem", "hook", *words]
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert complaint in done.stderr


def _say_that_no_resident_process_came(options):
    """As if one had been started ten seconds ago."""
    place = HookPlace.of(options)
    place.claim_start()
    ago = place.folder / f"starting-{place.name}"
    os.utime(ago, (ago.stat().st_mtime - 10,) * 2)


def test_an_event_that_no_resident_process_answers_is_answered_by_the_process_itself(options):
    _say_that_no_resident_process_came(options)
    done = CliRunner().invoke(hook, options.arguments, input=json.dumps(prompt()), catch_exceptions=False)
    assert "### Delete clear emails" in context(json.loads(done.stdout))


@pytest.mark.slow
def test_the_module_answers_as_the_command_does_and_never_ends_with_2():
    done = subprocess.run([sys.executable, "-m", "contramem.inject.hook"], input="{}", capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert "--bank" in done.stderr
