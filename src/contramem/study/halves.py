"""Halves: guesses are tried on one half of the tasks and confirmed on the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from contramem.study.kinds import TaskKind
from contramem.traces.trajectory import digest

Half: TypeAlias = Literal["open", "kept back"]


def split_halves(kinds: Sequence[TaskKind]) -> dict[str, Half]:
    """Assign each task to a half. Every kind is divided, in an order that depends only on the names of its tasks, so
    that nobody can choose. A kind with one task is open; over all kinds the halves stay even."""
    halves: dict[str, Half] = {}
    kept_back = total = 0
    for kind in kinds:
        for task in sorted(kind.tasks, key=digest):
            keep = kept_back * 2 < total
            halves[task] = "kept back" if keep else "open"
            kept_back, total = kept_back + keep, total + 1
    return halves
