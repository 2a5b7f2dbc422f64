"""Scopes: which cards of an ability are for every task (`universal`), and which are for the end of a task.

The time profile reserves slots for both (paper, A.1). The scope follows from what a card checks and from the tasks that
show it, never from its words; an author may mark a card about the end with the tag `finalization`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contramem.bank.bank import Change, Scope
from contramem.bank.ledger import Decision
from contramem.build.learning import LearningCard, learning_cards
from contramem.build.recorder import BuildRecorder
from contramem.build.rules.author import RuleAuthor
from contramem.contrast.packet import Packet
from contramem.guards.guard import guards_of

MIN_TASKS = 3
"""How many tasks must show a card before it can be universal."""
MIN_SHARE = 2 / 3
"""The share of an ability's tasks that a universal card must be about."""
FINALIZATION_TAG = "finalization"
FINALIZE = "finalize"
"""The end of a run in guard syntax, whatever ends it."""


def mark_scopes(recorder: BuildRecorder, ability: str, packets: Sequence[Packet]) -> None:
    """Record the scope of each card of an ability. A scope set by a person stays."""
    tasks = _Tasks.of(packets)
    for card in learning_cards(recorder.bank, ability):
        scope = scope_of(card, tasks)
        if scope != card.support.scope and not _is_given_by_person(recorder, card):
            recorder.record(_decide(recorder, card, scope), progress={})


@dataclass(frozen=True)
class _Tasks:
    """The tasks of an ability."""

    called: dict[str, frozenset[str]]
    """By task key: the functions that passing runs call; all runs if none passed."""
    ending: frozenset[str]
    """Functions that end a run."""

    @classmethod
    def of(cls, packets: Sequence[Packet]) -> _Tasks:
        steps = (step for packet in packets for run in packet.runs for step in run.actions)
        ending = {step.function for step in steps if step.function and step.effect == FINALIZE}
        return cls({packet.task_key: _functions_called(packet) for packet in packets}, frozenset((*ending, FINALIZE)))

    def hold_all_of(self, card: LearningCard) -> bool:
        """Are all tasks behind the card available?"""
        return self.called.keys() >= {*card.support.tasks, *card.support.contradicted_by}

    def share(self, card: LearningCard) -> float:
        """The share of tasks that the card is about: they call all its functions or, if it names none, show it."""
        named = set(card.card.functions_used)
        about = [
            key for key, called in self.called.items() if (named <= called if named else key in card.support.tasks)
        ]
        return len(about) / len(self.called) if self.called else 0.0


def scope_of(card: LearningCard, tasks: _Tasks) -> Scope | None:
    """The end is checked first: a card about it is repeated there and needs no place at the start."""
    if FINALIZATION_TAG in card.card.tags or any(
        guard.template == "last" or guard.target in tasks.ending for guard in guards_of(card.card.guards)
    ):
        return "finalization"
    if not tasks.hold_all_of(card):
        return card.support.scope
    supporting = set(card.support.tasks) - set(card.support.contradicted_by)
    is_opposed = len(card.support.contradicted_by) > len(supporting) / 3
    if len(supporting) >= MIN_TASKS and not is_opposed and tasks.share(card) >= MIN_SHARE:
        return "universal"
    return None


def _functions_called(packet: Packet) -> frozenset[str]:
    runs = packet.passing or packet.runs
    return frozenset(step.function for run in runs for step in run.actions if step.function)


def _is_given_by_person(recorder: BuildRecorder, card: LearningCard) -> bool:
    """Did a person choose the current scope?"""
    if card.support.scope is None:
        return False
    card_id = card.card.card_id
    changed = [past for past in recorder.decisions_on(card_id) if card_id in past.scopes]
    givers = [past.by for past in changed if past.scopes[card_id][0] != past.scopes[card_id][1]]
    return bool(givers) and givers[-1].kind != "rules"


def _decide(recorder: BuildRecorder, card: LearningCard, scope: Scope | None) -> Decision:
    before = recorder.bank.entries[card.card.card_id]
    support = before.support.model_copy(update={"scope": scope})
    reasons = {
        "universal": "It is about nearly every task of this ability.",
        "finalization": "It is about how a task ends.",
        None: "It is no longer about nearly every task of this ability, nor about how one ends.",
    }
    return Decision(
        operation="PATCH",
        reason=reasons[scope],
        by=RuleAuthor.attribution,
        ability=card.card.ability,
        changes=(Change(before=before, after=before.model_copy(update={"support": support})),),
    )
