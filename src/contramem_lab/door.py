"""The door: an agent, a simulated user or a judge that is no API, but a person or a program at a shell.

What the harness asks lies in a folder as a file until somebody answers it. Each conversation has a key, and a role.

KEY.ask     a question that nobody has taken      KEY.taken     one that somebody is working on
KEY.answer  the answer                            KEY.done      the conversation has ended
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from contramem.errors import UsageError
from contramem.traces.trajectory import RunUsage, Tool
from contramem.whole_file import replacing
from contramem_lab.target import AgentReply, ChatMessage, ToolCall

Role: TypeAlias = Literal["agent", "user", "judge"]
_POLL_S = 0.1


class Ask(msgspec.Struct, frozen=True):
    """What a role is asked: the messages since its last answer, and its tools if they are new."""

    key: str
    role: str
    messages: list[ChatMessage]
    tools: list[Tool]


class _Answer(msgspec.Struct, frozen=True):
    text: str = ""
    calls: list[ToolCall] = []


class DoorTarget:
    """Asks whoever is behind the door, and waits as long as it takes. It may serve several runs at once."""

    def __init__(self, folder: Path, role: Role) -> None:
        self.name = role
        self._folder, self._role = folder, role
        self._local = threading.local()
        self._keys: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[Tool], *, seed: int | None = None) -> AgentReply:
        begins = not any(message.role == "assistant" for message in messages)
        if begins:
            self._begin()
        key = self._local.key
        news = list(messages) if begins else list(messages[self._local.heard :])
        self._local.heard = len(messages) + 1  # its answer comes back as a message
        _write(self._folder / f"{key}.ask", Ask(key, self._role, news, list(tools) if begins else []))
        answer = _take(self._folder / f"{key}.answer")
        return AgentReply(answer.text, tuple(answer.calls), usage=RunUsage(model_calls=1))

    def _begin(self) -> None:
        """A thread has one conversation at a time: with a new one, its last one has ended."""
        self._end(getattr(self._local, "key", None))
        self._local.key = f"{self._role}-{secrets.token_hex(3)}"
        self._keys.append(self._local.key)

    def _end(self, key: str | None) -> None:
        if key is not None:
            (self._folder / f"{key}.done").touch()

    def close(self) -> None:
        """End all conversations."""
        for key in self._keys:
            self._end(key)


@dataclass(frozen=True)
class Door:
    """The side of whoever answers."""

    folder: Path
    wait_s: float
    """How long to wait for a question."""

    def next(self, role: Role) -> Ask | None:
        """Take the oldest question of a conversation that nobody has taken. None: there is none yet."""
        until = time.monotonic() + self.wait_s
        while True:
            for path in sorted(self.folder.glob(f"{role}-*.ask"), key=lambda path: path.stat().st_mtime_ns):
                if (ask := self._claim(path)) is not None:
                    return ask
            if time.monotonic() >= until:
                return None
            time.sleep(_POLL_S)

    def _claim(self, path: Path) -> Ask | None:
        taken = path.with_suffix(".taken")
        try:
            path.rename(taken)
        except FileNotFoundError:  # somebody else was faster
            return None
        return msgspec.json.decode(taken.read_bytes(), type=Ask)

    def answer(self, key: str, text: str = "", calls: Sequence[ToolCall] = ()) -> Ask | None:
        """Answer a question, and wait for what is asked next in the same conversation. None: it has ended, or nothing
        is asked yet; `ended` tells."""
        taken = self.folder / f"{key}.taken"
        if not taken.exists():
            raise UsageError(f"{key}: no question of this conversation waits for an answer in {self.folder}.")
        taken.unlink()
        _write(self.folder / f"{key}.answer", _Answer(text, list(calls)))
        return self.resume(key)

    def resume(self, key: str) -> Ask | None:
        """Wait for the next question of a conversation."""
        until = time.monotonic() + self.wait_s
        path = self.folder / f"{key}.ask"
        while not path.exists():
            if self.ended(key) or time.monotonic() >= until:
                return None
            time.sleep(_POLL_S)
        return self._claim(path)

    def ended(self, key: str) -> bool:
        return (self.folder / f"{key}.done").exists()


def _write(path: Path, value: object) -> None:
    with replacing(path) as file:
        file.write(msgspec.json.encode(value))


def _take(path: Path) -> _Answer:
    while not path.exists():
        time.sleep(_POLL_S)
    answer = msgspec.json.decode(path.read_bytes(), type=_Answer)
    path.unlink()
    return answer
