"""Ordinary language: lists of words that are data, by language."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path

ENGLISH = "en"
MIN_PLURAL_CHARS = 5
_CONTRACTED = re.compile(r"n't$|'(?:s|re|ve|ll|d|m)?$")
_ENDINGS = "ations ation ingly ings ing edly ies ied ions ion iest est ers er ed es ly als al ments ment s e y".split()
_SIZE = re.compile(r"#\w+$")


@lru_cache(maxsize=8)
def word_test(language: str | None = ENGLISH) -> Callable[[str], bool]:
    """Is a word in lower case ordinary in this language (a code, or the path of a list with a word on each line)? With
    None, no word is."""
    known = read_words(f"words_{language}.txt", language) if language is not None else frozenset[str]()
    return lru_cache(maxsize=1 << 16)(partial(_is_listed, known))


def is_ordinary(phrase: str) -> bool:
    """Is every word of a phrase ordinary English, in whatever case?"""
    return all(map(word_test(), phrase.lower().split()))


def _is_listed(known: frozenset[str], word: str) -> bool:
    if word in known or (len(word) > MIN_PLURAL_CHARS and word.endswith("s") and word[:-1] in known):
        return True
    parts = _CONTRACTED.sub("", word.replace("’", "'")).split("-")
    return bool(known) and all(part in known for part in parts)


def read_words(shipped: str, path: str = "") -> frozenset[str]:
    """The words of a list: one that is shipped, else the file at the path."""
    file = files("contramem.privacy") / shipped
    text = file.read_text("utf-8") if file.is_file() else Path(path).read_text("utf-8")
    return frozenset(line.lower() for line in text.splitlines() if line and not line.startswith("#"))


@lru_cache(maxsize=2)
def common_stems(sizes: int = 1) -> frozenset[str]:
    """Of the most common English words, which say nothing of one trade or task."""
    lines = (files("contramem.privacy") / "words_en.txt").read_text("utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if _SIZE.match(line)]
    return frozenset(stem(line) for line in lines[starts[0] + 1 : starts[sizes]] if not line.startswith("#"))


def is_common(word: str, sizes: int = 1) -> bool:
    """Is it one of the most common words? Any text may hold it by chance."""
    return stem(word.lower()) in common_stems(sizes)


FUNCTION_WORDS = read_words("function_words_en.txt")
"""Words that carry no content of their own."""


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """The part that all forms of a word share: `deletes`, `deleting` and `deletion` have one stem. Crude but
    consistent."""
    return _without_ending(_without_ending(word))  # twice: `answered` -> `answer` -> `answ`, as `answer` itself becomes


def _without_ending(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    word = word[:-1] if len(word) > 3 and word[-1] in "eyi" else word
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
