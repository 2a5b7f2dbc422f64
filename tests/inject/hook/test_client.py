import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hook_events import context, prompt

from contramem.inject.hook.client import ask
from contramem.inject.hook.install import hook_command
from contramem.inject.hook.place import HookOptions, HookPlace

LOADED = """
import sys
from contramem.inject.hook.client import main
main()
print(*sorted(set(sys.modules)), file=sys.stderr)
"""


def run_client(options, given, code=None):
    words = shlex.split(hook_command(Path(options.bank), options.named))
    if code:
        at = words.index("-c") + 1
        words[at] = words[at].partition("from contramem")[0] + "\n" + code
    return subprocess.run(words, input=json.dumps(given), capture_output=True, text=True, check=False)


def test_an_event_that_is_answered_loads_a_handful_of_modules(options, serve):
    serve()
    done = run_client(options, prompt(), LOADED)
    assert "### Delete clear emails" in context(json.loads(done.stdout))
    heavy = {"site", "re", "pathlib", "socket", "hashlib", "json", "subprocess", "typing", "collections", "enum"}
    loaded = set(done.stderr.split())
    assert "contramem.inject.hook.client" in loaded
    assert not heavy & loaded


def test_the_two_processes_of_an_event_look_in_the_same_place(bank_path, state, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    as_written = ["--bank", os.path.relpath(bank_path), "--state", str(state), "--log", "./a/../log.jsonl"]
    place = HookPlace.of(HookOptions.parse(as_written))
    absolute = HookOptions(str(bank_path), state, log=tmp_path / "log.jsonl")
    assert HookPlace.of(absolute).address == place.address


def test_the_program_answers_an_event_without_its_command_line_library(options, serve):
    serve()
    code = "import sys; from contramem.__main__ import main; main(); sys.exit('click' in sys.modules)"
    words = [sys.executable, "-c", code, "hook", *options.arguments]
    done = subprocess.run(words, input=json.dumps(prompt()), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "### Delete clear emails" in context(json.loads(done.stdout))


def test_what_the_resident_process_refuses_is_told_to_the_user_and_the_agent_goes_on(options, serve):
    serve()
    done = run_client(options, ["no event"])
    assert (done.returncode, done.stdout) == (0, "")
    assert "contramem hook: standard input is not a hook event" in done.stderr


@pytest.mark.slow
def test_a_contramem_that_is_gone_does_not_stop_the_agent(options):
    words = shlex.split(hook_command(Path(options.bank), options.named))
    words[words.index("--bank") - 1] = "/nowhere"
    done = subprocess.run(words, input="{}", capture_output=True, text=True, check=False)
    assert done.returncode == 1, "2 is an order to stop"


def test_an_answer_that_broke_off_is_none(tmp_path):
    address = tmp_path / "address"
    for text in ("", "no address", "/no/socket\n0\n"):
        address.write_text(text)
        assert ask(address, b"{}") is None
