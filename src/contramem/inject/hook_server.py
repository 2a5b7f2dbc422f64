"""The resident half of the hook: holds the bank and the sessions, answers on a socket, and ends by itself.

A hook is a process per event, and loading libraries would cost each of them half a second. So the first event starts
this process, and `inject/hook.py` only carries events to it. It ends after half an hour without any.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer

from contramem.errors import ContramemError
from contramem.inject.adapters.starter import Starter
from contramem.inject.hook import Hook, HookPlace, options_from
from contramem.inject.hook_sessions import HookSessions
from contramem.inject.loaded_bank import bank_at
from contramem.inject.run import Memory

IDLE_S = 30 * 60


def sessions_of(hook: Hook) -> HookSessions:
    memory = Memory(bank_at(hook.bank), log=hook.log, record=hook.record)
    return HookSessions(Starter(memory, {"profile": hook.profile}))


class HookServer(ThreadingUnixStreamServer):
    """Answers one event a connection."""

    daemon_threads = True

    def __init__(self, place: Path, sessions: HookSessions, idle_s: float = IDLE_S) -> None:
        self.sessions = sessions
        self._idle_s, self._clock = idle_s, threading.Event()
        super().__init__(str(place), _Handler)
        self._place = os.stat(place).st_ino, place  # noqa: PTH116 - to know it again

    def serve_until_idle(self) -> None:
        thread = threading.Thread(target=self.serve_forever, daemon=True)
        thread.start()
        while self._clock.wait(self._idle_s):
            self._clock.clear()
        self.shutdown()
        self.server_close()
        inode, place = self._place
        if place.exists() and place.stat().st_ino == inode:
            place.unlink()

    def stir(self) -> None:
        """Something happened: the time without events begins anew."""
        self._clock.set()


class _Handler(StreamRequestHandler):
    server: HookServer

    def handle(self) -> None:
        self.server.stir()
        event = json.loads(self.rfile.read())
        answer = self.server.sessions.answer(event)
        self.wfile.write(json.dumps(answer).encode() if answer else b"")


def main(arguments: list[str] | None = None) -> None:
    hook = options_from(sys.argv[1:] if arguments is None else arguments)
    place = HookPlace.of(hook)
    try:
        sessions = sessions_of(hook)
    except (ContramemError, OSError) as error:
        place.report(" ".join(str(error).split()))
        return
    # Bound under another name first: whoever finds the socket finds somebody who listens.
    beside = place.socket.with_suffix(f".{os.getpid()}")
    server = HookServer(beside, sessions)
    if _is_answered(place.socket):
        server.server_close()
        beside.unlink()
        return
    beside.replace(place.socket)
    server._place = server._place[0], place.socket
    place.report("")
    server.serve_until_idle()


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True


if __name__ == "__main__":
    main()
