"""The journal of each session: its events, in a file of the private folder.

The resident process may exit, be late or be missing, and several processes may answer events at the same time. So each
process first replays the events that others have answered, then answers, and appends its own event.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import IO, Any

from contramem.file_lock import try_lock
from contramem.inject.hook.place import HookPlace
from contramem.inject.hook.sessions import HookAnswer, HookEvent, HookSessions
from contramem.inject.log import InjectLog, Line
from contramem.inject.recording import RunRecording

MAX_TEXT = 64 << 10
"""Longer results are cut in the journal."""
LOCK_S = 4.0
"""How long to wait for another process that has the session locked."""


class SessionLog(InjectLog):
    """An inject log that can be silenced while old events are replayed."""

    silent = False

    def append(self, line: Line) -> None:
        if not self.silent:
            super().append(line)


class SessionRecording(RunRecording):
    """A recording that can be silenced while old events are replayed."""

    silent = False

    def _append(self, run_id: str, what: str, fields: dict[str, Any]) -> None:
        if not self.silent:
            super()._append(run_id, what, fields)


class JournaledSessions:
    """Answers events like `HookSessions`, in sessions that other processes may have started or may also answer."""

    def __init__(
        self, place: HookPlace, sessions: HookSessions, writers: Sequence[SessionLog | SessionRecording] = ()
    ) -> None:
        """`writers` are silenced during replay, because the process that answered an event has already logged it."""
        self._place, self._sessions, self._writers = place, sessions, writers
        self._read_bytes: dict[str, int] = {}
        self._lock = Lock()

    def answer(self, event: HookEvent) -> HookAnswer:
        session_id = str(event.get("session_id") or "")
        with self._lock, _open_locked(self._place.journal(session_id)) as journal:
            self._catch_up(session_id, journal)
            answer = self._sessions.answer(event)
            journal.write(b"\n" + json.dumps(_shorten(event)).encode())  # the line break ends a truncated line
            journal.flush()
            self._read_bytes[session_id] = journal.tell()
        return answer

    def _catch_up(self, session_id: str, journal: IO[bytes]) -> None:
        journal.seek(self._read_bytes.get(session_id, 0))
        with self._silence():
            for line in journal:
                if (event := _read_event(line)) is not None:
                    self._sessions.answer(event)

    @contextmanager
    def _silence(self) -> Iterator[None]:
        for writer in self._writers:
            writer.silent = True
        try:
            yield
        finally:
            for writer in self._writers:
                writer.silent = False


def _read_event(line: bytes) -> HookEvent | None:
    """None for a line that was truncated by a kill, or that is not an event."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _shorten(event: HookEvent) -> dict[str, Any]:
    response = event.get("tool_response")
    if response is None or len(text := response if isinstance(response, str) else json.dumps(response)) <= MAX_TEXT:
        return dict(event)
    return {**event, "tool_response": text[:MAX_TEXT]}


@contextmanager
def _open_locked(path: Path) -> Iterator[IO[bytes]]:
    """Open the file and lock it. After `LOCK_S` it goes on without the lock, so that a hung process blocks nobody."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "a+b") as file:
        until = monotonic() + LOCK_S
        while not try_lock(file) and monotonic() < until:
            sleep(0.01)
        yield file
