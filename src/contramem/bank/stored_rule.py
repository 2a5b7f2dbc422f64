"""StoredRule: the rule that a card's text was generated from, stored beside the card. Never shown to an agent."""

from __future__ import annotations

from pydantic import JsonValue

from contramem.bank.card import Strict


class StoredRule(Strict):
    """The kind of a rule, and its facts. `contramem.build.rules` reads and writes them."""

    kind: str
    facts: dict[str, JsonValue]
