"""OpenAI's Batch API and Anthropic's Message Batches on this machine: batches that end as they are told to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.wires import Wire

EXPIRED, MISSING = "expired", "missing"
Fate = dict[str, Any] | int | str
"""Of one request: the provider's reply, the HTTP status that it failed with, EXPIRED or MISSING."""
Decide = Callable[[int, str, dict[str, Any]], Fate]
"""From the number of the batch (1 is the first), a request's id and its body."""
TIME = "2026-11-16T00:00:00Z"


@dataclass
class Job:
    job_id: str
    requests: dict[str, dict[str, Any]]
    fates: dict[str, Fate]
    looks: int = 0
    failed: str | None = None
    """The provider's complaint about the batch as a whole."""


@dataclass
class BatchServer:
    wire: Wire
    decide: Decide
    looks_needed: int = 2
    fails_with: str | None = None
    stumbles: list[int] = field(default_factory=list)
    """HTTP statuses that the next looks are answered with instead."""
    jobs: dict[str, Job] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    forgotten: bool = False

    @property
    def asked(self) -> list[str]:
        """The id of every request that was handed over, with repetitions."""
        return [custom_id for job in self.jobs.values() for custom_id in job.requests]

    def add(self, requests: dict[str, dict[str, Any]]) -> Job:
        number = len(self.jobs) + 1
        fates = {name: self.decide(number, name, body) for name, body in requests.items()}
        job = Job(f"batch_{number}", requests, fates, failed=self.fails_with)
        self.jobs[job.job_id] = job
        return job

    def look(self, job_id: str) -> tuple[int, dict[str, Any]]:
        if self.stumbles:
            status = self.stumbles.pop(0)
            return status, self.wire.error(f"told to answer {status}")
        if self.forgotten or job_id not in self.jobs:
            return 404, self.wire.error("no such batch")
        self.jobs[job_id].looks += 1
        return 200, self.described(self.jobs[job_id])

    def ended(self, job: Job) -> bool:
        return job.looks >= self.looks_needed

    def described(self, job: Job) -> dict[str, Any]:
        raise NotImplementedError

    def handle(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, Any] | str]:
        raise NotImplementedError


class OpenAIBatches(BatchServer):
    def described(self, job: Job) -> dict[str, Any]:
        status = "in_progress"
        if self.ended(job):
            status = "expired" if EXPIRED in job.fates.values() else "failed" if job.failed else "completed"
        over = self.ended(job) and not job.failed
        return {
            "id": job.job_id, "object": "batch", "endpoint": "/v1/responses", "completion_window": "24h",
            "created_at": 1, "input_file_id": f"{job.job_id}-in", "status": status,
            "output_file_id": f"{job.job_id}-out" if over else None,
            "error_file_id": f"{job.job_id}-err" if over else None,
            "errors": {"object": "list", "data": [{"code": "bad", "message": job.failed}]} if job.failed else None,
        }  # fmt: skip

    def handle(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, Any] | str]:
        if (method, path) == ("POST", "/v1/files"):
            found = re.search(rb'filename="batch.jsonl".*?\r\n\r\n(.*?)\r\n--', body, re.DOTALL)
            assert found
            file_id = f"batch_{len(self.jobs) + 1}-in"
            self.files[file_id] = found[1].decode()
            return 200, {"id": file_id, "object": "file", "bytes": 1, "created_at": 1, "filename": "batch.jsonl",
                         "purpose": "batch", "status": "processed"}  # fmt: skip
        if (method, path) == ("POST", "/v1/batches"):
            lines = [json.loads(line) for line in self.files[json.loads(body)["input_file_id"]].splitlines()]
            return 200, self.described(self.add({line["custom_id"]: line["body"] for line in lines}))
        if method == "GET" and (found := re.fullmatch(r"/v1/batches/(\w+)", path)):
            return self.look(str(found[1]))
        if method == "GET" and (found := re.fullmatch(r"/v1/files/(\w+)-(in|out|err)/content", path)):
            which = str(found[2])
            return 200, self.files[f"{found[1]}-in"] if which == "in" else self._lines(self.jobs[str(found[1])], which)
        return 200, {"id": path, "object": "file", "deleted": True}

    def _lines(self, job: Job, which: str) -> str:
        lines = []
        for custom_id, fate in reversed(job.fates.items()):  # in no order that one could rely on
            if which == "out" and isinstance(fate, dict):
                lines.append({"custom_id": custom_id, "response": {"status_code": 200, "body": fate}, "error": None})
            if which == "err" and isinstance(fate, int):
                response = {"status_code": fate, "body": self.wire.error("told to fail")}
                lines.append({"custom_id": custom_id, "response": response, "error": None})
            if which == "err" and fate == EXPIRED:
                error = {"code": "batch_expired", "message": "not in time"}
                lines.append({"custom_id": custom_id, "response": None, "error": error})
        return "".join(json.dumps(line) + "\n" for line in lines)


class AnthropicBatches(BatchServer):
    def described(self, job: Job) -> dict[str, Any]:
        counts = {"processing": len(job.requests), "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        over = self.ended(job)
        return {
            "id": job.job_id, "type": "message_batch", "processing_status": "ended" if over else "in_progress",
            "request_counts": counts, "created_at": TIME, "expires_at": TIME, "ended_at": TIME if over else None,
            "archived_at": None, "cancel_initiated_at": None,
            "results_url": f"{self.url}/v1/messages/batches/{job.job_id}/results" if over else None,
        }  # fmt: skip

    url = ""

    def handle(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, Any] | str]:
        if (method, path) == ("POST", "/v1/messages/batches"):
            given = json.loads(body)["requests"]
            return 200, self.described(self.add({one["custom_id"]: one["params"] for one in given}))
        found = re.fullmatch(r"/v1/messages/batches/(\w+?)(/results)?", path)
        assert found, path
        if found[2]:
            return 200, self._results(self.jobs[str(found[1])])
        return self.look(str(found[1]))

    def _results(self, job: Job) -> str:
        lines = []
        for custom_id, fate in reversed(job.fates.items()):
            if isinstance(fate, dict):
                lines.append({"custom_id": custom_id, "result": {"type": "succeeded", "message": fate}})
            elif isinstance(fate, int):
                kind = {400: "invalid_request_error", 429: "rate_limit_error"}.get(fate, "api_error")
                error = {"type": "error", "request_id": None, "error": {"type": kind, "message": "told to fail"}}
                lines.append({"custom_id": custom_id, "result": {"type": "errored", "error": error}})
            elif fate == EXPIRED:
                lines.append({"custom_id": custom_id, "result": {"type": "expired"}})
        return "".join(json.dumps(line) + "\n" for line in lines)


@contextmanager
def serving(server: BatchServer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, said = server.handle(self.command, self.path.partition("?")[0], body)
            raw = (said if isinstance(said, str) else json.dumps(said)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-jsonl" if isinstance(said, str) else "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_POST = do_DELETE = _answer

        def log_message(self, *args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{http.server_port}"
    if isinstance(server, AnthropicBatches):
        server.url = url
    try:
        yield url
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
