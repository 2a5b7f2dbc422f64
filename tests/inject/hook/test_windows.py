"""Windows, as far as it can be tried elsewhere: no module and no call that only other systems have is needed.

Nothing of contramem has been run on Windows itself.
"""

import subprocess
import sys

import pytest

AS_ON_WINDOWS = """
import json, os, signal, socket, sys, _socket, types
from pathlib import Path
from threading import Thread

MODULES = ("inject.hook.client", "inject.hook.__main__", "inject.hook.server", "inject.hook.install", "inject.run",
           "bank.store", "bank.frozen", "whole_file", "cli.connect", "cli.build", "engine", "watch")

def load():
    return [__import__(f"contramem.{name}", fromlist=["x"]) for name in MODULES]

load()  # other people's packages as this system has them; ours once more as on Windows
for name in [name for name in sys.modules if name.partition(".")[0] == "contramem"]:
    del sys.modules[name]
sys.platform = "win32"
os.environ["LOCALAPPDATA"] = sys.argv[2]
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, LK_UNLCK=0, LK_LOCK=1, locking=lambda *_: None)
sys.modules |= dict.fromkeys(["fcntl", "pwd", "grp", "resource", "termios"])
for module, names in {
    os: ["getuid", "geteuid", "getgid", "fork", "setsid", "killpg", "fchmod", "chown", "sync", "O_NOFOLLOW"],
    signal: ["SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "alarm", "setitimer"],
    socket: ["AF_UNIX"],
    _socket: ["AF_UNIX"],
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
load()

from contramem.bank.store import open_store
from contramem.inject.hook.client import ask
from contramem.inject.hook.place import HookOptions, HookPlace
from contramem.inject.hook.server import HookServer, sessions_of
from contramem.inject.hook.wire import PROBE, end

with open_store(Path(sys.argv[2]) / "bank.db", create=True) as store:
    assert not store.bank().skills
options = HookOptions(sys.argv[1])
place = HookPlace.of(options)
sessions = sessions_of(options, place)
asked = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "Delete the newsletter emails"}
assert "additionalContext" in json.dumps(sessions.answer(asked))
server = HookServer(place, sessions)
thread = Thread(target=server.serve_until_idle)
thread.start()
assert ask(place.address, PROBE) == b""
end(place.address)
thread.join()
assert str(place.folder).startswith(sys.argv[2]), place.folder
"""


@pytest.mark.slow
def test_hook_store_and_locks_need_nothing_that_windows_lacks(bank_path, tmp_path):
    command = [sys.executable, "-c", AS_ON_WINDOWS, str(bank_path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
