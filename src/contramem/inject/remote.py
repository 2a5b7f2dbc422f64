"""RemoteMemory: a bank behind `contramem serve`, with the interface of `Memory`. Needs no extra package."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable, Mapping
from threading import local
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from contramem.errors import ServerError, UsageError
from contramem.guards.guard import parse_guard
from contramem.guards.watch import Obligation
from contramem.inject.enforcement import Stop
from contramem.inject.guidance import Guidance
from contramem.retrieve.profiles import Profile
from contramem.traces.trajectory import Event, Outcome, Tool

TIMEOUT_S = 30.0


class RemoteMemory:
    """Guides runs through a server. Thread-safe: each thread has its own connection, which is kept open."""

    def __init__(
        self, url: str, *, token: str | None = None, project: str = "default", timeout_s: float = TIMEOUT_S
    ) -> None:
        self._connections: list[http.client.HTTPConnection] = []
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise UsageError(f"{url!r} is not the address of a server. Write, for example, http://127.0.0.1:8321.")
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._netloc, self._timeout_s = parts.netloc, timeout_s
        self._base = f"{parts.path.rstrip('/')}/api/v1/{quote(project)}/"
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._threads = local()

    def close(self) -> None:
        """Close the connections of all threads. The next request opens a new one."""
        while self._connections:
            self._connections.pop().close()

    def __del__(self) -> None:
        self.close()

    def start(
        self,
        task: str,
        *,
        ability: str | None = None,
        apps: Iterable[str] | None = None,
        tools: Iterable[str | Tool] | None = None,
        task_id: str | None = None,
        scenario_id: str | None = None,
        run_id: str | None = None,
        profile: str | Profile | None = None,
    ) -> RemoteRun:
        """Start a run for `task`, like `Memory.start`."""
        names = None if tools is None else [tool if isinstance(tool, str) else tool.function for tool in tools]
        fields = {
            "task": task, "ability": ability, "apps": None if apps is None else list(apps), "tools": names,
            "task_id": task_id, "scenario_id": scenario_id, "run_id": run_id,
            "profile": profile.name if isinstance(profile, Profile) else profile,
        }  # fmt: skip
        body = {name: value for name, value in fields.items() if value is not None}
        return RemoteRun(self, task, self.ask("POST", "runs", body))

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and return the answer. Raises ServerError with the server's message if it refuses."""
        content = msgspec.json.encode(body) if body is not None else None
        try:
            status, text = self._exchange(method, path, content)
        except (OSError, http.client.HTTPException) as error:
            self._threads.connection = None
            raise ServerError(f"http://{self._netloc}: the server does not answer ({error}).") from error
        try:
            answer: dict[str, Any] = json.loads(text)
        except ValueError:
            raise ServerError(
                f"http://{self._netloc}: answered {status} without JSON. Is this a contramem server?"
            ) from None
        if status >= 400:
            raise ServerError(f"http://{self._netloc}: {answer.get('error', {}).get('message', status)}")
        return answer

    def _exchange(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes]:
        """Send one request. If the server has closed the connection, it is reopened once."""
        reused = getattr(self._threads, "connection", None)
        connection = reused or self._kind(self._netloc, timeout=self._timeout_s)
        if reused is None:
            self._threads.connection = connection
            self._connections.append(connection)
        try:
            connection.request(method, self._base + path, content, self._headers)
            response = connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self._threads.connection = None
            if reused is None:
                raise
            return self._exchange(method, path, content)
        return response.status, response.read()


class RemoteRun:
    """One run of an agent at one task. Its state is kept by the server."""

    def __init__(self, memory: RemoteMemory, task: str, started: Mapping[str, Any]) -> None:
        self._memory, self.task = memory, task
        self.run_id: str = started["run_id"]
        self.withheld: str = started["withheld"]
        self._path = f"runs/{quote(self.run_id, safe='')}"
        self.guidance: Guidance = _guidance(started["guidance"])
        """What to show before the first step."""

    def before_call(self, function: str, arguments: Mapping[str, Any] | None = None) -> Guidance | None:
        """What to show before this call; None if there is nothing, or it was already shown."""
        return self._ask_guidance("before-call", {"function": function, "arguments": arguments})

    def stop(self, function: str, arguments: Mapping[str, Any] | None = None) -> Stop | None:
        """Whether this call has to wait for a person, or is not to be made."""
        body = {"function": function, "arguments": arguments}
        stop = self._memory.ask("POST", f"{self._path}/stop", body)["stop"]
        return Stop(stop["level"], stop["text"], tuple(stop["card_ids"])) if stop else None

    def allow(self, card_id: str) -> None:
        """A person allows calls that go against this card. The token needs the scope `review`."""
        self._memory.ask("POST", f"{self._path}/allow", {"card_id": card_id})

    def before_final(self) -> Guidance | None:
        """What to show before the run ends."""
        return self._ask_guidance("before-final", None)

    def observe(self, event: Event) -> tuple[Obligation, ...]:
        """Report an event. Returns the guards it broke for good."""
        return self._ask_obligations("POST", "events", msgspec.to_builtins(event))

    def pending(self) -> tuple[Obligation, ...]:
        """What the shown cards still require."""
        return self._ask_obligations("GET", "pending", None)

    def would_break(self, function: str, arguments: Mapping[str, Any] | None = None) -> tuple[Obligation, ...]:
        """The guards that this call would break for good."""
        return self._ask_obligations("POST", "would-break", {"function": function, "arguments": arguments})

    def finish(self, outcome: bool | Outcome | None = None) -> None:
        """Report how the run ended."""
        ended = outcome if isinstance(outcome, Outcome) else Outcome(passed=outcome)
        body = {"passed": ended.passed, "reward": ended.reward, "feedback": ended.feedback}
        self._memory.ask("POST", f"{self._path}/finish", body)

    def _ask_guidance(self, path: str, body: Mapping[str, Any] | None) -> Guidance | None:
        guidance = self._memory.ask("POST", f"{self._path}/{path}", body)["guidance"]
        return _guidance(guidance) if guidance else None

    def _ask_obligations(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[Obligation, ...]:
        answer = self._memory.ask(method, f"{self._path}/{path}", body)
        return tuple(
            Obligation(parse_guard(item["guard"]), item["card_id"], item["title"], item["state"], item["due"])
            for item in answer["obligations"]
        )


def _guidance(fields: Mapping[str, Any]) -> Guidance:
    listed = tuple(fields.get("listed", ()))  # servers of earlier versions send none
    card_ids = tuple(fields["card_ids"])
    return Guidance(fields["text"], fields["tokens"], fields["encoding"], card_ids, listed=listed, note=fields["note"])
