"""A real server in a process of its own, for tests that need a socket, a browser or a kill."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class LiveServer:
    """`contramem serve`, started and waited for."""

    def __init__(self, bank: str, *options: str, cwd: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.bank = bank
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "contramem", "serve", "--bank", bank, "--port", str(self.port), *options]
        self.process = subprocess.Popen(command, cwd=cwd, stderr=subprocess.PIPE)
        self.log = ""
        """What the server has written to stderr, once it is stopped."""
        self._wait()

    def _wait(self) -> None:
        for _ in range(2400):
            assert self.process.poll() is None, self.process.stderr and self.process.stderr.read().decode()
            try:
                urllib.request.urlopen(f"{self.url}/ready", timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server did not start")

    def stop(self, how: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            os.kill(self.process.pid, how)
        code = self.process.wait(20)
        assert self.process.stderr is not None
        if not self.process.stderr.closed:
            self.log = self.process.stderr.read().decode()
            self.process.stderr.close()
        return code


@contextmanager
def serving(bank: str, *options: str, cwd: Path) -> Iterator[LiveServer]:
    server = LiveServer(bank, *options, cwd=cwd)
    try:
        yield server
    finally:
        server.stop()
