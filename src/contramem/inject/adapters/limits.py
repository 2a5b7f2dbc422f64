"""When a framework's own limits leave room for what memory may cost: a held call, or a reminder at the end.

A held call costs about three replies: what the note asks for, the call again, and the answer. Where the limit comes
first, the call would never be made. So no call is held, and no answer put off, unless the room is sure.
"""

from __future__ import annotations

REPLIES = 3
"""What a held call or a reminder leads to."""

SMALL_SHARE = 0.1
"""Of a limit on tokens, time or money. Nobody knows what a reply will take; when a tenth is used, ten times that is
allowed."""


def has_room(left: float | None, needed: float = REPLIES) -> bool:
    """Whether so much is left of a limit that is counted in steps. None: there is no such limit."""
    return left is None or left >= needed


def is_hardly_used(used: float, limit: float | None) -> bool:
    """Whether a limit on tokens, time or money is far away. None: there is no such limit."""
    return limit is None or used <= limit * SMALL_SHARE
