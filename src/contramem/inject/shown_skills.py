"""ShownSkills: the Skill Cards that a run was shown, in full or as a line of the list of rules, and their guards."""

from __future__ import annotations

from collections.abc import Iterable
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
    """Guards of all shown cards are monitored. Cards of which only a line was shown demand nothing at the end of a run:
    no word of the request says that they are for it. Not thread-safe."""

    def __init__(self, retriever: Retriever, query: Query) -> None:
        self._retriever, self._query = retriever, query
        self.in_full: set[str] = set()
        """Ids of cards, of functions too."""
        self.has_list = False
        """Whether the list of rules was shown. It comes once a run."""
        self._cards: dict[str, SkillCard] = {}

    def add(self, guidance: Guidance, cards: Iterable[SkillCard]) -> None:
        """Note that `guidance` shows these cards."""
        new = [card for card in cards if card.card_id not in self._cards]
        self._cards |= {card.card_id: card for card in new}
        self.has_list = self.has_list or bool(guidance.listed)
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

    def find_about(self, function: str) -> list[SkillCard]:
        """The cards about how, when or whether to call `function` that were not shown in full."""
        about = self._retriever.skills_for_call(function, self._query)
        return [card for card in about if card.card_id not in self.in_full]

    def find_objecting(self, call: Event, *, shown: bool) -> list[SkillCard]:
        """Those that this call goes against; with `shown`, only those of which a line was shown."""
        about = [card for card in self.find_about(call.function or "") if not shown or card.card_id in self._cards]
        return self.monitor.select_objecting(about, call)
