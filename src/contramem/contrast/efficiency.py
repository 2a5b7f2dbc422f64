"""Efficiency: detours of passing runs, and loops."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from contramem.contrast.signal import Cite, RunsByOutcome, Signal, cites_of, same_call

if TYPE_CHECKING:
    from contramem.contrast.packet import PacketRun
from contramem.contrast.step import Step

LOOP_LENGTH = 3
"""The same call with the same arguments is a loop from this many times on."""


def detours(sides: RunsByOutcome) -> Iterator[Signal]:
    """The shortest passing run, and what longer passing runs did in addition."""
    if len(sides.passing) < 2:
        return
    shortest = min(sides.passing, key=lambda run: (len(run.actions), run.letter))
    longest = max(sides.passing, key=lambda run: (len(run.actions), run.letter))
    if len(longest.actions) < max(len(shortest.actions) + 2, 1.5 * len(shortest.actions)):
        return
    usual = Counter(step.label for step in shortest.actions)
    extra = Counter(step.label for step in longest.actions) - usual
    besides = ", ".join(f"{label} ×{count}" if count > 1 else label for label, count in sorted(extra.items())[:4])
    yield Signal(
        axis="efficiency",
        kind="shortest passing run",
        statement=f"Run {shortest.letter} passes with {len(shortest.actions)} actions; run {longest.letter} takes "
        f"{len(longest.actions)}, with {besides} besides.",
        passing=(shortest.letter, longest.letter),
        cites=cites_of([(longest, step) for step in longest.actions if extra[step.label]]),
        functions=tuple(label for label in sorted(extra) if "." in label),
        strength=0.2 + 0.3 * (1 - len(shortest.actions) / len(longest.actions)),
    )


def loops(sides: RunsByOutcome) -> Iterator[Signal]:
    """The same call with the same arguments, over and over."""
    looping: dict[str, list[tuple[PacketRun, Step, int]]] = defaultdict(list)
    for run in sides.all:
        steps_by_call: dict[tuple[str, str], list[Step]] = defaultdict(list)
        for step in run.actions:
            if step.function:
                steps_by_call[same_call(step)].append(step)
        for steps in steps_by_call.values():
            if len(steps) >= LOOP_LENGTH:
                looping[steps[0].function].append((run, steps[-1], len(steps)))
    for function, cases in sorted(looping.items()):
        most = max(count for _, _, count in cases)
        failing = tuple(dict.fromkeys(run.letter for run, _, _ in cases if not run.passed))
        passing = tuple(dict.fromkeys(run.letter for run, _, _ in cases if run.passed))
        yield Signal(
            axis="efficiency",
            kind="loop",
            statement=f"{function} is repeated with the same arguments up to {most} times in "
            f"{len(passing)} passing and {len(failing)} failing runs.",
            passing=passing,
            failing=failing,
            cites=tuple(Cite(run.letter, step.position) for run, step, _ in cases),
            functions=(function,),
            strength=0.3 + (0.3 * len(failing) / len(sides.failing) if sides.failing and not passing else 0),
        )
