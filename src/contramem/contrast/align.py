"""Runs of one task side by side, so that the step where they diverge shows.

A star alignment: one run is the reference, and every other run is aligned to it by the longest common subsequence of
actions. Additional actions go between the rows of the reference; runs that did the same thing there share a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rapidfuzz.distance import Indel

if TYPE_CHECKING:
    from contramem.contrast.packet import PacketRun
from contramem.contrast.step import Step

MAX_COMPARED_RUNS = 100


@dataclass
class AlignedStep:
    """One action, and the step in which each run took it."""

    label: str
    steps: dict[str, Step] = field(default_factory=dict)


def align(runs: Sequence[PacketRun]) -> list[AlignedStep]:
    """Return rows in an order that preserves the order of every run. The first run is the reference."""
    if not runs:
        return []
    reference = runs[0]
    rows = [AlignedStep(step.label, {reference.letter: step}) for step in reference.actions]
    for run in runs[1:]:
        rows = _merge_run(rows, run)
    return rows


def _merge_run(rows: list[AlignedStep], run: PacketRun) -> list[AlignedStep]:
    labels = [row.label for row in rows]
    merged: list[AlignedStep] = []
    for opcode in Indel.opcodes(labels, [step.label for step in run.actions]):
        old = rows[opcode.src_start : opcode.src_end]
        new = run.actions[opcode.dest_start : opcode.dest_end]
        if opcode.tag == "equal":
            for row, step in zip(old, new, strict=True):
                row.steps[run.letter] = step
            merged += old
        else:
            merged += old
            merged += [AlignedStep(step.label, {run.letter: step}) for step in new]
    return merged


def reference_first(runs: Sequence[PacketRun]) -> list[PacketRun]:
    """The same runs, with the reference first: the shortest passing run, else the run with the most actions."""
    passing = [run for run in runs if run.passed and run.counts]
    if passing:
        reference = min(passing, key=lambda run: (len(run.actions), run.letter))
    elif runs:
        reference = max(runs, key=lambda run: (len(run.actions), [-ord(char) for char in run.letter]))
    else:
        return []
    return [reference, *(run for run in runs if run is not reference)]


def nearest(run: PacketRun, others: Sequence[PacketRun]) -> PacketRun:
    """The run of `others` whose actions are most similar; on a tie, the first letter. Only the first of many runs are
    compared: a thousand failing runs times a thousand passing ones would take too long."""
    labels = [step.label for step in run.actions]
    compared = others[:MAX_COMPARED_RUNS]
    return min(compared, key=lambda other: (Indel.distance(labels, [s.label for s in other.actions]), other.letter))
