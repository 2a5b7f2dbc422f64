"""`contramem hook install`, and then the real Claude Code and the real Codex with a model that replies from a list.

Claude Code comes with claude-agent-sdk. Codex is installed by npm (440 MB) beside the packages of this environment.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner
from strict_provider import assert_cacheable

from contramem.cli.connect import hook
from contramem.inject.hook.wire import end
from contramem.inject.log import read_log

DELETE = "mcp__EmailClient__delete_email"
CODEX = "@openai/codex@0.169.0"
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
DESK_SERVER = """
from pathlib import Path
from mcp.server import MCPServer

server = MCPServer("EmailClient")

def add(name):
    def tool(text: str) -> str:
        with Path("done.txt").open("a") as file:
            file.write(name + " ")
        return name + ": ok"

    server.tool(name=name, description=name)(tool)

for name in ("lookup_code", "open_ticket", "send_notice"):
    add(name)
server.run()
"""
COMPACT_AT = 20_000
SUB_TASK = "Look for the newsletters."
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


def install(client, bank_path, project, hold="always"):
    """By default, for sessions without a limit."""
    arguments = ["install", "--client", client, "--bank", str(bank_path), "--project", str(project), "--hold", hold]
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
    return done.stdout


def shown(project):
    return [(line.where, len(line.cards)) for line in read_log(project / "inject.jsonl")[0]]


def claude_code():
    sdk = pytest.importorskip("claude_agent_sdk", reason="needs contramem[claude-agent-sdk], which brings Claude Code")
    path = Path(sdk.__file__).parent / "_bundled" / "claude"
    if not path.exists():
        pytest.skip("this claude-agent-sdk brings no Claude Code")
    return str(path)


def claude_command(project):
    """Claude Code with the project's MCP server; what follows is its request."""
    servers = {"mcpServers": {"EmailClient": {"command": sys.executable, "args": ["server.py"]}}}
    (project / "mcp.json").write_text(json.dumps(servers))
    tools = ["--allowedTools", "mcp__EmailClient", "Bash"]
    return [claude_code(), "--mcp-config", "mcp.json", "--strict-mcp-config", *tools]


@pytest.fixture
def claude(project, anthropic):
    """Runs Claude Code in the project, once; `anthropic` replies."""
    command = claude_command(project)
    mine = ("ANTHROPIC_", "CLAUDE_", "HOME", "DISABLE_")  # as the fixture set them
    environment = {name: value for name, value in os.environ.items() if name.startswith(mine)}

    def ask(prompt, *options):
        return run([*command, "-p", prompt, *options], project, **environment)

    return ask


