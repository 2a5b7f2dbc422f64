"""Limits: what ends a run that does not end by itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """None: no such limit."""

    steps: int = 30
    """How often the target is asked."""
    tokens: int | None = None
    """Tokens read and written by the target over all steps."""
    seconds: float | None = None
    repeats: int = 3
    """How often the same call may return the same result."""


DEFAULT_LIMITS = Limits()
