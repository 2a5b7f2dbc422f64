"""Inject log: one JSON line for each time an agent was shown something, and one for how its run ended.

The log is for people who look later; an agent never waits for it to be repaired. A line that cannot be written is
lost, and the first such loss is reported through `logging`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Literal, TypeAlias

import msgspec

FORMAT = 1

Where: TypeAlias = Literal["start", "describe", "before_call", "after_call", "final", "finish"]
Withheld: TypeAlias = Literal["", "holdout", "off"]

_logger = logging.getLogger(__name__)


class Line(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One line. It names the task by the caller's id or by a digest, and never holds its text."""

    log: int
    """Version of the format."""
    time: str
    """UTC, ISO 8601."""
    run: str
    task: str
    where: Where
    """The moment: task start (or another request), a tool's description, before a call, beside its result, before
    finishing, or the end of the run."""
    cards: dict[str, int] = {}
    """By card id: the tokens that the card took. The policy around the cards is in `tokens` only."""
    tokens: int = 0
    withheld: Withheld = ""
    """Why this run gets nothing whatever fits: it is held out as a control, or memory was switched off."""
    passed: bool | None = None
    """At the end of a run. None: nobody said."""
    reward: float | None = None
    bank: str = ""
    """The first digits of the bank's content hash."""
    profile: str = ""


class InjectLog:
    """Appends lines to a file. Threads may share a log, and processes a file: each line is one write at its end."""

    def __init__(self, path: str | Path, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.path = Path(path)
        self._clock = clock
        self._lock = Lock()
        self._failing = False

    def now(self) -> str:
        return self._clock().isoformat(timespec="milliseconds")

    def append(self, line: Line) -> None:
        """Write `line`. Never raises: what goes wrong is reported once, and again after it went right in between."""
        try:
            self._write(msgspec.json.encode(line) + b"\n")
        except (OSError, ValueError) as error:  # ValueError: a name that is no Unicode text
            if not self._failing:
                _logger.warning("the inject log %s cannot be written (%s); runs go on without it", self.path, error)
            self._failing = True
        else:
            self._failing = False

    def _write(self, content: bytes) -> None:
        # Opened each time: a log that is moved away by a log rotation is simply begun anew, and forks share nothing.
        with self._lock:
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, content)
            finally:
                os.close(file)
