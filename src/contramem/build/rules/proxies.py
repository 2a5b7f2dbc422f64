"""Proxies: rules that only go along with others. Every failure they could explain is explained by another card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from contramem.bank.support import GRADES
from contramem.build.learning import LearningCard
from contramem.build.rules.support import can_be_broken
from contramem.contrast.packet import Packet
from contramem.monitor.guard import guards_of
from contramem.monitor.packet_replay import replay

FailedRun: TypeAlias = tuple[str, str]
"""The key of a task, and the letter of a run."""


def find_proxies(cards: Sequence[LearningCard], packets: Sequence[Packet]) -> list[LearningCard]:
    """The observed cards that no failing run breaks alone: whoever breaks one breaks another card too, of those that
    are left. The weakest go first."""
    broken = {card.card.card_id: _find_broken(card, packets) for card in cards if card.card.guards}
    left = {card.card.card_id: card for card in cards if broken.get(card.card.card_id)}
    proxies = []
    for card in sorted(left.values(), key=lambda card: _strength(card, broken[card.card.card_id])):
        own = broken[card.card.card_id]
        others = set[FailedRun]().union(*(broken[key] for key in left if key != card.card.card_id))
        if card.support.grade == "observed" and own <= others:
            del left[card.card.card_id]
            proxies.append(card)
    return proxies


def _strength(card: LearningCard, broken: set[FailedRun]) -> tuple[int, int, str]:
    grade = card.support.grade
    return -(GRADES.index(grade) if grade else len(GRADES)), len(broken), card.card.card_id


def _find_broken(card: LearningCard, packets: Sequence[Packet]) -> set[FailedRun]:
    """The failing runs that break one of its guards."""
    return {
        (packet.task_key, letter)
        for guard in guards_of(card.card.guards)
        for packet in packets
        if can_be_broken(guard, packet)
        for letter in replay(guard, packet).broken
    }
