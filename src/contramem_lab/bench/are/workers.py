"""Workers: the process that has ARE loaded, and one child of it for every run."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from contramem.errors import UsageError
from contramem.scratch import ScratchFolder
from contramem_lab.bench.are.conversation import AreConversation
from contramem_lab.bench.are.installation import Installation

HERE = Path(__file__).parent
# At the end of the path: nothing of ARE's is found here by mistake. `worker` uses nothing else of contramem.
START = "import sys; sys.path.append(sys.argv[1]); from worker.serve import serve; serve(sys.argv[2])"
LAST_WORDS = ("done", "refused", "unanswered")
START_S = 300
"""How long importing ARE may take."""


class Workers:
    """Started when the first run asks for it, and ended with this process."""

    def __init__(self, installation: Installation) -> None:
        self._scratch = ScratchFolder("are")
        self._folder = self._scratch.path
        self._log = (self._folder / "log").open("w+")
        self._socket = str(self._folder / "socket")
        self._process = subprocess.Popen(
            [str(installation.python), "-c", START, str(HERE), self._socket],
            stdin=subprocess.PIPE, stdout=self._log, stderr=self._log, env=os.environ | {"TMPDIR": str(self._folder)},
        )  # fmt: skip
        atexit.register(self.close)

    @property
    def pid(self) -> int:
        """Of the process that has ARE loaded."""
        return self._process.pid

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._log.close()
        self._scratch.close()

    def run(self, job: Mapping[str, Any], talk: AreConversation, seconds: float | None) -> dict[str, Any]:
        """The run's last message: one of LAST_WORDS, or `timeout` or `died`, which it cannot send itself."""
        with self._connect() as connection, contextlib.ExitStack() as closing:
            reader = closing.enter_context(connection.makefile("r", encoding="utf-8"))
            pid = json.loads(reader.readline())["pid"]
            limit = _TimeLimit(pid, seconds)
            try:
                last: dict[str, Any] | None = _converse(connection, reader, job, talk)
            finally:
                limit.cancel()
                _kill(pid)
        if last is not None:
            return last
        return {"what": "timeout", "seconds": seconds} if limit.met else {"what": "died", "error": self._last_words()}

    def _connect(self) -> socket.socket:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(self._socket)
                return connection
            except (FileNotFoundError, ConnectionRefusedError):
                connection.close()
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        raise UsageError(f"ARE did not start: {self._last_words()}")

    def _last_words(self) -> str:
        text = (self._folder / "log").read_text(encoding="utf-8", errors="replace").strip()
        return (text.splitlines() or ["it said nothing"])[-1]


class _TimeLimit:
    """Ends the process of a run when its time is up."""

    def __init__(self, pid: int, seconds: float | None) -> None:
        self.met, self._pid = False, pid
        self._timer = None if seconds is None else threading.Timer(seconds, self._end)
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def _end(self) -> None:
        self.met = True
        _kill(self._pid)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _converse(connection: socket.socket, reader: Any, job: Mapping[str, Any], talk: AreConversation) -> Any:
    try:
        _send(connection, job)
        for line in reader:
            message: dict[str, Any] = json.loads(line)
            if message["what"] in LAST_WORDS:
                return message
            if message["what"] != "loaded" and (answer := talk.answer(message)) is not None:
                _send(connection, answer.as_json())
    except (ConnectionError, json.JSONDecodeError):
        pass  # it ended in the middle of a line; whoever waits for it says why
    return None


def _send(connection: socket.socket, value: Mapping[str, Any]) -> None:
    connection.sendall(json.dumps(value).encode() + b"\n")


@lru_cache(maxsize=4)
def workers_of(installation: Installation) -> Workers:
    """One for each installation; all runs of this process share it."""
    return Workers(installation)
