"""Secrets are masked before a run is written, and the same secret has the same mark in all runs of a task."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from contramem.privacy.secrets import FAKE_NUMBER, SecretMask, mask_run
from contramem.traces.trajectory import Trajectory

MAX_NUMBERS = 1_000
"""How many numbers of a task may be masked: numbers are replaced by those from FAKE_NUMBER on."""
_MARK = re.compile(r"<SECRET_([1-9]\d*)>")


class TaskMasks:
    """What the runs of each task showed to be a secret. It is only in memory: no file says what was masked."""

    def __init__(self) -> None:
        self._masks: dict[str, SecretMask] = {}

    def __contains__(self, task: str) -> bool:
        return task in self._masks

    def mask(self, task: str, run: Trajectory) -> Trajectory:
        """A new run, masked by all that is known about its task, and by what it shows itself."""
        mask = self._masks.setdefault(task, SecretMask())
        mask.collect(run)
        return mask_run(run, mask)

    def mask_again(self, task: str, run: Trajectory) -> Trajectory:
        """A run that was written before later ones showed more."""
        return mask_run(run, self._masks[task])


def has_secrets(run: Trajectory) -> bool:
    mask = SecretMask()
    mask.collect(run)
    return bool(mask)


def number_secrets(runs: Sequence[Trajectory]) -> list[Trajectory]:
    """The runs of a task with their marks numbered from 1 as they appear, in whatever order the runs were written."""
    numbers: dict[int, int] = {}
    return [msgspec.convert(_number(msgspec.to_builtins(run), numbers), Trajectory) for run in runs]


def _number(value: Any, numbers: dict[int, int]) -> Any:
    if isinstance(value, str):
        return _MARK.sub(lambda mark: f"<SECRET_{_next(int(mark[1]), numbers)}>", value)
    if isinstance(value, dict):
        return {_number(key, numbers): _number(child, numbers) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_number(child, numbers) for child in value]
    if isinstance(value, int) and 0 <= value - FAKE_NUMBER < MAX_NUMBERS:
        return FAKE_NUMBER + _next(value - FAKE_NUMBER + 1, numbers) - 1
    return value


def _next(mark: int, numbers: dict[int, int]) -> int:
    return numbers.setdefault(mark, len(numbers) + 1)
