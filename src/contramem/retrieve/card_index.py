"""CardIndex: a set of cards that are ranked against each other (the skills of an ability, or all functions)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from contramem.bank.card import Card, FunctionCard
from contramem.retrieve.hit import Hit
from contramem.retrieve.profiles import AppPrior, Profile
from contramem.retrieve.scorer import RequestWords, ScorerMaker

if TYPE_CHECKING:
    from contramem.retrieve.bm25 import Floats, Integers

ASKED_AT_ONCE = 4
"""How many times as many cards are looked at as are wanted, and again if too few of them will do."""


@dataclass(frozen=True)
class Ranking:
    """The scores of all cards of an index for one task, and which of them reach the floor."""

    words: tuple[str, ...]
    apps: frozenset[str]
    """Lower case."""
    relevance: Floats
    fits: Integers
    """Numbers of the cards that reach the floor, in order."""
    prior: AppPrior


class CardIndex:
    """An index of cards, numbered in the order of their ids. Immutable, so threads can share it."""

    def __init__(
        self, cards: Iterable[Card], make_scorer: ScorerMaker, requests: RequestWords = MappingProxyType({})
    ) -> None:
        import numpy

        self._numpy = numpy
        self.cards = tuple(sorted(cards, key=lambda card: card.card_id))
        self._number = {card.card_id: number for number, card in enumerate(self.cards)}
        self._scorer = make_scorer(self.cards, requests)
        self._apps = tuple(_apps(card) for card in self.cards)
        names = sorted({app.lower() for apps in self._apps for app in apps})
        self._app_code = {app: code for code, app in enumerate(names)}
        # One row per card: the codes of its apps, padded with a code that no task asks for. Rows of cards without apps
        # begin with a code of their own, which counts as more apps than any card has.
        self._width, padding, no_app = max(map(len, self._apps), default=0), len(names), len(names) + 1
        rows = [[self._app_code[app.lower()] for app in apps] or [no_app] for apps in self._apps]
        width = max(self._width, 1)
        self._app_codes: Integers = numpy.array(
            [row + [padding] * (width - len(row)) for row in rows], dtype=numpy.int64
        ).reshape(len(rows), width)
        self._no_app = no_app

    @property
    def unit(self) -> float:
        """The scale of the scores."""
        return self._scorer.unit

    def numbers(self, card_ids: Iterable[str]) -> list[int]:
        """The numbers of the cards with these ids, in order; unknown ids are ignored."""
        return sorted(self._number[card_id] for card_id in card_ids if card_id in self._number)

    def with_id(self, numbers: Integers, is_wanted: Callable[[str], bool]) -> Integers:
        """The `numbers` of the cards whose id is wanted."""
        wanted = [is_wanted(self.cards[number].card_id) for number in numbers.tolist()]
        chosen: Integers = numbers[self._numpy.array(wanted, dtype=bool)]
        return chosen

    def about_apps(self, ranking: Ranking, least: float) -> Integers:
        """The cards that reach the floor and have this relevance, or else an app of the task, if apps are known."""
        if not ranking.apps:
            return ranking.fits
        reach = ranking.relevance[ranking.fits] >= least
        chosen: Integers = ranking.fits[reach | (self._count_shared_apps(ranking, ranking.fits) > 0)]
        return chosen

    def rank(self, words: Sequence[str], apps: frozenset[str], profile: Profile, floor: float | None = None) -> Ranking:
        """Score every card for a task with these `words` about these `apps` (empty if unknown). `floor` defaults to the
        profile's."""
        relevance = self._scorer.scores(words)
        least = (profile.floor if floor is None else floor) * self._scorer.unit
        fits = (relevance >= least if least > 0 else relevance > 0).nonzero()[0]
        return Ranking(tuple(words), frozenset(app.lower() for app in apps), relevance, fits, profile.prior)

    def only(self, numbers: Integers, wanted: Integers | Sequence[int]) -> Integers:
        """The `numbers` that are among `wanted`."""
        return numbers[self._numpy.isin(numbers, wanted)]

    def without(self, numbers: Integers | Sequence[int], unwanted: Sequence[int]) -> Integers | Sequence[int]:
        """The `numbers` that are not among `unwanted`."""
        if not unwanted:
            return numbers
        some: Integers = self._numpy.asarray(numbers, dtype=self._numpy.int64)
        return some[~self._numpy.isin(some, unwanted)]

    def best(self, ranking: Ranking, limit: int, numbers: Integers | Sequence[int]) -> list[int]:
        """The `limit` best of `numbers`, best first, ties in the order of ids. `numbers` must be in order."""
        numpy = self._numpy
        candidates: Integers = numpy.asarray(numbers, dtype=numpy.int64)
        if not limit or not len(candidates):
            return []
        score = ranking.relevance[candidates]
        if limit < len(candidates):
            # A card further below the limit-th score than the largest possible prior cannot make it into the result.
            reach = ranking.prior.cap + ranking.prior.penalty if ranking.apps else 0.0
            least = numpy.partition(score, -limit)[-limit] - reach
            near = (score >= least).nonzero()[0]
            candidates, score = candidates[near], score[near]
        if ranking.apps:
            score = score + self._priors(ranking, candidates)
        # Rounded, so that floating-point noise never decides between two equal cards.
        order = (-score.round(9)).argsort(kind="stable")[:limit]
        best: list[int] = candidates[order].tolist()
        return best

    def best_with_id(
        self, ranking: Ranking, limit: int, numbers: Integers, is_wanted: Callable[[str], bool]
    ) -> list[int]:
        """The `limit` best of the cards whose id is wanted. Asks about no more cards than it has to."""
        looked_at = 0
        while True:
            looked_at = ASKED_AT_ONCE * (looked_at or limit)
            ordered = self.best(ranking, looked_at, numbers)
            wanted = [number for number in ordered if is_wanted(self.cards[number].card_id)][:limit]
            if len(wanted) == limit or looked_at >= len(numbers):
                return wanted

    def near_best(self, ranking: Ranking, numbers: list[int], share: float) -> list[int]:
        """The `numbers` with at least `share` of the best relevance: if there is a card for this job, cards about other
        jobs that happen to share a word or two are left out."""
        least = share * max((ranking.relevance[number] for number in numbers), default=0.0)
        return [number for number in numbers if ranking.relevance[number] >= least]

    def _priors(self, ranking: Ranking, numbers: Integers) -> Floats:
        """The bonus or penalty of these cards for the apps they share with the task."""
        prior, no_app = ranking.prior, self._width + 1
        by_overlap = [-prior.penalty, *(min(n * prior.bonus, prior.cap) for n in range(1, no_app)), 0.0]
        priors: Floats = self._numpy.array(by_overlap)[self._count_shared_apps(ranking, numbers, no_app)]
        return priors

    def _count_shared_apps(self, ranking: Ranking, numbers: Integers, no_app: int = 0) -> Integers:
        """How many apps of the task each of these cards has; `no_app` for a card without apps."""
        shared = self._numpy.zeros(self._no_app + 1, dtype=self._numpy.int64)
        shared[[self._app_code[app] for app in ranking.apps if app in self._app_code]] = 1
        shared[self._no_app] = no_app
        counts: Integers = shared[self._app_codes[numbers]].sum(axis=1)
        return counts

    def hit(self, ranking: Ranking, number: int, rank: int, *, reserved: bool = False) -> Hit:
        """Card `number` as a hit of this ranking."""
        shared = tuple(app for app in self._apps[number] if app.lower() in ranking.apps)
        relevance, prior = float(ranking.relevance[number]), self._prior(ranking, number, len(shared))
        card = self.cards[number]
        return Hit(
            card,
            rank,
            relevance + prior,
            relevance,
            prior,
            shared,
            reserved,
            _scorer=self._scorer,
            _words=ranking.words,
            _document=number,
        )

    def _prior(self, ranking: Ranking, number: int, shared: int) -> float:
        if not ranking.apps or not self._apps[number]:
            return 0.0
        return min(shared * ranking.prior.bonus, ranking.prior.cap) if shared else -ranking.prior.penalty


def _apps(card: Card) -> tuple[str, ...]:
    return (card.app,) if isinstance(card, FunctionCard) else card.apps
