import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import FunctionCard, Skill, SkillCard
from contramem.bank.frozen import write_frozen
from contramem.inject.run import Memory

sys.path.insert(0, str(Path(__file__).parent))

from strict_provider import StrictProvider, as_anthropic_caches, assert_cacheable

TASK = "Delete the newsletter emails except the one about travel; ask if the exception is ambiguous."


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    monkeypatch.delenv("CONTRAMEM_OFF", raising=False)


OPEN_TASK = "Register the complaint of the customer about the late delivery."
TICKET_SKILL = SkillCard(
    title="Look up the reason code before opening a ticket",
    applies_when="A complaint of a customer is to be registered as a ticket.",
    solves="Tickets with a made-up reason.",
    tags=("ticket", "complaint", "customer"),
    skill=Skill(core_rule="Call lookup_code before open_ticket.", completion=("the ticket has a reason code",)),
    functions_used=("desk.lookup_code", "desk.open_ticket", "desk.send_notice"),
    guards=("precedence(desk.lookup_code, desk.open_ticket)", "response(desk.open_ticket, desk.send_notice)"),
    card_id="skill::ticket",
    ability="general",
)


def function_card(name, mistake, effect="Adds a record."):
    return FunctionCard(
        card_id=f"function::{name}",
        tool=name,
        app=name.partition(".")[0],
        function=name.rpartition(".")[2],
        what_it_does="Does what its name says.",
        arguments=(),
        returns="A record.",
        usage_rules=(),
        common_mistakes=(mistake,),
        side_effects=effect,
    )


CLOSE = function_card("desk.close_ticket", "Closing fails while a notice is missing; send it first")
PUSH = function_card("shell.git_push", "A push is rejected while the branch is behind; pull first")


@pytest.fixture(scope="session")
def desk_bank(tmp_path_factory):
    """One skill with two guards (a code before a ticket, a notice after it), and the cards of two functions."""
    path = tmp_path_factory.mktemp("desk") / "bank.jsonl"
    write_frozen(path, Bank({card.card_id: BankEntry(card=card) for card in (TICKET_SKILL, CLOSE, PUSH)}))
    return path


@pytest.fixture(scope="session")
def desk(desk_bank):
    return Memory.load(desk_bank)


@pytest.fixture
def open_task():
    """A task that the skill of the desk is for."""
    return OPEN_TASK


@pytest.fixture
def office():
    """The tools of the desk."""
    return Office()


class Office:
    """What was done, in order. A ticket is closed only after a notice."""

    def __init__(self):
        self.done = []

    def lookup_code(self, topic: str) -> str:
        """Look up a reason code."""
        self.done.append("lookup_code")
        return "R7"

    def open_ticket(self, reason: str) -> str:
        """Open a ticket."""
        self.done.append("open_ticket")
        return "ticket T1 is open"

    def send_notice(self, text: str) -> str:
        """Send a notice."""
        self.done.append("send_notice")
        return "sent"

    def close_ticket(self, ticket: str) -> str:
        """Close a ticket."""
        self.done.append("close_ticket")
        return "closed" if "send_notice" in self.done else "Error: a notice is missing"

    @property
    def tools(self):
        return [self.lookup_code, self.open_ticket, self.send_notice, self.close_ticket]


@pytest.fixture
def task():
    """A task that the sample bank has a skill for; its `delete_email` has a card with a known mistake."""
    return TASK


@pytest.fixture
def inbox():
    """Emails by id, and a tool that deletes one. An unknown id is an error."""
    return Inbox()


class Inbox:
    def __init__(self):
        self.deleted = []

    def delete_email(self, email_id: str) -> str:
        """Delete one email."""
        if not email_id.startswith("m"):
            raise ValueError(f"no email {email_id}")
        self.deleted.append(email_id)
        return f"deleted {email_id}"


class FakeAnthropic:
    """A server on this machine that answers as the Anthropic API would, from a list, and keeps what it was asked."""

    def __init__(self):
        self.replies = []
        self.requests = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_GET(self):
                self._send("application/json", b"{}")

            do_HEAD = do_GET

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
                if "/v1/messages" not in self.path or "count_tokens" in self.path:
                    self._send("application/json", b'{"input_tokens": 1}')
                else:
                    self._send("text/event-stream", server.stream(asked))

            def _send(self, kind, content):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.end_headers()
                self.wfile.write(content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def stream(self, asked):
        blocks = [{"type": "text", "text": "done"}]
        if asked.get("tools"):  # what has no tools is not the agent: a title, a summary
            self.requests.append(asked)
            if self.replies:
                blocks = self.replies.pop(0)
        return b"".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in self._events(asked, blocks)
        )

    def _events(self, asked, blocks):
        message = {"id": f"msg_{len(self.requests)}", "type": "message", "role": "assistant", "content": []}
        usage = {"input_tokens": 1, "output_tokens": 1}
        rest = {"model": asked.get("model"), "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield {"type": "message_start", "message": message | rest}
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                start = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield {"type": "content_block_start", "index": index, "content_block": start}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        stop = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
        yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
        yield {"type": "message_stop"}

    def told(self, request):
        """The results of tools that a request brings, as text."""
        blocks = [block for message in self.requests[request]["messages"] for block in _blocks(message["content"])]
        results = [block["content"] for block in blocks if block.get("type") == "tool_result"]
        return [text if isinstance(text, str) else "".join(part.get("text", "") for part in text) for text in results]

    def assert_cacheable(self):
        requests = [as_anthropic_caches(request) for request in self.requests]
        assert_cacheable([request["messages"] for request in requests])
        assert all(
            (request["tools"], request["system"]) == (requests[0]["tools"], requests[0]["system"])
            for request in requests
        )

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _blocks(content):
    return content if isinstance(content, list) else []


def anthropic_environment(url, home):
    """What makes Claude Code ask the server at `url`, from an empty home."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-fake-not-a-key",
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
    }


@pytest.fixture
def anthropic(tmp_path, monkeypatch):
    """The Anthropic API as Claude Code finds it in this test: a server on this machine, and an empty home."""
    server = FakeAnthropic()
    home = tmp_path / "home"
    home.mkdir()
    for name, value in anthropic_environment(server.url, home).items():
        monkeypatch.setenv(name, value)
    yield server
    server.close()


@pytest.fixture
def provider():
    """A strict provider of chat completions. No test leaves it with a complaint."""
    server = StrictProvider()
    yield server
    server.close()
    assert not server.problems
