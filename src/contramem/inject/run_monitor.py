"""Watching: the guards of the cards that a run was shown, and which of them its agent has been reminded of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from contramem.bank.card import SkillCard
from contramem.monitor.guard import Guard
from contramem.monitor.guard_monitor import GuardMonitor, Obligation
from contramem.traces.trajectory import Event


class RunMonitor:
    """One run. Each reminder is given once: an agent that has good reason to go on is not stopped again."""

    def __init__(self, cards: Iterable[SkillCard], task: str) -> None:
        self._cards, self._task = list(cards), task
        self._events: list[Event] = []
        self._watch = GuardMonitor.of_cards(self._cards, task)
        self._observed = self._asked = False
        self._reminded: set[tuple[str, Guard]] = set()

    def add(self, cards: Iterable[SkillCard]) -> None:
        """Watch these as well. They were shown later, and have their say about what happened before."""
        self._cards.extend(cards)
        self._watch = GuardMonitor.of_cards(self._cards, self._task)
        for event in self._events:
            self._watch.observe(event)

    def observe(self, event: Event) -> tuple[Obligation, ...]:
        self._observed = True
        self._events.append(event)
        return self._watch.observe(event)

    def pending(self) -> tuple[Obligation, ...]:
        return self._watch.pending()

    def would_break(self, call: Event) -> tuple[Obligation, ...]:
        return self._watch.would_break(call)

    def select_objecting(self, cards: Sequence[SkillCard], call: Event) -> list[SkillCard]:
        """Those of `cards`, which were not shown yet, that this call goes against."""
        if not cards or (self._asked and not self._observed):
            return []
        monitor = GuardMonitor.of_cards(cards, self._task)
        for event in self._events:
            monitor.observe(event)
        objecting = {obligation.card_id for obligation in monitor.find_objections(call)}
        return [card for card in cards if card.card_id in objecting]

    def reminders_before(self, call: Event) -> list[Obligation]:
        """What the call would break. In a loop that tells nothing of what happens only the first call can be judged:
        of later ones nobody knows what came before."""
        judged, self._asked = self._observed or not self._asked, True
        return self._unsaid("call", self._watch.would_break(call)) if judged else []

    def reminders_after(self, broken: Sequence[Obligation]) -> list[Obligation]:
        """What a call broke, unless the agent was warned before it."""
        return self._unsaid("call", broken)

    def reminders_at_end(self) -> list[Obligation]:
        """What is open, in a run that tells what happens."""
        return self._unsaid("end", self._watch.pending()) if self._observed else []

    def _unsaid(self, moment: Literal["call", "end"], obligations: Sequence[Obligation]) -> list[Obligation]:
        unsaid = [obligation for obligation in obligations if (moment, obligation.guard) not in self._reminded]
        self._reminded.update((moment, obligation.guard) for obligation in unsaid)
        return unsaid
