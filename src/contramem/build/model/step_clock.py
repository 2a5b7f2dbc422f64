"""Renders when steps happened: the times of writes, waits and messages to the user, on the run's clock."""

from __future__ import annotations

from collections.abc import Sequence

from contramem.contrast.align import AlignedStep
from contramem.contrast.packet import PacketRun
from contramem.contrast.step import Step

SAME_TIME_S = 5.0
"""Steps of several runs that are at most this far apart are shown with one time."""


class Clock:
    """The times of the runs of one packet. Renders nothing if the packet has no times."""

    def __init__(self, runs: Sequence[PacketRun]) -> None:
        self.runs = any(step.at_s is not None for run in runs for step in run.steps)
        """Whether there are any times."""
        self._waited = {
            (run.letter, step.position): later.at_s - step.at_s
            for run in runs
            for step, later in zip(run.steps, run.steps[1:], strict=False)
            if step.effect == "wait" and step.at_s is not None and later.at_s is not None
        }

    def text(self, row: AlignedStep, letters: Sequence[str]) -> str:
        """The times to append to a line about what these runs did."""
        texts = {letter: self._of_step(letter, row.steps[letter]) for letter in letters}
        if not all(texts.values()):
            return ""
        times = [row.steps[letter].at_s or 0.0 for letter in letters]
        waits = [self._waited.get((letter, row.steps[letter].position), 0.0) for letter in letters]
        if max(times) - min(times) <= SAME_TIME_S and max(waits) - min(waits) <= SAME_TIME_S:
            return f" ({texts[letters[0]]})"
        return f" ({'; '.join(f'{letter} {text}' for letter, text in texts.items())})"

    def _of_step(self, letter: str, step: Step) -> str:
        if step.at_s is None or not (step.speaks or step.effect in ("write", "wait", "finalize") or not step.function):
            return ""
        waited = self._waited.get((letter, step.position))
        return f"at {step.at_s:.0f} s" + (f", waited {waited:.0f} s" if waited is not None else "")
