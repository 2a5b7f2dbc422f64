"""Locks a file, so that one process at a time does what others must wait for or leave alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from contramem.errors import UsageError

if sys.platform == "win32":
    import msvcrt

    def try_lock(file: IO[bytes]) -> bool:
        position = file.tell()
        file.seek(1 << 30)  # beyond the content, because locked bytes cannot be read
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            file.seek(position)
        return True

else:
    import fcntl

    def try_lock(file: IO[bytes]) -> bool:
        """Lock an open file; False if another process or another open file has it locked. Closing it releases it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


@contextmanager
def sole_holder(path: Path) -> Iterator[bool]:
    """Lock the file at `path` until this block or process ends, then remove it. Yields whether it was free."""
    while True:
        with _open(path) as file:
            if not try_lock(file):
                yield False
                return
            # The last holder may have removed the file after we opened it: others would lock a new one, so try again.
            if not _is_at(file, path):
                continue
            try:
                yield True
            finally:
                _remove(path)
            return


def _open(path: Path) -> IO[bytes]:
    try:
        return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written ({error.strerror}). Make its folder writable, or work on a copy."
        ) from None


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Whether the path still leads to this file. Its inode is not given to another file while we have it open."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    with suppress(OSError):  # Windows does not remove a file that is open; the next holder will lock it as it is
        path.unlink()
