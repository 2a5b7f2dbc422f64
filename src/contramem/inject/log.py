"""Inject log: a JSON line each time an agent is shown something, one for how its run ended, and a summary of many.

The log is for later analysis and must never stop an agent. A line that cannot be written is lost, and the first such
loss is reported through `logging`. A card is shown if it fits the task, so runs with and without it differ in more than
the card: only the comparison with held-out runs shows what memory changed, because they were chosen at random.
"""

from __future__ import annotations

import logging
import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Literal, TypeAlias

import msgspec

from contramem.errors import UsageError

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


# The log


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


# Its summary


MIN_RUNS = 10
"""With fewer known outcomes, only counts are given and no rate."""
_Z = 1.959964  # 95 %


@dataclass(frozen=True)
class RunCounts:
    """The number of runs by known outcome."""

    runs: int = 0
    passed: int = 0
    failed: int = 0

    @property
    def unknown(self) -> int:
        return self.runs - self.passed - self.failed

    @property
    def rate(self) -> float | None:
        decided = self.passed + self.failed
        return self.passed / decided if decided >= MIN_RUNS else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval of the pass rate."""
        return wilson(self.passed, self.passed + self.failed) if self.rate is not None else None

    def as_json(self) -> dict[str, object]:
        counts = {"runs": self.runs, "passed": self.passed, "failed": self.failed, "unknown": self.unknown}
        return {**counts, "pass_rate": self.rate, "interval": self.interval}


@dataclass(frozen=True)
class CardUse:
    """How often one card was shown, and how those runs ended."""

    card_id: str
    times: int
    """How often it was shown; may be several times in one run, if a call failed."""
    runs: RunCounts
    tokens: int


@dataclass(frozen=True)
class Moments:
    """What was shown at one kind of moment: task start, before a call, or before finishing."""

    times: int = 0
    runs: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class Injections:
    """The summary of a log."""

    with_memory: RunCounts
    """Runs with memory, whether or not any card fitted."""
    held_out: RunCounts
    switched_off: RunCounts
    start: Moments
    before_call: Moments
    """If the integration holds calls, each of these cost the agent one turn."""
    final: Moments
    cards: tuple[CardUse, ...]
    unreadable: int
    """Lines that do not parse, or have a newer format."""

    @property
    def difference(self) -> tuple[float, tuple[float, float]] | None:
        """Pass rate with memory minus held out, with its 95 % interval (Newcombe 1998, method 10)."""
        ours, control = self.with_memory, self.held_out
        if ours.rate is None or control.rate is None or ours.interval is None or control.interval is None:
            return None
        change = ours.rate - control.rate
        down = math.hypot(ours.rate - ours.interval[0], control.interval[1] - control.rate)
        up = math.hypot(ours.interval[1] - ours.rate, control.rate - control.interval[0])
        return change, (change - down, change + up)

    def as_json(self) -> dict[str, object]:
        """For `--json`."""
        moments = {"start": self.start, "before_call": self.before_call, "final": self.final}
        change, interval = self.difference or (None, None)
        return {
            "with_memory": self.with_memory.as_json(),
            "held_out": self.held_out.as_json(),
            "switched_off": self.switched_off.as_json(),
            "difference": change,
            "difference_interval": interval,
            **{name: {"times": m.times, "runs": m.runs, "tokens": m.tokens} for name, m in moments.items()},
            "cards": [
                {"card_id": use.card_id, "times": use.times, "tokens": use.tokens, **use.runs.as_json()}
                for use in self.cards
            ],
            "unreadable": self.unreadable,
        }


def read_log(path: Path) -> tuple[list[Line], int]:
    """The lines of an inject log, and the number of unreadable ones: a process may have died while writing."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}).") from error
    decoder = msgspec.json.Decoder(Line)
    lines: list[Line] = []
    unreadable = 0
    for raw in filter(None, map(bytes.strip, content.split(b"\n"))):
        try:
            line = decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            unreadable += 1
        else:
            if line.log <= FORMAT:
                lines.append(line)
            else:
                unreadable += 1
    if unreadable and not lines:
        raise UsageError(f"{path}: is not an inject log. Memory.load(bank, log=FILE) writes one.")
    return lines, unreadable


def summarize(lines: Iterable[Line], unreadable: int = 0) -> Injections:
    """Count the lines of one or several logs."""
    lines = tuple(lines)
    ended = {line.run: line.passed for line in lines if line.where == "finish" and line.passed is not None}
    withheld = {line.run: line.withheld for line in lines if line.withheld}
    runs = {line.run for line in lines}
    shown_in, times, tokens = defaultdict[str, set[str]](set), defaultdict[str, int](int), defaultdict[str, int](int)
    for line in lines:
        for card_id, size in line.cards.items():
            shown_in[card_id].add(line.run)
            times[card_id] += 1
            tokens[card_id] += size
    uses = [CardUse(card, times[card], _tally(runs, ended), tokens[card]) for card, runs in shown_in.items()]
    return Injections(
        with_memory=_tally(runs - withheld.keys(), ended),
        held_out=_tally({run for run, why in withheld.items() if why == "holdout"}, ended),
        switched_off=_tally({run for run, why in withheld.items() if why == "off"}, ended),
        start=_moments(lines, "start"),
        before_call=_moments(lines, "before_call"),
        final=_moments(lines, "final"),
        cards=tuple(sorted(uses, key=lambda use: (-use.runs.runs, use.card_id))),
        unreadable=unreadable,
    )


def _tally(runs: set[str], ended: dict[str, bool]) -> RunCounts:
    decided = [ended[run] for run in runs if run in ended]
    return RunCounts(len(runs), decided.count(True), decided.count(False))


def _moments(lines: Iterable[Line], where: str) -> Moments:
    matching = [line for line in lines if line.where == where and line.cards]
    return Moments(len(matching), len({line.run for line in matching}), sum(line.tokens for line in matching))


def wilson(passed: float, decided: float) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    share, z2 = passed / decided, _Z**2
    middle = (share + z2 / (2 * decided)) / (1 + z2 / decided)
    reach = _Z / (1 + z2 / decided) * math.sqrt(share * (1 - share) / decided + z2 / (4 * decided**2))
    return max(0.0, middle - reach), min(1.0, middle + reach)
