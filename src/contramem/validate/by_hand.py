"""What a person wrote into a card: accepted as it is, with the doubts of the checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from rapidfuzz.distance import OSA

from contramem.bank.bank import Bank
from contramem.validate.case import Case, Text, functions_of
from contramem.validate.validator import Validator
from contramem.validate.verdict import Refusal

MIN_MISSPELT_CHARS = 5
"""Minimum length of the differing word in a function's name. `get` and `set` are one letter apart, and both are
right."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


def doubts(text: Text, bank: Bank) -> list[Refusal]:
    """Objections to `text` that need no runs: its form, misspelt functions, personal data.

    A person may know better, so nothing is refused here; `contramem bank validate` would refuse it. A function that no
    card of `bank` names is not suspicious, unless it is one letter away from one that a card names: only the runs know
    which functions exist.
    """
    functions = frozenset(function for entry in bank.entries.values() for function in functions_of(entry.card))
    written = functions_of(text)
    return [*_find_misspelt(written, functions), *Validator().judge(Case(text, functions=functions.union(written)))]


def _find_misspelt(written: Iterable[str], known: frozenset[str]) -> Iterator[Refusal]:
    for function in written:
        meant = [name for name in sorted(known) if _is_misspelt(function, name)] if function not in known else []
        if meant:
            yield Refusal("schema", f"No other card names {function}. Perhaps {meant[0]} was meant.")


def _is_misspelt(written: str, name: str) -> bool:
    """Does it differ from the name by one letter of one word? A plural is another name."""
    if OSA.distance(written, name, score_cutoff=1) != 1:
        return False
    pairs = zip_longest(_WORD.findall(written), _WORD.findall(name), fillvalue="")
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    return len(differing) == 1 and min(map(len, differing[0])) >= MIN_MISSPELT_CHARS and not _is_plural(*differing[0])


def _is_plural(left: str, right: str) -> bool:
    return left == f"{right}s" or right == f"{left}s"
