"""Sets of which only a few members matter: whether so many sources or tasks were seen, not which."""

from __future__ import annotations

from collections.abc import Iterable


def add_up_to(most: int, kept: set[str], more: Iterable[str]) -> None:
    """Add members until there are `most`. How many are kept does not depend on the order in which they come."""
    if len(kept) < most:
        kept.update(sorted(set(more) - kept)[: most - len(kept)])
