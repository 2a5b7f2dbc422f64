"""AppendFile: a file to which threads and processes append lines, and which never stops an agent."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock

_logger = logging.getLogger(__name__)


class AppendFile:
    """Appends each line in one write. A line that cannot be written is lost; the first loss is reported."""

    def __init__(self, path: str | Path, name: str, max_bytes: int | None = None) -> None:
        """`name` says in the report what the file is."""
        self.path = Path(path)
        self._name, self._max_bytes = name, max_bytes
        self._lock = Lock()
        self._failing = False

    def append(self, encode: Callable[[], bytes]) -> None:
        """Write a line. Never raises: a failure is logged once, and again after a success in between."""
        try:
            self._write(encode())
        except (OSError, ValueError, TypeError, RecursionError) as error:  # a value that JSON or a path cannot express
            if not self._failing:
                _logger.warning("the %s %s cannot be written (%s); runs go on without it", self._name, self.path, error)
            self._failing = True
        else:
            self._failing = False

    def _write(self, content: bytes) -> None:
        # Opened each time, so that log rotation works and forks share nothing.
        with self._lock:
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if self._max_bytes is not None and os.fstat(file).st_size + len(content) > self._max_bytes:
                    raise OSError(f"it has grown to {self._max_bytes >> 20} MiB; move it away to go on")
                os.write(file, content)
            finally:
                os.close(file)
