"""Clients that send half a request, hold many connections or leave in the middle, on real sockets."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.server.live import LiveServer, serving

pytestmark = pytest.mark.slow
HALF_HEADERS = b"POST /api/v1/default/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HALF_BODY = HALF_HEADERS + b'Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"task": "Close'
MCP = b"POST /mcp/default/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json, text/event-stream\r\n"
HALF_MCP = MCP + b'Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"jsonrpc": "2.0"'


@pytest.fixture
def live(bank: Path, tmp_path: Path) -> Iterator[LiveServer]:
    with serving(str(bank), cwd=tmp_path) as server:
        yield server


def send(server: LiveServer, data: bytes) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    client.sendall(data)
    return client


def ask_health(server: LiveServer) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)) as connection:
        connection.request("GET", "/health")
        return connection.getresponse().status


def test_half_a_request_is_given_up_after_twenty_seconds(live: LiveServer) -> None:
    whole = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    clients = [send(live, data) for data in (b"", HALF_HEADERS, HALF_BODY, HALF_MCP, whole + HALF_HEADERS)]
    started = time.monotonic()
    answers = []
    for client in clients:
        with client, client.makefile("rb") as file:
            answers.append(file.read())  # until the server closes
    assert 15 < time.monotonic() - started < 25
    assert all(answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n") for answer in answers[:4])
    assert answers[4].endswith(b'{"status":"ok"}')


def test_of_too_many_connections_of_an_address_the_oldest_that_waits_makes_way(live: LiveServer) -> None:
    clients = [send(live, HALF_BODY if number % 2 else HALF_HEADERS) for number in range(600)]
    assert {ask_health(live) for _ in range(20)} == {200}
    assert clients[0].recv(100).startswith(b"HTTP/1.1 503 ")
    body = json.dumps({"task": "Close my printer ticket."}).encode()
    clients[-1].sendall(body.ljust(500)[len(b'{"task": "Close') :])  # the newest is still heard
    assert clients[-1].recv(100).startswith(b"HTTP/1.1 201 ")
    for client in clients:
        client.close()


def test_clients_that_leave_in_the_middle_of_a_body_leave_no_traceback(live: LiveServer) -> None:
    for data in (HALF_BODY, HALF_MCP, HALF_HEADERS):
        for _ in range(5):
            send(live, data).close()
    time.sleep(1)
    assert ask_health(live) == 200
    assert live.stop() == 0
    assert len(live.log.splitlines()) <= 3, live.log
