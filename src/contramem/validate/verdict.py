"""The result of a check of a card, a delta or a patch: nothing, or why it is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple


class Refusal(NamedTuple):
    """A reason to keep a text out of the bank."""

    check: str
    """The check that refused: the word under which refusals are counted."""
    reason: str
    """A sentence for the ledger and for a model that is asked again. It never repeats the value it is about."""
    guard: str = ""
    """The guard it is about: the text may enter without it. Empty: it is about the text."""
    final: bool = False
    """Asking the author again would not help: a guard that the runs do not support is simply dropped."""

    def __str__(self) -> str:
        return f"{self.check}: {self.reason}"


def tally(refusals: Iterable[Refusal]) -> Counter[str]:
    """How many were refused by each check, for the summary."""
    return Counter(refusal.check for refusal in refusals)
