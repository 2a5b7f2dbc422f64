"""Counting tokens, offline and the same on every machine."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path

ENCODING = "o200k_base"
"""The tokenizer used for counting. Counts of other models differ by a few percent."""

_JOINS_LINE_BREAK = " \t\r\n/"  # characters that the tokenizer may merge with a preceding line break
_MAX_CHARS = 500_000  # the tokenizer refuses a million characters at once


def count_tokens(text: str) -> int:
    """Tokens of `text` in `ENCODING`. The first call loads the tokenizer (about 0.05 s).

    Counts paragraph by paragraph: the tokenizer never merges a line break with a following letter or `#`, so the counts
    add up, and a card that is shown again is not counted again.
    """
    paragraphs = text.split("\n\n")
    if any(not part or part[0] in _JOINS_LINE_BREAK for part in paragraphs[1:]):
        return _count(text)
    return count_paragraphs(paragraphs)


def count_paragraphs(paragraphs: Sequence[str]) -> int:
    """Tokens of these paragraphs joined by blank lines. Each must begin with a letter or a symbol."""
    return sum([_count(part + "\n\n") for part in paragraphs[:-1]]) + _count(paragraphs[-1])


_COUNT_LINE = re.compile(rb"([0-9a-f]{24}) (\d{1,9})")


class CountFile:
    """Counts kept on disk. Short-lived processes that show the same cards then need no tokenizer (60 MB)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._counts: dict[str, int] = {}
        with suppress(OSError):
            matches = map(_COUNT_LINE.fullmatch, path.read_bytes().splitlines())
            # A line that does not match was cut off while it was written.
            self._counts = {match[1].decode(): int(match[2]) for match in matches if match}

    def count(self, text: str) -> int:
        name = blake2b(f"{ENCODING}\n{text}".encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        if name not in self._counts:
            self._counts[name] = _tokenize(text)
            with suppress(OSError), self._path.open("a", encoding="ascii") as file:
                file.write(f"{name} {self._counts[name]}\n")
        return self._counts[name]


def keep_counts(path: Path) -> None:
    """Make this process read counts from `path` and append new ones to it."""
    global _file
    _file = CountFile(path)
    _count.cache_clear()


_file: CountFile | None = None


@lru_cache(maxsize=8192)
def _count(text: str) -> int:
    return _file.count(text) if _file else _tokenize(text)


def _tokenize(text: str) -> int:
    count = _load_counter()
    return sum(count(text[start : start + _MAX_CHARS]) for start in range(0, len(text), _MAX_CHARS))


@cache
def _load_counter() -> Callable[[str], int]:
    """Load only the compiled part of bpe-openai. Its Python part also loads the vocabularies of two other encodings,
    which takes ten times as long and twice the memory."""
    package = find_spec("bpe_openai")
    bindings = package and PathFinder.find_spec("bpe_openai._bindings", package.submodule_search_locations)
    if bindings is None or bindings.loader is None:
        return _load_whole_package()
    module = module_from_spec(bindings)
    bindings.loader.exec_module(module)
    count: Callable[[str], int] = module.tokenizer_for_encoding(ENCODING).count
    return lambda text: count(text.encode("utf-8", "replace").decode())  # a lone surrogate has no UTF-8


def _load_whole_package() -> Callable[[str], int]:
    # bpe_openai uses functions that are deprecated since Python 3.11; our users cannot fix that.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        import bpe_openai  # type: ignore[import-untyped]

        encode = bpe_openai.get_encoding(ENCODING).encode_ordinary
    return lambda text: len(encode(text))
