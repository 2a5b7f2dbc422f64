"""Finds a Function Card by whatever name a framework uses for the function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from contramem.bank.card import FunctionCard


class FunctionNames:
    """Every usual spelling of the bank's functions: `App.function`, `App__function`, `mcp__App__function`, and the bare
    name if only one app has it. An MCP tool is also found if its server has another name than the app. A look-up is one
    or two dictionary accesses, cheap enough for every call."""

    def __init__(self, cards: Iterable[FunctionCard], others: Iterable[str] = ()) -> None:
        """`others` are functions that skills name, with or without a card of their own."""
        cards = tuple(cards)
        self._full = _by_spelling({*(card.tool for card in cards), *others})
        bare = Counter(card.function for card in cards)
        self._cards = {card.function: card for card in cards if bare[card.function] == 1}
        for card in cards:
            for name in (card.tool, f"{card.app}__{card.function}", f"mcp__{card.app}__{card.function}"):
                self._cards[name] = card

    def find(self, name: str) -> FunctionCard | None:
        """The card of the function called `name`; None if the bank has none, or several apps share the bare name."""
        card = self._cards.get(name)
        if card is None and name.startswith("mcp__"):  # people name MCP servers as they like
            return self._cards.get(name.rpartition("__")[2])
        return card

    def full_name(self, name: str) -> str:
        """`name` as guards write it, `App.function`; unchanged if the function is unknown."""
        return (
            self._full.get(name)
            or (self._full.get(name.rpartition("__")[2]) if name.startswith("mcp__") else "")
            or name
        )


def _by_spelling(names: Iterable[str]) -> dict[str, str]:
    """Full names by every usual spelling, including the bare name if only one app has it."""
    parts = {name: name.rpartition(".") for name in names}
    bare = Counter(function for _, _, function in parts.values())
    full = {function: name for name, (_, _, function) in parts.items() if bare[function] == 1}
    for name, (app, _, function) in parts.items():
        full |= dict.fromkeys((name, f"{app}__{function}", f"mcp__{app}__{function}"), name)
    return full
