"""Numbers as letters: what is planted is called by words, because a name with a number may be left out."""

from __future__ import annotations

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def in_letters(number: int) -> str:
    """`aaa`, `aab`, ..."""
    return _LETTERS[number // 676] + _LETTERS[number // 26 % 26] + _LETTERS[number % 26]
