"""Limits: what ends a run that does not end itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """None: no such limit."""

    steps: int = 30
    """Times that the target is asked."""
    tokens: int | None = None
    """Read and written by the target, all steps together."""
    seconds: float | None = None
    repeats: int = 3
    """Times that the same call may give the same result."""


DEFAULT_LIMITS = Limits()
