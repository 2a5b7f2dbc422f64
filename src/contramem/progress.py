"""Progress: how long work tells whoever waits for it how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

Progress: TypeAlias = Callable[[str, int, int], None]
"""Told (stage, done, all) as work goes on."""

Item = TypeVar("Item")


def no_progress(stage: str, done: int, total: int) -> None:
    """Nobody waits."""


def track(stage: str, items: Sequence[Item], tell: Progress) -> Iterator[Item]:
    """The items, one after the other; `tell` hears of each when it is done."""
    for done, item in enumerate(items, 1):
        yield item
        tell(stage, done, len(items))
