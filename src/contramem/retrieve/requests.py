"""Requests as words: what a card is found by beside its own text, taken from the tasks that taught it.

People ask in the words that people asked in before; a card is in the words of its author. Words of a request are kept
as terms, without their order, and none that was a value of that task: nothing of a request can be read in a bank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from contramem.contrast.ordinary import ORDINARY_WORDS
from contramem.retrieve.terms import TERMS, term
from contramem.retrieve.tokens import tokenize

NAME_WORDS = 2

_PLACEHOLDER = re.compile(r"<[A-Z]+(?:_\d+)?>")


def request_words(masked: str, values: Iterable[str]) -> str:
    """The terms of a `masked` request, in order, with spaces between.

    `values` are what the placeholders stand for. A name of one or two words among them is left out wherever its words
    stand, and so is whatever has a digit in it: such words tell one task from another, not one kind from another.
    """
    names = (name for value in values if len(name := tokenize(value)) <= NAME_WORDS)
    private = {word for name in names for word in name} - ORDINARY_WORDS
    words = {word for word in tokenize(_PLACEHOLDER.sub(" ", masked)) if word.isalpha() and word not in private}
    return " ".join((TERMS, *sorted(term(word) for word in words)))
