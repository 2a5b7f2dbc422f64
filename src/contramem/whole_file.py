"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def make_private(path: Path) -> Path:
    """Make an empty file that its owner alone may read, if there is none; the path itself."""
    path.touch(mode=0o600)
    return path


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A stream into a hidden file that takes the place of `path` at the end, and is removed when that fails.

    Links stay links. What is there and is no plain file (/dev/stdout, a pipe) is written to, for replacing a device, as
    root can, would take it from the whole machine. A `private` file may be read by its owner alone.
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
