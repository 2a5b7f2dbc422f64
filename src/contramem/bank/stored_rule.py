"""A rule as the store keeps it, beside the card whose words were made from it. Never shown to an agent."""

from __future__ import annotations

from pydantic import JsonValue

from contramem.bank.card import Strict


class StoredRule(Strict):
    """What kind of rule it is, and its facts. `contramem.build.rules` reads and writes them."""

    kind: str
    facts: dict[str, JsonValue]
