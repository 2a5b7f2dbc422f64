"""Summarizes the inject log: which cards were shown, how those runs ended, and what holding calls cost.

A card is shown if it fits the task, so runs with and without it differ in more than the card. Only the comparison with
held-out runs shows what memory changed, because they were chosen at random.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from contramem.errors import UsageError
from contramem.inject.log import FORMAT, Line

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
