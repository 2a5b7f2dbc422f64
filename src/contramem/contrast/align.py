"""Runs of one task side by side: what each did at the step where the others did something else.

A star alignment: one run is the reference, every other is aligned to it by longest common subsequence over what was
done, and what a run did besides goes between the reference's rows, where runs that did the same share a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rapidfuzz.distance import Indel

if TYPE_CHECKING:
    from contramem.contrast.packet import PacketRun, Step

MAX_COMPARED_RUNS = 100


@dataclass
class AlignedStep:
    """One thing done, and the step in which each run did it."""

    label: str
    steps: dict[str, Step] = field(default_factory=dict)


def align(runs: Sequence[PacketRun]) -> list[AlignedStep]:
    """Rows in an order that keeps every run's own order. The first run is the reference."""
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
    """The same runs, the reference in front: the shortest that passed, else the one with the most done."""
    passing = [run for run in runs if run.passed and run.counts]
    if passing:
        reference = min(passing, key=lambda run: (len(run.actions), run.letter))
    elif runs:
        reference = max(runs, key=lambda run: (len(run.actions), [-ord(char) for char in run.letter]))
    else:
        return []
    return [reference, *(run for run in runs if run is not reference)]


def nearest(run: PacketRun, others: Sequence[PacketRun]) -> PacketRun:
    """Of `others`, the one that did most nearly the same; the first letter on a tie. Of very many, the first are looked
    at: a thousand failing runs would else be compared with a thousand passing ones."""
    labels = [step.label for step in run.actions]
    compared = others[:MAX_COMPARED_RUNS]
    return min(compared, key=lambda other: (Indel.distance(labels, [s.label for s in other.actions]), other.letter))
