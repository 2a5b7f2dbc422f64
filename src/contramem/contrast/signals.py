"""Signals: what separates the runs of one task, along the paper's four axes, with the events that show it.

Each detector is a small function from runs to signals, in correctness.py, recovery.py or efficiency.py. A statement
says how many runs on each side did what, so that a reader (a person, a rule, a model) can weigh it. Nothing here
decides what becomes a lesson.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from contramem.contrast.correctness import (
    arguments,
    asking,
    calls_of_one_side,
    finalization,
    first_divergence,
    order,
    writes,
)
from contramem.contrast.efficiency import detours, loops
from contramem.contrast.recovery import errors
from contramem.contrast.signal import Cite, RunsByOutcome, Signal

if TYPE_CHECKING:
    from contramem.contrast.packet import PacketRun

__all__ = ["DETECTORS", "Cite", "Signal", "signals_of"]


ALIKE = "all failing runs alike"
"""The kind of a signal that repeats another one, shown by every failing run."""


def signals_of(runs: Sequence[PacketRun]) -> tuple[Signal, ...]:
    """All signals of a packet, clearest first. Also works with one run or one source, or if all runs passed or
    failed."""
    evidence = [run for run in runs if run.counts]
    sides = RunsByOutcome(
        tuple(run for run in evidence if run.passed), tuple(run for run in evidence if not run.passed)
    )
    signals = [signal for detector in DETECTORS for signal in detector(sides)]
    signals += _failing_alike(sides, signals)
    return tuple(sorted(signals, key=lambda signal: (-signal.strength, signal.axis, signal.kind, signal.statement)))


def _failing_alike(sides: RunsByOutcome, signals: list[Signal]) -> Iterator[Signal]:
    """The clearest signal that every failing run shows and no passing run does."""
    if len(sides.failing) < 2:
        return
    everyone = {run.letter for run in sides.failing}
    if sides.passing:
        shared = [
            signal
            for signal in signals
            if set(signal.failing) == everyone and (not signal.passing or signal.kind in _CONTRASTS)
        ]
        if shared:
            clearest = max(shared, key=lambda signal: signal.strength)
            yield msgspec.structs.replace(
                clearest,
                axis="recurring failure",
                kind=ALIKE,
                statement=f"All {len(everyone)} failing runs alike. {clearest.statement}",
            )
        return
    for signal in signals:
        if set(signal.failing) == everyone and signal.kind in ("error and reaction", "loop"):
            yield msgspec.structs.replace(
                signal,
                axis="recurring failure",
                kind=ALIKE,
                statement=f"Every run failed, and all {len(everyone)} met this. {signal.statement}",
            )


# Signals whose `passing` letters are counter-examples, not runs with the same fault.
_CONTRASTS = frozenset({"first divergence", "missing write", "reordered", "differing argument", "early finalization"})

DETECTORS: tuple[Callable[[RunsByOutcome], Iterator[Signal]], ...] = (
    first_divergence,
    calls_of_one_side,
    writes,
    order,
    arguments,
    finalization,
    asking,
    errors,
    detours,
    loops,
)
