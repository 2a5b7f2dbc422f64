"""Temporary folders that do not stay behind: whoever needs one removes those of processes that were killed."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

from contramem.file_lock import try_lock

PREFIX = "contramem-"
_HELD = "held"
"""In each folder, locked by its process for as long as that lives."""
_STARTING_S = 60
"""Between making the file and locking it, a process must not lose its folder."""


class ScratchFolder:
    """A folder for as long as this object is open, with mode 0700. `path` is empty at first."""

    def __init__(self, purpose: str, inside: Path | None = None) -> None:
        parent = inside or Path(tempfile.gettempdir())
        remove_abandoned(parent)
        self._folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-", dir=parent))
        self._held = (self._folder / _HELD).open("wb")
        try_lock(self._held)
        self.path = self._folder / "work"
        self.path.mkdir()

    def close(self) -> None:
        self._held.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of this user whose process has ended without doing so."""
    for held in parent.glob(f"{PREFIX}*/{_HELD}"):
        try:
            is_own = not hasattr(os, "getuid") or held.lstat().st_uid == os.getuid()
            if not is_own or held.parent.is_symlink() or time.time() - held.stat().st_mtime < _STARTING_S:
                continue
            with held.open("r+b") as file:
                if try_lock(file):
                    shutil.rmtree(held.parent, ignore_errors=True)
        except OSError:
            continue  # another process was faster
