"""Words of requests: a card is found by the words of the tasks that taught it, besides its own text.

People tend to ask in words that others used before; a card uses the words of its author. The words of a request are
stored as hashed terms, unordered, and without the values of that task, so that no request can be read from a bank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from contramem.privacy.language import is_ordinary
from contramem.retrieve.tokens import TERMS, term, tokenize

NAME_WORDS = 2
MAX_KEPT_CHARS = 100
"""The words of longer values are not cached."""

_PLACEHOLDER = re.compile(r"<[A-Z]+(?:_\d+)?>")


def request_words(masked: str, values: Iterable[str]) -> str:
    """The terms of a `masked` request, sorted and joined by spaces.

    `values` are what the placeholders stand for. The words of names of one or two words among them are left out, and so
    are words with a digit: they distinguish one task from another, not one kind of task from another.
    """
    names = (name for value in values if len(name := _words_of(value)) <= NAME_WORDS)
    private = {word for name in names for word in name if not is_ordinary(word)}
    words = {word for word in tokenize(_PLACEHOLDER.sub(" ", masked)) if word.isalpha() and word not in private}
    return " ".join((TERMS, *sorted(term(word) for word in words)))


def _words_of(value: str) -> tuple[str, ...]:
    return _words_once(value) if len(value) <= MAX_KEPT_CHARS else tuple(tokenize(value))


@lru_cache(maxsize=1 << 14)  # the values of a task are asked for with each of its cards
def _words_once(value: str) -> tuple[str, ...]:
    return tuple(tokenize(value))
