"""Connections: how long a client may take to send a request, and how many connections it may keep open.

uvicorn bounds neither, so a client that sends half a request would hold its connection, and a file of the process, for
as long as it likes.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

REQUEST_WITHIN_S = 20.0
"""From the connection, or from the first byte of a later request, to the last byte of its body."""
MAX_PER_ADDRESS = 256
"""Behind a proxy, all clients have the proxy's address."""
SHARE_OF_FILES = 0.875
"""Of the files that the process may open. Banks need the others."""


def _max_files() -> int:
    if sys.platform == "win32":
        return sys.maxsize
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


class Crowd:
    """The open connections of this process by address, in the order in which they were made."""

    def __init__(self) -> None:
        self._of: defaultdict[str, dict[Connection, None]] = defaultdict(dict)
        self._max = int(_max_files() * SHARE_OF_FILES)

    def admit(self, connection: Connection) -> None:
        """Where there are too many, close the oldest that waits for a request; the new one if all are busy."""
        own = self._of[connection.address]
        own[connection] = None
        if len(own) > MAX_PER_ADDRESS:
            crowded = own
        elif sum(map(len, self._of.values())) > self._max:
            crowded = max(self._of.values(), key=len)
        else:
            return
        next((old for old in crowded if old.is_waiting), connection).refuse("503 Service Unavailable")

    def leave(self, connection: Connection) -> None:
        own = self._of[connection.address]
        own.pop(connection, None)
        if not own:
            del self._of[connection.address]


class Connection(HttpToolsProtocol):
    """uvicorn's connection with a deadline, in a crowd."""

    crowd = Crowd()
    _deadline: asyncio.TimerHandle | None = None

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def is_waiting(self) -> bool:
        """Is the client to send something: a request, or the rest of one?"""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.crowd.admit(self)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self.crowd.leave(self)
        self._unset_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.is_waiting:
            self._set_deadline()
        else:
            self._unset_deadline()

    def refuse(self, status: str) -> None:
        """Close the connection, with a reason if no answer has begun."""
        self.crowd.leave(self)
        if self.cycle is None or not self.cycle.response_started:
            self.transport.write(f"HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".encode())
        self.transport.close()

    def _set_deadline(self) -> None:
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(REQUEST_WITHIN_S, self.refuse, "408 Request Timeout")

    def _unset_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
