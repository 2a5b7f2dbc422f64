"""`contramem hook install`, and then the real Claude Code and the real Codex with a model that replies from a list.

Claude Code comes with claude-agent-sdk. Codex is used where it is installed (`npm install -g @openai/codex`, 440 MB).
"""

import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from contramem.cli.hook import hook
from contramem.inject.hook.wire import end
from contramem.inject.injections import read_log

DELETE = "mcp__EmailClient__delete_email"
NOTES = "## Notes from earlier runs"
SERVER = '''
from pathlib import Path
from mcp.server import MCPServer

server = MCPServer("EmailClient")

@server.tool()
def delete_email(email_id: str) -> str:
    """Delete one email."""
    if not email_id.startswith("m"):
        raise ValueError(f"no email {email_id}")
    with Path("deleted.txt").open("a") as file:
        file.write(email_id + " ")
    return f"deleted {email_id}"

server.run()
'''
pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with an MCP server that deletes emails. The state of the hook is in a temporary folder of its own."""
    pytest.importorskip("mcp", reason="needs contramem[mcp]")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    project = tmp_path / "project"
    project.mkdir()
    (project / "server.py").write_text(SERVER)
    yield project
    for address in tmp_path.glob("contramem-hook-*/address-*"):
        end(address)


def install(client, bank_path, project):
    arguments = ["install", "--client", client, "--bank", str(bank_path), "--project", str(project)]
    CliRunner().invoke(hook, [*arguments, "--log", str(project / "inject.jsonl")], catch_exceptions=False)


def run(command, project, **env):
    # With the compiled modules at hand: else the first hook of a fresh environment compiles 2,000 modules first.
    names = ("TMPDIR", "PYTHONPATH", "PYTHONPYCACHEPREFIX")
    own = {name: os.environ[name] for name in names if name in os.environ}
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", **own, **env}
    done = subprocess.run(
        command, cwd=project, env=env, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr


def shown(project):
    return [(line.where, len(line.cards)) for line in read_log(project / "inject.jsonl")[0]]


def claude_code():
    sdk = pytest.importorskip("claude_agent_sdk", reason="needs contramem[claude-agent-sdk], which brings Claude Code")
    path = Path(sdk.__file__).parent / "_bundled" / "claude"
    if not path.exists():
        pytest.skip("this claude-agent-sdk brings no Claude Code")
    return str(path)


def test_claude_code_shows_both_texts_to_the_model(bank_path, project, task, anthropic):
    ids = iter(range(100))

    def delete(*emails):
        return [
            {"type": "tool_use", "id": f"toolu_{next(ids)}", "name": DELETE, "input": {"email_id": email}}
            for email in emails
        ]

    anthropic.replies = [delete("m1", "m2"), delete("x"), delete("x"), delete("m3")]
    install("claude-code", bank_path, project)
    servers = {"mcpServers": {"EmailClient": {"command": sys.executable, "args": ["server.py"]}}}
    (project / "mcp.json").write_text(json.dumps(servers))
    command = [claude_code(), "-p", task, "--mcp-config", "mcp.json", "--strict-mcp-config", "--allowedTools", DELETE]
    mine = ("ANTHROPIC_", "CLAUDE_", "HOME", "DISABLE_")  # as the fixture set them
    run(command, project, **{name: value for name, value in os.environ.items() if name.startswith(mine)})
    assert NOTES in str(anthropic.requests[0]["messages"])
    *made, failed, again, last = anthropic.told(4)
    assert ["deleted m1" in made[0], "deleted m2" in made[1]] == [True, True], "a call that does no harm is made"
    assert "Error executing tool" in failed
    assert "failed with these very arguments" in again
    assert "deleted m3" in last
    assert (project / "deleted.txt").read_text().split() == ["m1", "m2", "m3"]
    assert shown(project)[0][0] == "start"


class FakeResponses:
    """A server on this machine that answers as the Responses API would: an email to delete in each reply."""

    def __init__(self, *emails):
        self.requests = []
        self._emails = list(emails)
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_GET(self):
                self._send("application/json", b'{"object": "list", "data": [], "models": []}')

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
                self._send("text/event-stream", server.stream(asked))

            def _send(self, kind, content):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.end_headers()
                self.wfile.write(content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def stream(self, asked):
        self.requests.append(asked)
        number = len(self.requests)
        answer = {"id": f"resp_{number}", "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}
        events = [
            {"type": "response.created", "response": {"id": answer["id"]}},
            {"type": "response.output_item.done", "output_index": 0, "item": self._item(asked, number)},
            {"type": "response.completed", "response": answer},
        ]
        return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)

    def _item(self, asked, number):
        mailbox = next((tool for tool in asked.get("tools", ()) if "EmailClient" in str(tool.get("name"))), None)
        call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
        if mailbox is None and number < 30:  # servers start while the first replies are written
            return call | {"name": "exec_command", "arguments": json.dumps({"cmd": "sleep 1"})}
        if mailbox and self._emails:
            name = {"namespace": mailbox["name"], "name": mailbox["tools"][0]["name"]}
            return call | name | {"arguments": json.dumps({"email_id": self._emails.pop(0)})}
        text = {"type": "output_text", "text": "done", "annotations": []}
        return {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [text]}

    def told(self):
        """What came of the calls of the mailbox, as text."""
        items = self.requests[-1]["input"]
        deletions = {item["call_id"] for item in items if "email_id" in str(item.get("arguments", ""))}
        return [
            str(item["output"])
            for item in items
            if item.get("type") == "function_call_output" and item["call_id"] in deletions
        ]

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def responses():
    server = FakeResponses("m1", "m1", "m2")
    yield server
    server.close()


def test_codex_shows_both_texts_to_the_model(bank_path, project, task, responses, tmp_path):
    codex = shutil.which("codex")
    if codex is None:
        pytest.skip("Codex is not installed")
    install("codex", bank_path, project)
    home = tmp_path / "codex"
    home.mkdir()
    (home / "config.toml").write_text(
        f"""
        model = "fake-model"
        model_provider = "fake"
        [model_providers.fake]
        name = "fake"
        base_url = "{responses.url}"
        wire_api = "responses"
        requires_openai_auth = false
        [features]
        hooks = true
        [projects."{project}"]
        trust_level = "trusted"
        [mcp_servers.EmailClient]
        command = "{sys.executable}"
        args = ["{project / "server.py"}"]
        cwd = "{project}"
        """
    )
    unasked = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
    run([codex, "exec", "--skip-git-repo-check", *unasked, task], project, HOME=str(home), CODEX_HOME=str(home))
    assert NOTES in json.dumps(responses.requests[0]["input"])
    made = responses.told()
    assert ["deleted m1" in made[0], "deleted m2" in made[-1]] == [True, True]
    assert shown(project)[0][0] == "start"