def use(tool, number, **arguments):
    return {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": arguments}


def test_claude_code_shows_both_texts_to_the_model(bank_path, project, task, anthropic, claude):
    emails = iter(enumerate(["m1", "m2", "x", "x", "m3"]))

    def delete(count=1):
        return [use(DELETE, number, email_id=email) for number, email in islice(emails, count)]

    anthropic.replies = [delete(2), delete(), delete(), delete()]
    install("claude-code", bank_path, project)
    claude(task)
    assert NOTES in str(anthropic.requests[0]["messages"])
    *made, failed, again, last = anthropic.told(4)
    assert ["deleted m1" in made[0], "deleted m2" in made[1]] == [True, True], "a call that does no harm is made"
    assert "Error executing tool" in failed
    assert "failed with these very arguments" in again
    assert "deleted m3" in last
    assert (project / "deleted.txt").read_text().split() == ["m1", "m2", "m3"]
    assert shown(project)[0][0] == "start"


def test_claude_code_has_its_cards_again_after_compact_and_in_sub_agents(bank_path, project, task, anthropic, claude):
    install("claude-code", bank_path, project)
    agent = use("Agent", 1, description="Tidy", prompt=SUB_TASK, subagent_type="general-purpose")
    anthropic.replies = [[agent]]
    claude(task)
    [of_agent] = [request for request in anthropic.requests if asks_first(request, SUB_TASK)]
    assert NOTES in str(of_agent["messages"])
    claude("/compact", "--continue")
    claude("Go on.", "--continue")
    last = str(anthropic.requests[-1]["messages"])
    assert "This session is being continued" in last
    assert last.count(NOTES) == 1


def asks_first(request, text):
    return text in str(request["messages"][0]["content"])


def test_claude_code_holds_what_would_do_harm_and_is_told_once_what_is_open(
    desk_bank, project, open_task, anthropic, claude
):
    (project / "server.py").write_text(DESK_SERVER)
    install("claude-code", desk_bank, project)
    ticket, code, notice = (f"mcp__EmailClient__{name}" for name in ("open_ticket", "lookup_code", "send_notice"))
    push = use("Bash", 4, command="git push nowhere", description="Push")
    steps = [use(ticket, 1, text="late"), use(code, 2, text="late"), use(ticket, 3, text="late"), push]
    done = {"type": "text", "text": "done"}
    anthropic.replies = [*([step] for step in steps), [done], [use(notice, 5, text="sorry")], [done]]
    claude(open_task)
    held, _, made, pushed = anthropic.told(4)
    assert "lookup_code" in held
    assert "open_ticket: ok" in made
    assert "A push is rejected while the branch is behind" in str(anthropic.requests[4]["messages"]), pushed
    assert "send_notice" in str(anthropic.requests[5]["messages"][-1])
    assert (project / "done.txt").read_text().split() == ["lookup_code", "open_ticket", "send_notice"]
    claude("Close the ticket.", "--continue")
    assert "### desk.close_ticket" in str(anthropic.requests[-1]["messages"]), "a later prompt brings further cards"
    anthropic.assert_cacheable()


def test_claude_code_is_shown_rules_in_one_line_each_and_a_call_against_one_brings_its_card(
    desk_bank, project, anthropic, claude
):
    (project / "server.py").write_text(DESK_SERVER)
    install("claude-code", desk_bank, project)
    ticket, code, notice = (f"mcp__EmailClient__{name}" for name in ("open_ticket", "lookup_code", "send_notice"))
    steps = [
        use(ticket, 1, text="late"),
        use(code, 2, text="late"),
        use(ticket, 3, text="late"),
        use(notice, 4, text="x"),
    ]
    anthropic.replies = [[step] for step in steps]
    claude("Somebody rang this morning. Please see to that.")
    first = str(anthropic.requests[0]["messages"])
    rule = "When: A complaint of a customer is to be registered as a ticket. Rule: Call lookup_code before open_ticket."
    assert rf"`open_ticket`:\n- {rule}" in first, "one line, under its function"
    assert "### " not in first
    held, _, made, _ = anthropic.told(4)
    assert "### " in held and "lookup_code" in held, "a held call is answered with the whole card"
    assert "open_ticket: ok" in made
    assert (project / "done.txt").read_text().split() == ["lookup_code", "open_ticket", "send_notice"]
    anthropic.assert_cacheable()


def test_claude_code_tells_programs_of_one_shell_apart_and_a_tool_that_is_down_costs_one_hold(
    desk_bank, project, open_task, anthropic, claude
):
    install("claude-code", desk_bank, project)
    numbers = iter(range(1, 20))

    def shell(command):
        return use("Bash", next(numbers), command=command, description="Run")

    push = "git push nowhere"
    anthropic.replies = [[shell(push)], [shell("echo listed"), shell(push)], *([shell(push)] for _ in range(3))]
    claude(open_task)
    failed, listed, held, *tried = anthropic.told(-1)
    assert "Exit code" in failed and "listed" in listed
    assert "failed with these very arguments" in held
    assert ["Exit code" in answer for answer in tried] == [True, True, True], "after one hold every call is made"


TICKET, CODE, NOTICE = (f"mcp__EmailClient__{name}" for name in ("open_ticket", "lookup_code", "send_notice"))


@pytest.mark.parametrize("turns", [2, 3])
def test_claude_code_makes_every_call_and_keeps_its_answer_where_max_turns_may_end_the_session(
    desk_bank, project, open_task, anthropic, claude, turns
):
    (project / "server.py").write_text(DESK_SERVER)
    install("claude-code", desk_bank, project, hold="attended")
    anthropic.replies = [[use(TICKET, 1, text="late")], [{"type": "text", "text": "The ticket is open."}]]
    answer = claude(open_task, "--max-turns", str(turns))
    [made] = anthropic.told(1)
    assert "open_ticket: ok" in made
    assert "lookup_code" in str(anthropic.requests[1]["messages"][-1]), "a warning comes with the result"
    assert answer.strip() == "The ticket is open."
    assert (project / "done.txt").read_text().split() == ["open_ticket"]


def test_claude_code_holds_calls_in_a_session_that_a_person_attends(desk_bank, project, open_task, anthropic, tmp_path):
    (project / "server.py").write_text(DESK_SERVER)
    install("claude-code", desk_bank, project, hold="attended")
    steps = [use(TICKET, 1, text="late"), use(CODE, 2, text="x"), use(TICKET, 3, text="late"), use(NOTICE, 4, text="x")]
    anthropic.replies = [[step] for step in steps]
    command = claude_command(project)
    with Terminal([*command, "--", open_task], project, config_of_person(project)) as terminal:
        terminal.wait(lambda: len(anthropic.requests) > len(steps))
    held, _, made, _ = anthropic.told(len(steps))
    assert "lookup_code" in held
    assert "open_ticket: ok" in made
    assert (project / "done.txt").read_text().split() == ["lookup_code", "open_ticket", "send_notice"]


def config_of_person(project):
    """The environment of somebody who has used Claude Code in this project before."""
    key = os.environ["ANTHROPIC_API_KEY"]
    seen = {"hasCompletedOnboarding": True, "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []}}
    trusted = {"projects": {str(project): {"hasTrustDialogAccepted": True}}}
    folder = Path(os.environ["CLAUDE_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".claude.json").write_text(json.dumps(seen | trusted))
    mine = ("ANTHROPIC_", "CLAUDE_", "HOME", "DISABLE_", "TMPDIR", "PYTHON")
    own = {name: value for name, value in os.environ.items() if name.startswith(mine)}
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "xterm-256color", **own}


class Terminal:
    """A program at a terminal, as a person runs it."""

    def __init__(self, command, folder, environment):
        self._end, program_end = os.openpty()
        self._shown = b""
        pipes = {"stdin": program_end, "stdout": program_end, "stderr": program_end}
        self._program = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **pipes)
        os.close(program_end)

    def wait(self, is_done, limit_s=120):
        until = time.monotonic() + limit_s
        while not is_done() and time.monotonic() < until:
            if select.select([self._end], [], [], 0.2)[0]:
                self._shown += os.read(self._end, 1 << 16)
        assert is_done(), self._shown[-3000:].decode(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._program.terminate()
        self._program.wait(timeout=30)
        os.close(self._end)


def test_claude_code_tells_the_user_and_not_the_model_of_a_broken_bank(bank_path, project, task, anthropic, claude):
    install("claude-code", bank_path, project)
    settings = project / ".claude" / "settings.local.json"
    (project / "broken.jsonl").write_text("no bank")
    settings.write_text(settings.read_text().replace(str(bank_path), str(project / "broken.jsonl")))
    told = claude(task, "--output-format", "stream-json", "--verbose", "--include-hook-events")
    assert "contramem gives no guidance in this session" in told
    assert "contramem" not in str(anthropic.requests)


def codex_program():
    if path := shutil.which("codex"):
        return path
    folder = Path(sys.prefix) / "npm-clients"
    path = folder / "node_modules" / ".bin" / "codex"
    if not path.exists():
        command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder), CODEX]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=240)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"npm cannot install Codex here: {getattr(error, 'stderr', '') or error}")
    return str(path)


