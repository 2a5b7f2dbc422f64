"""Atomic file writes: a file is replaced whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def make_private(path: Path) -> Path:
    """Create an empty file that only its owner can read, unless it exists. Returns the path."""
    path.touch(mode=0o600)
    return path


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A stream to a temporary file that replaces `path` at the end, and is removed on failure.

    Symbolic links stay links. If `path` is not a regular file (/dev/stdout, a pipe), it is written to directly: root
    could otherwise replace a device file. Only its owner can read a `private` file.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    place = path.resolve()
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(
            os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666), "wb"
        ) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
