"""Progress: the callback through which long work reports how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with (stage, done, total) as work advances."""

Item = TypeVar("Item")


def no_progress(stage: str, done: int, total: int) -> None:
    """Ignore progress."""


def track(stage: str, items: Sequence[Item], report: Progress) -> Iterator[Item]:
    """Iterate over the items and report each one when it is done."""
    for done, item in enumerate(items, 1):
        yield item
        report(stage, done, len(items))
