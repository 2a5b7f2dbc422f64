"""Proxies: rules that only go along with others. What they explain, other cards explain as well."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from contramem.bank.bank import GRADES
from contramem.build.learning import LearningCard
from contramem.build.rules.support import can_be_broken
from contramem.chance import OutcomeTable, chance
from contramem.contrast.packet import Packet
from contramem.grading import most_chance
from contramem.guards.guard import guards_of
from contramem.guards.packets import GuardReplay, replay

FailedRun: TypeAlias = tuple[str, str]
"""The key of a task, and the letter of a run."""


def find_proxies(cards: Sequence[LearningCard], packets: Sequence[Packet]) -> list[LearningCard]:
    """The cards that explain nothing of their own. The weakest go first, and the failing runs that break a card which
    is left are set aside: an observed card must be broken by another failing run, and for a proven one the other runs
    must be more than chance explains.

    Rules that stand alone (a look, the last words, a second try, a change made twice) are not compared.
    """
    compared = [card for card in cards if card.card.guards and not _stands_alone(card)]
    replays = {card.card.card_id: _replay(card, packets) for card in compared}
    broken = {key: {run for replayed in each for run in _broken(*replayed)} for key, each in replays.items()}
    left = {card.card.card_id: card for card in compared if broken[card.card.card_id]}
    proxies = []
    for card in sorted(left.values(), key=lambda card: _strength(card, broken[card.card.card_id])):
        others = set[FailedRun]().union(*(broken[key] for key in left if key != card.card.card_id))
        if _explains_nothing(card, replays[card.card.card_id], broken[card.card.card_id], others):
            del left[card.card.card_id]
            proxies.append(card)
    return proxies


def _stands_alone(card: LearningCard) -> bool:
    return card.rule is not None and card.rule.STANDS_ALONE


def _explains_nothing(
    card: LearningCard,
    replays: Sequence[tuple[Packet, GuardReplay]],
    broken: set[FailedRun],
    others: set[FailedRun],
) -> bool:
    if card.support.grade not in ("observed", "proven"):
        return False  # a tool refuses what breaks it
    if broken <= others:
        return True
    tables = [_count(packet, replayed, others) for packet, replayed in replays if packet.is_contrastive]
    passing_without = sum(table.broke_passed for table in tables)
    return card.support.grade == "proven" and chance(tables) > most_chance(passing_without)


def _count(packet: Packet, replayed: GuardReplay, others: Collection[FailedRun]) -> OutcomeTable:
    """How the runs of a task ended, without the failing runs that break another card."""
    kept, broke = (
        sum((packet.task_key, letter) not in others for letter in letters)
        for letters in (replayed.kept_in_vain, replayed.broken)
    )
    return OutcomeTable(len(replayed.held), kept, len(replayed.contradicted), broke)


def _strength(card: LearningCard, broken: set[FailedRun]) -> tuple[int, int, str]:
    grade = card.support.grade
    return -(GRADES.index(grade) if grade else len(GRADES)), len(broken), card.card.card_id


def _replay(card: LearningCard, packets: Sequence[Packet]) -> list[tuple[Packet, GuardReplay]]:
    return [
        (packet, replay(guard, packet))
        for guard in guards_of(card.card.guards)
        for packet in packets
        if can_be_broken(guard, packet)
    ]


def _broken(packet: Packet, replayed: GuardReplay) -> Iterator[FailedRun]:
    """The failing runs that break the guard."""
    yield from ((packet.task_key, letter) for letter in replayed.broken)
