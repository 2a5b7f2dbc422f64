"""Finding a Function Card by whatever name a framework calls the function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from contramem.bank.card import FunctionCard


class FunctionNames:
    """Every usual spelling of the bank's functions: `App.function`, `App__function`, `mcp__App__function`, and the bare
    name where only one app has it. One dictionary look-up, so that it can be asked before every call."""

    def __init__(self, cards: Iterable[FunctionCard]) -> None:
        cards = tuple(cards)
        bare = Counter(card.function for card in cards)
        self._cards = {card.function: card for card in cards if bare[card.function] == 1}
        for card in cards:
            for name in (card.tool, f"{card.app}__{card.function}", f"mcp__{card.app}__{card.function}"):
                self._cards[name] = card

    def find(self, name: str) -> FunctionCard | None:
        """The card of the function called `name`; None when the bank has none, or several apps share the bare name."""
        return self._cards.get(name)

    def spelled(self) -> Iterable[tuple[str, FunctionCard]]:
        """Every spelling with its card."""
        return self._cards.items()
