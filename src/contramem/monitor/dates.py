"""Dates and times as runs write them: `2026-03-01`, `2026-03-01 14:00` or `01.03.2026`."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

WRITTEN_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?|\b\d{2}\.\d{2}\.\d{4}\b", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def read_time(text: str) -> datetime | None:
    """Parse a date or time; None if the text is neither. Time zones are ignored: runs of one system share theirs."""
    match = WRITTEN_DATE.fullmatch(text.strip())
    if match is None:
        return None
    try:
        if "." in match[0]:
            return datetime.strptime(match[0], "%d.%m.%Y")
        return datetime.fromisoformat(match[0].upper()).replace(tzinfo=None)
    except ValueError:
        return None
