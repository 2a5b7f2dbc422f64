"""ShownSkills: the Skill Cards that a run was shown, in full or as a sentence, and their guards."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from contramem.bank.card import SkillCard
from contramem.inject.guidance import Guidance
from contramem.retrieve.hit import Query
from contramem.retrieve.retriever import Retriever
from contramem.traces.trajectory import Event

if TYPE_CHECKING:
    from contramem.inject.run_monitor import RunMonitor


class ShownSkills:
    """Guards of all shown cards are monitored. Cards that were shown as a sentence demand nothing at the end of a run:
    no word of the request says that they are for it. Not thread-safe."""

    def __init__(self, retriever: Retriever, query: Query) -> None:
        self._retriever, self._query = retriever, query
        self.in_full: set[str] = set()
        """Ids of cards, of functions too."""
        self._cards: dict[str, SkillCard] = {}

    def add(self, guidance: Guidance, cards: Iterable[SkillCard]) -> None:
        """Note that `guidance` shows these cards."""
        new = [card for card in cards if card.card_id not in self._cards]
        self._cards |= {card.card_id: card for card in new}
        self.in_full.update(set(guidance.card_ids).difference(guidance.listed))
        if "monitor" in self.__dict__:
            self.monitor.add(new)

    @property
    def have_guards(self) -> bool:
        return any(card.guards for card in self._cards.values())

    @cached_property
    def monitor(self) -> RunMonitor:
        from contramem.inject.run_monitor import RunMonitor  # parsing guards takes time, and many runs never ask

        return RunMonitor(self._cards.values(), self._query.task, self.in_full)

    @property
    def ids(self) -> Collection[str]:
        """Of the skills that were shown in full or as a sentence."""
        return self._cards.keys()

    def find_objecting(self, call: Event) -> list[SkillCard]:
        """The cards with a guard on how, when or whether to make this call that it goes against, if they were not shown
        in full."""
        advising = self._retriever.advising(call.function or "", self._query)
        return self.monitor.select_objecting([card for card in advising if card.card_id not in self.in_full], call)