def without_waits(items):
    """The items of a request without the calls that waited for the MCP server to start, and their results."""
    waits = {item["call_id"] for item in items if "sleep 1" in str(item.get("arguments", ""))}
    return [item for item in items if item.get("call_id") not in waits]


class FakeResponses:
    """A server on this machine that answers as the Responses API would: a call in each reply, or the end (None)."""

    def __init__(self):
        self.requests = []
        self.calls = []
        self.tokens = {}
        """What a request is said to have taken, by the function that its reply calls; else 2."""
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
        item = self._item(asked, number)
        tokens = self.tokens.get(item.get("name"), 2)
        usage = {"input_tokens": tokens - 1, "output_tokens": 1, "total_tokens": tokens}
        answer = {"id": f"resp_{number}", "usage": usage}
        events = [
            {"type": "response.created", "response": {"id": answer["id"]}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": answer},
        ]
        return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)

    def _item(self, asked, number):
        server = next((tool for tool in asked.get("tools", ()) if "EmailClient" in str(tool.get("name"))), None)
        call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
        if server is None and number < 30:  # servers start while the first replies are written
            return call | {"name": "exec_command", "arguments": json.dumps({"cmd": "sleep 1"})}
        tool, arguments = self.calls.pop(0) if self.calls else (None, {})
        if tool is None:
            text = {"type": "output_text", "text": "done", "annotations": []}
            return {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [text]}
        where = {} if tool == "exec_command" else {"namespace": server["name"]}
        return call | where | {"name": tool, "arguments": json.dumps(arguments)}

    def told(self):
        """What came of the calls, as text."""
        items = without_waits(self.requests[-1]["input"])
        return [str(item["output"]) for item in items if item.get("type") == "function_call_output"]

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def responses():
    server = FakeResponses()
    yield server
    server.close()


