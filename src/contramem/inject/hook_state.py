"""Where the hook keeps its socket and what it has said: a folder that only this user can write."""

from __future__ import annotations

import os
import stat
import time
from hashlib import sha256
from pathlib import Path

from contramem.errors import UsageError

KEPT_S = 14 * 24 * 3600
"""Files that nothing happened to for longer are cleared away."""


def private_folder() -> Path:
    """In the system's temporary folder. What stands in it is shown to agents, so nobody else may write there."""
    import tempfile

    user = os.getuid() if hasattr(os, "getuid") else ""
    folder = Path(tempfile.gettempdir()) / f"contramem-hook-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if hasattr(os, "getuid") and (not stat.S_ISDIR(status.st_mode) or status.st_uid != user or status.st_mode & 0o022):
        raise UsageError(f"{folder}: others can write here. Choose a folder of your own with --state.")
    return folder


def clear_old(folder: Path) -> None:
    """Remove what old sessions and old banks left."""
    before = time.time() - KEPT_S
    for path in (*folder.glob("warned-*"), *folder.glob("problem-*"), *folder.glob("hook-*")):
        if path.lstat().st_mtime < before:
            path.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """The whole file or none: another process may be reading it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
