"""Shelf: one set of cards that are ranked against each other (the skills of an ability, or all functions)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contramem.bank.card import Card, FunctionCard
from contramem.retrieve.bm25 import Bm25
from contramem.retrieve.hit import Hit
from contramem.retrieve.profiles import AppPrior, Profile
from contramem.retrieve.tokens import tokenize

if TYPE_CHECKING:
    import numpy
    import numpy.typing as npt

    from contramem.retrieve.bm25 import Floats, Integers

    Booleans = npt.NDArray[numpy.bool_]


def document(card: Card) -> str:
    """What a card is found by. Evidence and completion are read after it is found, not searched."""
    if isinstance(card, FunctionCard):
        return f"{card.tool} {card.what_it_does}"
    return f"{card.title} {card.applies_when} {' '.join(card.tags)} {card.skill.core_rule}"


@dataclass(frozen=True)
class Ranking:
    """The scores of all cards of a shelf for one task, and which of them clear the floor."""

    words: tuple[str, ...]
    apps: frozenset[str]
    """Lower case."""
    bm25: Floats
    prior: Floats
    fits: Booleans


class Shelf:
    """Cards in the order of their ids, indexed. Nothing here changes after it is made, so threads share it."""

    def __init__(self, cards: Iterable[Card]) -> None:
        import numpy

        self._numpy = numpy
        self.cards = tuple(sorted(cards, key=lambda card: card.card_id))
        self._number = {card.card_id: number for number, card in enumerate(self.cards)}
        self._index = Bm25([tokenize(document(card)) for card in self.cards])
        self._apps = tuple(_apps(card) for card in self.cards)
        places = defaultdict[str, list[int]](list)
        for number, apps in enumerate(self._apps):
            for app in apps:
                places[app.lower()].append(number)
        self._with_app = {app: numpy.array(numbers) for app, numbers in places.items()}
        self._has_apps = numpy.array([bool(apps) for apps in self._apps], dtype=bool)

    def numbers(self, card_ids: Iterable[str]) -> list[int]:
        """Where the cards with these ids stand; an id that is not on this shelf is passed over."""
        return [self._number[card_id] for card_id in card_ids if card_id in self._number]

    def named(self, allowed: Booleans) -> Iterable[tuple[int, str]]:
        """Number and id of the cards that are `allowed`."""
        return ((number, self.cards[number].card_id) for number in self._numpy.flatnonzero(allowed).tolist())

    def mask(self, numbers: Iterable[int], value: bool = True) -> Booleans:
        """One flag per card: `value` at `numbers`, the opposite elsewhere."""
        mask = self._numpy.full(len(self.cards), not value)
        mask[list(numbers)] = value
        return mask

    def rank(self, words: Sequence[str], apps: frozenset[str], profile: Profile) -> Ranking:
        """Score every card for a task with these `words` about these `apps` (none: the task does not say)."""
        bm25 = self._index.scores(words)
        fits = (bm25 > 0) & (bm25 >= profile.floor * self._index.unit)
        apps = frozenset(app.lower() for app in apps)
        return Ranking(tuple(words), apps, bm25, self._prior(apps, profile.prior), fits)

    def _prior(self, apps: frozenset[str], prior: AppPrior) -> Floats:
        overlap: Floats = self._numpy.zeros(len(self.cards))
        if not apps:
            return overlap
        for app in apps & self._with_app.keys():
            overlap[self._with_app[app]] += 1
        mismatched: Booleans = self._has_apps & (overlap == 0)
        added: Floats = self._numpy.minimum(overlap * prior.bonus, prior.cap) - prior.penalty * mismatched
        return added

    def best(self, ranking: Ranking, limit: int, allowed: Booleans) -> list[int]:
        """Numbers of the `limit` best cards among those `allowed`, best first, equal scores in the order of ids."""
        candidates: Integers = self._numpy.flatnonzero(allowed)
        if not limit or not len(candidates):
            return []
        # Rounded, so that the last bits of a sum never decide between two equal cards.
        scores = self._numpy.round((ranking.bm25 + ranking.prior)[candidates], 9)
        if limit < len(candidates):
            least = self._numpy.partition(scores, -limit)[-limit]
            candidates, scores = candidates[scores >= least], scores[scores >= least]
        order = self._numpy.argsort(-scores, kind="stable")[:limit]
        found: list[int] = candidates[order].tolist()
        return found

    def hit(self, ranking: Ranking, number: int, rank: int, *, reserved: bool = False) -> Hit:
        """Card `number` as a hit of this ranking."""
        bm25, prior = float(ranking.bm25[number]), float(ranking.prior[number])
        shared = tuple(app for app in self._apps[number] if app.lower() in ranking.apps)
        card = self.cards[number]
        return Hit(card, rank, bm25 + prior, bm25, prior, shared, reserved, self._index, ranking.words, number)


def _apps(card: Card) -> tuple[str, ...]:
    return (card.app,) if isinstance(card, FunctionCard) else card.apps
