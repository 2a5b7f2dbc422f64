"""Query: what is known about a task. Hit: a retrieved card, and why. FunctionNames: cards by any spelling of a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from contramem.bank.card import Card, FunctionCard
from contramem.retrieve.scorer import Scorer
from contramem.traces.trajectory import digest


@dataclass(frozen=True)
class Query:
    """What is known about a task before the first step."""

    task: str
    ability: str | None = None
    """Picks the skill bank. None searches all of them."""
    apps: frozenset[str] | None = None
    """The apps the task is about. None means they are inferred from its words."""
    functions: frozenset[str] | None = None
    """The functions the agent has; it is shown cards of no others. None means all functions."""
    task_id: str | None = None
    """If given, cards that were learned from this task (by its id or its text) are left out."""
    scenario_id: str | None = None
    """If given, cards that were learned from this group of sibling tasks are left out."""

    @property
    def own(self) -> frozenset[str]:
        """Digests of the task's id, text and scenario. Cards learned from any of them are left out. Empty without an id
        or scenario: then no card is left out."""
        if not self.task_id and not self.scenario_id:
            return frozenset()
        return frozenset(digest(text) for text in (self.task, self.task_id, self.scenario_id) if text)


@dataclass(frozen=True)
class Hit:
    """A retrieved card. `score` is `relevance` plus `prior`, and `terms` says which words made it relevant."""

    card: Card
    rank: int
    """From 1, among hits of its kind."""
    score: float
    relevance: float
    """The scorer's score, by words alone."""
    prior: float
    """The app-overlap bonus, or the mismatch penalty as a negative number."""
    shared_apps: tuple[str, ...]
    reserved: bool = False
    """Whether it was included because it is universal for the ability, whatever its score."""
    _scorer: Scorer | None = field(default=None, repr=False, compare=False)
    _words: tuple[str, ...] = field(default=(), repr=False, compare=False)
    _document: int = field(default=0, repr=False, compare=False)

    @property
    def terms(self) -> dict[str, float]:
        """The contribution of each word, largest first. Computed on demand: a starting agent does not need it."""
        return self._scorer.explain(self._words, self._document) if self._scorer else {}

    @property
    def kind(self) -> str:
        """`function` or `skill`."""
        return "function" if isinstance(self.card, FunctionCard) else "skill"

    @property
    def name(self) -> str:
        """The title of a skill, `App.function` of a function."""
        return self.card.tool if isinstance(self.card, FunctionCard) else self.card.title

    def as_json(self) -> dict[str, Any]:
        """For `--json`: everything that explains the hit, and nothing of the card beyond the text output."""
        return {
            "card_id": self.card.card_id,
            "kind": self.kind,
            "name": self.name,
            "rank": self.rank,
            "score": round(self.score, 6),
            "bm25": round(self.relevance, 6),
            "prior": round(self.prior, 6),
            "shared_apps": list(self.shared_apps),
            "reserved": self.reserved,
            "terms": {term: round(part, 6) for term, part in self.terms.items()},
        }


# Names of functions


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