@pytest.fixture
def codex(project, responses, tmp_path):
    """Runs Codex in the project, once; `responses` replies."""
    home = tmp_path / "codex"
    home.mkdir()
    return codex_in(project, home, responses.url)


def codex_in(project, home, url):
    """Asks Codex in the project, with a home of its own and the model at `url`."""
    program = codex_program()
    (home / "config.toml").write_text(
        f"""
        model = "fake-model"
        model_provider = "fake"
        model_auto_compact_token_limit = {COMPACT_AT}
        [model_providers.fake]
        name = "fake"
        base_url = "{url}"
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
    unasked = ["--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"]

    def ask(prompt, *verb, trust="--dangerously-bypass-hook-trust"):
        command = [program, "exec", *verb, *unasked, *filter(None, [trust]), prompt]
        return run(command, project, HOME=str(home), CODEX_HOME=str(home))

    return ask


def test_codex_holds_what_would_do_harm_and_is_told_once_what_is_open(desk_bank, project, open_task, responses, codex):
    (project / "server.py").write_text(DESK_SERVER)
    late = {"text": "late"}
    steps = [("open_ticket", late), ("lookup_code", late), ("open_ticket", late)]
    push = ("exec_command", {"cmd": "git push nowhere"})
    responses.calls = [*steps, push, (None, {}), ("send_notice", late)]
    install("codex", desk_bank, project)
    codex(open_task)
    assert NOTES in json.dumps(responses.requests[0]["input"])
    held, _, made, pushed, _ = responses.told()
    assert "lookup_code" in held
    assert "open_ticket: ok" in made
    assert (project / "done.txt").read_text().split() == ["lookup_code", "open_ticket", "send_notice"]
    last = json.dumps(responses.requests[-1]["input"])
    assert "A push is rejected while the branch is behind" in last, pushed
    assert last.count("Before you finish") == 1
    codex("Close the ticket.", "resume", "--last")
    assert "### desk.close_ticket" in json.dumps(responses.requests[-1]["input"]), "a later prompt brings further cards"
    # Codex adds the tools of an MCP server once it has started, with and without memory; all else must stay.
    assert_cacheable([request["input"] for request in responses.requests])


def test_codex_has_its_cards_again_after_a_compaction(desk_bank, project, open_task, responses, codex):
    (project / "server.py").write_text(DESK_SERVER)
    responses.calls = [("lookup_code", {"text": "late"})]
    responses.tokens = {"lookup_code": COMPACT_AT + 1}
    install("codex", desk_bank, project)
    codex(open_task)
    *_, summary, last = [json.dumps(request["input"]) for request in responses.requests]
    assert "lookup_code: ok" in summary
    assert "lookup_code: ok" not in last, "the conversation was compacted"
    assert last.count(NOTES) == 1


def test_codex_skips_a_hook_until_it_is_trusted_and_hook_status_says_so(
    desk_bank, project, open_task, responses, codex, tmp_path, monkeypatch
):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    (project / "server.py").write_text(DESK_SERVER)
    install("codex", desk_bank, project)
    status = ["status", "--project", str(project)]
    codex(open_task, trust=None)
    assert NOTES not in json.dumps(responses.requests[-1]["input"])
    untrusted = CliRunner().invoke(hook, status)
    assert (untrusted.exit_code, "skipped: Codex does not trust the hook for" in untrusted.output) == (1, True)
    trust_hooks(project, tmp_path / "codex")
    codex(open_task, trust=None)
    assert NOTES in json.dumps(responses.requests[-1]["input"])
    trusted = CliRunner().invoke(hook, status)
    assert (trusted.exit_code, "skipped" in trusted.output) == (0, False)


def trust_hooks(project, home):
    """What /hooks does: keep the hash of every hook that Codex lists in its configuration."""
    requests = [
        {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "test", "title": "", "version": "1"}}},
        {"method": "initialized"},
        {"id": 1, "method": "hooks/list", "params": {"cwds": [str(project)]}},
    ]
    environment = {**os.environ, "HOME": str(home), "CODEX_HOME": str(home)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([codex_program(), "app-server"], env=environment, text=True, **pipes) as server:
        server.stdin.write("".join(f"{json.dumps(request)}\n" for request in requests))
        server.stdin.flush()
        replies = (json.loads(line) for line in server.stdout)
        [listed] = next(reply["result"]["data"] for reply in replies if reply.get("id") == 1)
        server.stdin.close()
        server.terminate()
    with (home / "config.toml").open("a") as config:
        for own in listed["hooks"]:
            config.write(f'\n[hooks.state."{own["key"]}"]\ntrusted_hash = "{own["currentHash"]}"\n')
