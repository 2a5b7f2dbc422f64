"""CSV tables as people and spreadsheets write them."""

from __future__ import annotations

_SEPARATORS = ",;\t"


def find_separator(text: str) -> str:
    """What separates the columns of a table: spreadsheets of many countries write semicolons."""
    return max(_SEPARATORS, key=text.partition("\n")[0].count)
