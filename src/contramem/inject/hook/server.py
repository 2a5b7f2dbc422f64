"""The resident process of the hook: keeps the bank and the sessions in memory, answers, and exits when idle.

A hook is a process per event, and loading libraries would cost each of them half a second, so the first event starts
this process. It exits after some minutes without events, or when its files are removed. Sessions continue after that,
because their events are in a journal.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from hmac import compare_digest
from pathlib import Path
from socket import socket
from time import monotonic
from typing import Any

from contramem.counting import keep_counts
from contramem.errors import ContramemError, UsageError
from contramem.inject.adapters.starter import Starter
from contramem.inject.hook.client import REFUSED, ask
from contramem.inject.hook.journal import JournaledSessions, SessionLog, SessionRecording
from contramem.inject.hook.place import HookOptions, HookPlace, write_whole
from contramem.inject.hook.sessions import ENTRYPOINT, HookSessions
from contramem.inject.hook.wire import END, HAS_UNIX_SOCKETS, PROBE, HookAddress, listen
from contramem.inject.loaded_bank import bank_at
from contramem.inject.run import Memory

IDLE_S = 5 * 60
READ_S = 5
LOOK_S = 10
"""How often it checks whether its files still exist."""


def sessions_of(options: HookOptions, place: HookPlace) -> JournaledSessions:
    log = SessionLog(options.log) if options.log else None
    recording = SessionRecording(options.record) if options.record else None
    memory = Memory(bank_at(options.bank), log=log, record=recording, enforce=options.enforce)
    writers = [writer for writer in (log, recording) if writer is not None]
    sessions = HookSessions(Starter(memory, {"profile": options.profile}), options.hold)
    return JournaledSessions(place, sessions, writers)


def answer_alone(options: HookOptions, place: HookPlace, message: bytes) -> bytes | None:
    """Answer one event without a resident process. None if there is no guidance; `place` then has the reason."""
    event = parse_message(message)
    try:
        sessions = sessions_of(options, place)
    except (ContramemError, OSError) as error:
        place.report(" ".join(str(error).split()))
        return None
    return _encode(sessions.answer(event))


def parse_message(message: bytes) -> dict[str, Any]:
    """The event in a message of the client, with how Claude Code was started."""
    entrypoint, _, text = message.decode("utf-8", "surrogatepass").partition("\n")
    event = json.loads(text)
    if not isinstance(event, dict):
        raise UsageError(
            "standard input is not a hook event. Claude Code and Codex call this command; see `contramem hook install`."
        )
    return {**event, ENTRYPOINT: entrypoint}


def _encode(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer).encode() if answer else b""


class HookServer:
    """Answers one event per connection, one after the other, because an answer takes only milliseconds."""

    def __init__(self, place: HookPlace, sessions: JournaledSessions, *, unix: bool = HAS_UNIX_SOCKETS) -> None:
        self._place, self._sessions = place, sessions
        self._socket, self.address = listen(place.folder, place.name, unix=unix)
        # Written last, so that a process that finds the address can connect.
        write_whole(place.address, self.address.text)

    def serve_until_idle(self, idle_s: float = IDLE_S, look_s: float = LOOK_S) -> None:
        """Answer until there was no event for `idle_s`, a client asks to end, or the address file is removed."""
        self._socket.settimeout(min(look_s, idle_s))
        until = monotonic() + idle_s
        while monotonic() < until and self._is_reachable():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            until = monotonic() + idle_s
            with connection, suppress(OSError):  # the client is gone, which is harmless
                self._serve(connection)
        self._close()

    def _serve(self, connection: socket) -> None:
        connection.settimeout(READ_S)
        with connection.makefile("rwb") as file:
            key, _, message = file.read().partition(b"\n")
            if not compare_digest(key, self.address.key.encode()):
                return
            if message == END:
                self._place.address.unlink(missing_ok=True)
            file.write((b"" if message in (PROBE, END) else self._answer(message)) + b"\n")

    def _answer(self, message: bytes) -> bytes:
        try:
            return _encode(self._sessions.answer(parse_message(message)))
        except Exception as error:  # reported by the client process, because this one has no user
            return REFUSED + " ".join(str(error).split()).encode("utf-8", "replace")

    def _close(self) -> None:
        if self._is_reachable():
            self._place.address.unlink(missing_ok=True)
        self._socket.close()
        if self.address.path:
            Path(self.address.path).unlink(missing_ok=True)

    def _is_reachable(self) -> bool:
        address = HookAddress.read(self._place.address)
        return address is not None and address.text == self.address.text


def main(arguments: list[str] | None = None) -> None:
    options = HookOptions.parse(sys.argv[1:] if arguments is None else arguments)
    place = HookPlace.of(options)
    try:
        sessions = sessions_of(options, place)
    except (ContramemError, OSError) as error:
        place.report(" ".join(str(error).split()))
        return
    if ask(place.address, PROBE) is not None:  # another process was faster
        return
    server = HookServer(place, sessions)
    keep_counts(place.counts)
    place.report("")
    place.end_start()
    place.clear_old()
    server.serve_until_idle()


if __name__ == "__main__":
    main()
