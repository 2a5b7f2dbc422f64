"""An OpenAI-compatible server on this machine that behaves as it is told, request by request."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

Behave = Callable[[dict[str, Any], int], "Answer"]
"""From the request's body and how often this very body has come before, to what is answered."""


class Answer:
    def __init__(
        self, content: str | None = None, *, status: int = 200, headers: dict[str, str] | None = None,
        finish: str = "stop", refusal: str | None = None, raw: bytes | None = None, delay_s: float = 0.0,
        hang_up: bool = False, calls: Sequence[tuple[str, dict[str, Any]]] = (),
    ) -> None:  # fmt: skip
        self.status, self.headers, self.delay_s, self.hang_up = status, headers or {}, delay_s, hang_up
        message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": refusal}
        if calls:
            finish = "tool_calls"
            message["tool_calls"] = [
                {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
                for number, (name, given) in enumerate(calls)
            ]
        body: dict[str, Any] = {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "loopback",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
        }  # fmt: skip
        if status != 200:
            body = {"error": {"message": f"told to answer {status}", "type": "test"}}
        self.raw = raw if raw is not None else json.dumps(body).encode()


class Loopback:
    """`bodies` holds every request in the order it came, `keys` the key each brought."""

    def __init__(self, behave: Behave) -> None:
        self.behave = behave
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.url = ""
        self._lock = Lock()

    def answer(self, body: dict[str, Any], key: str) -> Answer:
        with self._lock:
            before = sum(earlier == body for earlier in self.bodies)
            self.bodies.append(body)
            self.keys.append(key)
        return self.behave(body, before)


@contextmanager
def loopback(behave: Behave) -> Iterator[Loopback]:
    served = Loopback(behave)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = served.answer(body, self.headers.get("Authorization", ""))
            time.sleep(answer.delay_s)
            if answer.hang_up:
                self.close_connection = True
                self.connection.close()
                return
            try:
                self.send_response(answer.status)
                for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.raw)))
                self.end_headers()
                self.wfile.write(answer.raw)
            except OSError:  # the client has gone
                self.close_connection = True

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
