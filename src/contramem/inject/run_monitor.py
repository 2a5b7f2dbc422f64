"""RunMonitor: monitors the guards of the cards that a run was shown, and gives each reminder once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from contramem.bank.card import SkillCard
from contramem.guards.guard import Guard
from contramem.guards.watch import GuardMonitor, Obligation
from contramem.traces.trajectory import Event


class RunMonitor:
    """The guards of one run. Each reminder is given once, so that an agent with good reasons is not stopped again."""

    def __init__(
        self, cards: Iterable[SkillCard], task: str, in_full: Collection[str], allowed: Collection[str] = ()
    ) -> None:
        """`in_full` are the ids of the cards that were shown in full; others demand nothing at the end. To calls
        against the `allowed` nothing is said. Both may grow."""
        self._cards, self._task, self._in_full, self._allowed = list(cards), task, in_full, allowed
        self._events: list[Event] = []
        self._watch = GuardMonitor.of_cards(self._cards, task)
        self._observed = self._asked = False
        self._reminded: set[tuple[str, Guard]] = set()

    def add(self, cards: Sequence[SkillCard]) -> None:
        """Monitor more cards. They were shown later, so the events so far are replayed for them."""
        if not cards:
            return
        self._cards.extend(cards)
        self._watch = GuardMonitor.of_cards(self._cards, self._task)
        for event in self._events:
            self._watch.observe(event)

    def observe(self, event: Event) -> tuple[Obligation, ...]:
        self._observed = True
        self._events.append(event)
        return self._watch.observe(event)

    def pending(self) -> tuple[Obligation, ...]:
        return tuple(owed for owed in self._watch.pending() if owed.card_id in self._in_full)

    def would_break(self, call: Event) -> tuple[Obligation, ...]:
        return self._watch.would_break(call)

    def select_objecting(self, cards: Sequence[SkillCard], call: Event) -> list[SkillCard]:
        """Those of `cards`, which were not shown in full, that this call goes against."""
        objecting = {obligation.card_id for obligation in self.objections_of(cards, call)}
        return [card for card in cards if card.card_id in objecting]

    def objections_of(self, cards: Sequence[SkillCard], call: Event) -> tuple[Obligation, ...]:
        """The guards of `cards`, shown or not, that this call goes against, as far as that can be judged."""
        if not cards or (self._asked and not self._observed):
            return ()
        monitor = GuardMonitor.of_cards(cards, self._task)
        for event in self._events:
            monitor.observe(event)
        return self._drop_allowed(monitor.find_objections(call))

    def find_objections(self, call: Event) -> tuple[Obligation, ...]:
        """The guards that the call would break, or that demand it in another way."""
        return self._drop_allowed(self._watch.find_objections(call))

    def _drop_allowed(self, objections: Iterable[Obligation]) -> tuple[Obligation, ...]:
        return tuple(objection for objection in objections if objection.card_id not in self._allowed)

    def reminders_before(self, call: Event) -> list[Obligation]:
        """The guards that the call goes against. If the agent loop reports no events, only the first call can be
        judged, because for later ones it is unknown what happened before."""
        judged, self._asked = self._observed or not self._asked, True
        return self._drop_repeated("call", self.find_objections(call)) if judged else []

    def reminders_after(self, objections: Sequence[Obligation]) -> list[Obligation]:
        """The guards that a call went against, without those that the agent was warned about."""
        return self._drop_repeated("call", objections)

    def reminders_at_end(self) -> list[Obligation]:
        """What is still owed, if events of the run were reported."""
        return self._drop_repeated("end", self.pending()) if self._observed else []

    def _drop_repeated(self, moment: Literal["call", "end"], obligations: Sequence[Obligation]) -> list[Obligation]:
        by_guard = {obligation.guard: obligation for obligation in obligations}
        new = [obligation for guard, obligation in by_guard.items() if (moment, guard) not in self._reminded]
        self._reminded.update((moment, obligation.guard) for obligation in new)
        return new
