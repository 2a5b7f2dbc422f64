"""What a check says about a card, a delta or a patch: nothing, or why it is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple


class Refusal(NamedTuple):
    """One reason not to let a text into the bank."""

    check: str
    """Which check refused: the word that refusals are counted under."""
    reason: str
    """A sentence, for the ledger and for a model that is asked again. It never repeats the value it complains about."""
    guard: str = ""
    """The one guard that it is about: the text may enter without it. Empty: it is about the text."""
    final: bool = False
    """Asking the author again would not help: a guard that the runs do not bear out is simply left out."""

    def __str__(self) -> str:
        return f"{self.check}: {self.reason}"


def tally(refusals: Iterable[Refusal]) -> Counter[str]:
    """How many were refused by each check, for the summary."""
    return Counter(refusal.check for refusal in refusals)
