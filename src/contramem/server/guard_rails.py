"""Checks on every request: Host and origin, size and rate limits, and security headers."""

from __future__ import annotations

import json
from collections import OrderedDict
from functools import lru_cache
from time import monotonic, perf_counter
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contramem.server.observe import Metrics, Spans, log_request
from contramem.server.options import ServerOptions

HEADERS = (
    (b"content-security-policy", b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
     b"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    # Not `no-referrer`: browsers then send `Origin: null` with our own forms, which looks like another site.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)  # fmt: skip
SAFE = ("GET", "HEAD", "OPTIONS")
MAX_CLIENTS = 10_000
CLIENT_LEFT = 499
"""In the log, as nginx writes it: there is nobody to answer."""


class RateLimit:
    """One evenly refilled bucket per client. Clients not seen for long are forgotten."""

    def __init__(self, per_minute: int) -> None:
        self._rate, self._size = per_minute / 60, max(1.0, per_minute / 6)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, client: str, now: float) -> bool:
        level, at = self._buckets.pop(client, (self._size, now))
        level = min(self._size, level + (now - at) * self._rate)
        allowed = level >= 1
        self._buckets[client] = (level - allowed, now)
        if len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return allowed


class GuardRails:
    """Plain ASGI, because guidance must not wait for a task group."""

    def __init__(self, app: ASGIApp, options: ServerOptions, metrics: Metrics, spans: Spans) -> None:
        self._app, self._options, self._metrics, self._spans = app, options, metrics, spans
        self._limit = RateLimit(options.requests_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = perf_counter(), 500
        headers = dict(scope["headers"])

        async def respond(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        with self._spans.span(scope["method"], headers) as end:
            try:
                await self._answer(scope, headers, receive, respond)
            except ClientDisconnect:
                status = CLIENT_LEFT
            finally:
                seconds, route = perf_counter() - started, _route(scope)
                who, project = scope.get("contramem.who", ""), scope.get("path_params", {}).get("project", "")
                self._metrics.add(route, scope["method"], status, seconds)
                log_request(scope["method"], route, status, seconds, who, project)
                end(route, status, who, project)

    async def _answer(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, respond: Send) -> None:
        try:
            refusal = self._refuse(scope, headers)
            if refusal is not None:
                await _refuse(respond, *refusal)
            else:
                await self._app(scope, _limit_body(receive, self._options.max_body_bytes), respond)
        except TooLarge:
            await _refuse(respond, 413, f"the body has more than {self._options.max_body_bytes} bytes.")

    def _refuse(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = _host_name(headers.get(b"host", b"").decode("latin-1"))
        if host not in self._options.hosts:
            return 421, f"this server does not serve the host {host!r}. Name it with --allow-host."
        if scope["method"] not in SAFE and not _same_origin(headers):
            return 403, "this request comes from another site."
        if int(headers.get(b"content-length", b"0") or 0) > self._options.max_body_bytes:
            return 413, f"the body has more than {self._options.max_body_bytes} bytes."
        client = headers.get(b"authorization") or str((scope.get("client") or ("",))[0]).encode()
        if not self._limit.allows(client.decode("latin-1"), monotonic()):
            return 429, "too many requests. Wait a moment."
        return None


class TooLarge(Exception):
    """A body longer than allowed."""


def _limit_body(receive: Receive, limit: int) -> Receive:
    left = limit

    async def receive_limited() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise TooLarge
        return message

    return receive_limited


@lru_cache(maxsize=256)
def _host_name(host: str) -> str:
    """Without the port; an IPv6 address without its brackets."""
    return urlsplit(f"//{host}").hostname or "" if host else ""


def _same_origin(headers: dict[bytes, bytes]) -> bool:
    """Browsers say where a form comes from. Programs send neither header."""
    site = headers.get(b"sec-fetch-site")
    if site is not None and site not in (b"same-origin", b"none"):
        return False
    origin = headers.get(b"origin")
    if origin is None:
        return True
    return urlsplit(origin.decode("latin-1")).netloc == headers.get(b"host", b"").decode("latin-1")


def _route(scope: Scope) -> str:
    """The route instead of the address, which may contain a task's name."""
    endpoint = scope.get("endpoint")
    return getattr(endpoint, "__name__", type(endpoint).__name__ if endpoint else "none")


async def _refuse(send: Send, status: int, what: str) -> None:
    body = json.dumps({"error": {"status": status, "message": what}}).encode()
    length = str(len(body)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
