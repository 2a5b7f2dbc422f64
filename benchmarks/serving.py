"""A server in a process of its own, its CPU time and its memory, for the benchmarks of the server."""

from __future__ import annotations

import http.client
import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contramem.bank.store import open_store
from contramem.pipeline import learn
from contramem.traces.read import read_traces

ROOT = Path(__file__).parents[1]
SERVE = [sys.executable, "-m", "contramem", "serve"]
os.environ.setdefault("PYTHONPATH", str(ROOT / "src"))


def build_bank(folder: Path) -> str:
    """A bank of the runs that ship, to make larger ones from."""
    with open_store(folder / "built.db", create=True) as store:
        learn(read_traces([ROOT / "examples" / "runs"]), store)
    return str(folder / "built.db")


@contextmanager
def serving(command: list[str]) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*command, str(port)], stderr=subprocess.DEVNULL)
    try:
        yield port, process
    finally:
        process.terminate()
        process.wait()


def connect(port: int) -> http.client.HTTPConnection:
    for _ in range(6000):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            ask(connection, "GET", "/health")
            return connection
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server did not start")


def ask(connection: http.client.HTTPConnection, method: str, path: str, body: object = None) -> None:
    connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    assert answer.status < 300, answer.status


def cpu_seconds(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def peak_memory_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
