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
"""What tokens are counted with. Other models' counts differ by some percent."""

_JOINED = " \t\r\n/"  # what the tokenizer may join to a line break before it
_PIECE = 500_000  # characters; the tokenizer refuses a million at once


def count_tokens(text: str) -> int:
    """Tokens of `text` in `ENCODING`. The first call loads the tokenizer (about 0.05 s).

    Paragraph by paragraph: the tokenizer never joins a line break to a letter or `#` that follows, so the parts add
    up, and a card that is shown again need not be counted again.
    """
    paragraphs = text.split("\n\n")
    if any(not part or part[0] in _JOINED for part in paragraphs[1:]):
        return _count(text)
    return count_paragraphs(paragraphs)


def count_paragraphs(paragraphs: Sequence[str]) -> int:
    """Tokens of a text of these paragraphs, each of which begins with a letter or a sign."""
    return sum([_count(part + "\n\n") for part in paragraphs[:-1]]) + _count(paragraphs[-1])


_COUNT_LINE = re.compile(rb"([0-9a-f]{24}) (\d{1,9})")


class CountFile:
    """Counts on disk, for small processes that show the same cards again and again: a tokenizer takes 60 MB."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._counts: dict[str, int] = {}
        with suppress(OSError):
            read = map(_COUNT_LINE.fullmatch, path.read_bytes().splitlines())
            self._counts = {
                line[1].decode(): int(line[2]) for line in read if line
            }  # others broke off, or are no counts

    def count(self, text: str) -> int:
        name = blake2b(f"{ENCODING}\n{text}".encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        if name not in self._counts:
            self._counts[name] = _tokenize(text)
            with suppress(OSError), self._path.open("a", encoding="ascii") as file:
                file.write(f"{name} {self._counts[name]}\n")
        return self._counts[name]


def keep_counts(path: Path) -> None:
    """From now on, this process reads counts from `path` and adds new ones there."""
    global _file
    _file = CountFile(path)
    _count.cache_clear()


_file: CountFile | None = None


@lru_cache(maxsize=8192)
def _count(text: str) -> int:
    return _file.count(text) if _file else _tokenize(text)


def _tokenize(text: str) -> int:
    count = _load_counter()
    return sum(count(text[start : start + _PIECE]) for start in range(0, len(text), _PIECE))


@cache
def _load_counter() -> Callable[[str], int]:
    """Counts the tokens of a text with the compiled part of bpe-openai. The Python part around it loads the
    vocabularies of two other encodings as well, which takes ten times as long and twice the memory."""
    package = find_spec("bpe_openai")
    bindings = package and PathFinder.find_spec("bpe_openai._bindings", package.submodule_search_locations)
    if bindings is None or bindings.loader is None:
        return _load_whole_package()
    module = module_from_spec(bindings)
    bindings.loader.exec_module(module)
    count: Callable[[str], int] = module.tokenizer_for_encoding(ENCODING).count
    return lambda text: count(text.encode("utf-8", "replace").decode())  # half a surrogate pair is no UTF-8


def _load_whole_package() -> Callable[[str], int]:
    # It reads its data with functions that Python 3.11 and 3.12 call deprecated: nothing a user of ours can fix.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        import bpe_openai  # type: ignore[import-untyped]

        encode = bpe_openai.get_encoding(ENCODING).encode_ordinary
    return lambda text: len(encode(text))
