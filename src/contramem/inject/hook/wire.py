"""Where a resident process listens. Each connection carries one event, answered with one line; client.py asks.

It uses a Unix socket in the private folder, if the system has them and the path is not too long. Otherwise it uses a
local port and a key, which is stored in the private folder: other users could reach the port, but cannot read the key.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

from contramem.inject.hook.client import ask, read_address

HAS_UNIX_SOCKETS = hasattr(socket, "AF_UNIX")
MAX_PATH_BYTES = 100
"""The maximum length of a socket path. Linux allows 107 bytes, macOS 103."""
KEY_BYTES = 16
PROBE = b""
"""Checks whether a process listens."""
END = b"end"
"""Asks the resident process to exit."""


class HookAddress:
    """The address of a resident process: a Unix socket at `path`, or a port with a key."""

    def __init__(self, path: str = "", port: int = 0, key: str = "") -> None:
        self.path, self.port, self.key = path, port, key

    @classmethod
    def read(cls, file: Path) -> HookAddress | None:
        try:
            return cls(*read_address(file))
        except (OSError, ValueError):
            return None

    @property
    def text(self) -> str:
        return f"{self.path}\n{self.port}\n{self.key}"


def listen(folder: Path, name: str, *, unix: bool = HAS_UNIX_SOCKETS) -> tuple[socket.socket, HookAddress]:
    """Open a listening socket with an address that no other process has."""
    path = str(folder / f"hook-{name}-{os.getpid()}")
    if unix and len(os.fsencode(path)) <= MAX_PATH_BYTES:
        Path(path).unlink(missing_ok=True)
        return _listening(socket.socket(socket.AF_UNIX), path), HookAddress(path)
    server = _listening(socket.socket(socket.AF_INET), ("127.0.0.1", 0))
    return server, HookAddress(port=server.getsockname()[1], key=os.urandom(KEY_BYTES).hex())


def _listening(server: socket.socket, where: str | tuple[str, int]) -> socket.socket:
    try:
        server.bind(where)
        server.listen(64)
    except OSError:
        server.close()
        raise
    return server


def end(address_file: Path) -> None:
    """Ask the resident process to exit, if there is one."""
    ask(address_file, END)
    with suppress(OSError):
        address_file.unlink(missing_ok=True)
