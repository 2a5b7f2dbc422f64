"""AppWorld's own server and apps, with data of ours: what is made here is what AppWorld itself understands and judges.

AppWorld is installed from PyPI into an environment of its own, beside the packages of this one.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.request import urlopen

import pytest

from contramem.traces.read import read_traces
from contramem.traces.trajectory import Tool
from contramem_lab.appworld import AppWorldEnvironment, AppWorldServer, tools_of
from contramem_lab.environment import Limits
from contramem_lab.target import ChatMessage, Move, ScriptedTarget

APPWORLD = "appworld==0.1.3.post1"
CELLS = (
    "token = apis.simple_note.login(username='ann@example.org', password='p4ss-w0rd')['access_token']",
    "print(apis.simple_note.show_note(note_id=99, access_token=token))",
    "print(apis.simple_note.create_note(title='Milk', content='Two bottles.', access_token=token))",
    "apis.supervisor.complete_task()",
)
pytestmark = pytest.mark.slow


def appworld() -> Path:
    """The programs of an environment with AppWorld."""
    folder = Path(sys.prefix) / "own-environments" / "appworld"
    if (folder / "unpacked").exists():
        return folder / "bin"
    uv = shutil.which("uv") or str(Path(sys.prefix) / "bin" / "uv")
    python = folder / "bin" / "python"
    commands = (
        [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder)],
        [uv, "pip", "install", "--quiet", "--python", str(python), APPWORLD],
        [str(folder / "bin" / "appworld"), "install"],
    )
    try:
        for command in commands:
            subprocess.run(
                command, check=True, capture_output=True, text=True, timeout=300, env=own_environment(folder)
            )
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"AppWorld cannot be installed here: {getattr(error, 'stderr', '') or error}")
    (folder / "unpacked").touch()
    return folder / "bin"


def own_environment(folder: Path) -> dict[str, str]:
    """Without our packages, and with a home of its own: AppWorld unpacks a part of itself there."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"HOME": str(folder)}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("appworld")
    script = Path(__file__).with_name("appworld_data.py")
    command = [str(appworld() / "python"), str(script)]
    subprocess.run(command, cwd=root, env=own_environment(root), check=True, timeout=300)
    return root


@pytest.fixture(scope="module")
def url(root: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(appworld() / "appworld"), "serve", "environment", "--port", str(port)]
    server = subprocess.Popen(
        command, cwd=root, env=own_environment(root), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/openapi.json", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        try:
            urlopen(url).close()
            return
        except OSError:
            time.sleep(0.2)
    pytest.fail("AppWorld's server ended by itself")


def test_the_documentation_of_all_apis_is_loaded(url: str) -> None:
    tools = tools_of(AppWorldServer(url).api_docs())
    assert len(tools) == 457
    assert "simple_note.create_note" in {tool.function for tool in tools}


def test_a_run_is_made_judged_and_read_back_from_appworld_s_own_outputs(url: str, root: Path) -> None:
    def move(messages: Sequence[ChatMessage], tools: Sequence[Tool]) -> Move:
        step = sum(message.role == "assistant" for message in messages)
        return f"I go on.\n```python\n{CELLS[min(step, len(CELLS) - 1)]}\n```"

    environment = AppWorldEnvironment(url, root, ("train",))
    run = environment.attempt("abc_1", ScriptedTarget(move, "scripted"), None, Limits(steps=6))
    assert run.outcome.passed
    login, missing, made, _ = run.calls
    assert "p4ss-w0rd" not in str(login)
    assert missing.result is not None and "The note with id 99 does not exist." in str(missing.result.error)
    assert made.result is not None and made.result.error is None
    [outputs] = read_traces([root / "experiments" / "outputs"])
    assert outputs.outcome.passed
    assert [call.function for call in outputs.calls] == [call.function for call in run.calls]
    assert "p4ss-w0rd" not in str(outputs)
