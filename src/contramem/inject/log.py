"""Inject log: a JSON line each time an agent is shown something, and one for how its run ended.

The log is for later analysis and must never stop an agent. A line that cannot be written is lost, and the first such
loss is reported through `logging`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from contramem.inject.append_file import AppendFile

FORMAT = 1

Where: TypeAlias = Literal["start", "describe", "before_call", "after_call", "final", "finish"]
Withheld: TypeAlias = Literal["", "holdout", "off"]


class Line(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One line. It names the task by the caller's id or by a digest, and never contains its text."""

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
    """The tokens of each card by its id. The policy around the cards is counted in `tokens` only."""
    tokens: int = 0
    withheld: Withheld = ""
    """Why this run gets no guidance: it is held out as a control, or memory is switched off."""
    passed: bool | None = None
    """The outcome at the end of a run; None if unknown."""
    reward: float | None = None
    bank: str = ""
    """The first digits of the bank's content hash."""
    profile: str = ""


class InjectLog:
    """Appends lines to a file. Threads can share a log and processes a file, because each line is one append."""

    def __init__(self, path: str | Path, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.path = Path(path)
        self._clock = clock
        self._file = AppendFile(path, "inject log")

    def now(self) -> str:
        return self._clock().isoformat(timespec="milliseconds")

    def append(self, line: Line) -> None:
        """Write a line. Never raises: a failure is logged once, and again after a success in between."""
        self._file.append(lambda: msgspec.json.encode(line) + b"\n")
