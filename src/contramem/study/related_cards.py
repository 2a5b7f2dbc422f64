"""Cards of the bank that are related to a proposed one: the same rule, a wider or narrower one, the opposite."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from contramem.bank.card import SkillCard, SkillDelta
from contramem.guards.guard import Guard, guards_of

Relation: TypeAlias = Literal["same", "wider", "narrower", "opposite"]
"""How the card in the bank relates to the proposed one."""

_OPPOSITES = {("existence", "absence"), ("response", "not_succession")}


class RelatedCard(NamedTuple):
    """A card of the bank and how it relates to a proposed one."""

    card: SkillCard
    relation: Relation
    guard: Guard | None
    """The card's guard that shows the relation; None: the same words, without a guard."""


def find_related_cards(delta: SkillDelta, cards: Iterable[SkillCard]) -> list[RelatedCard]:
    """The cards that say the same as `delta`, more, less or the opposite; one entry per card."""
    related = []
    proposed = guards_of(delta.guards)
    for card in cards:
        if not proposed and not card.guards and card.skill.core_rule == delta.skill.core_rule:
            related.append(RelatedCard(card, "same", None))
            continue
        relations = [
            RelatedCard(card, relation, theirs)
            for theirs in guards_of(card.guards)
            for mine in proposed
            if (relation := relate(theirs, mine)) is not None
        ]
        order: tuple[Relation, ...] = ("opposite", "same", "wider", "narrower")
        if relations:
            related.append(min(relations, key=lambda other: order.index(other.relation)))
    return related


def relate(theirs: Guard, mine: Guard) -> Relation | None:
    """How one guard relates to another. None: they are about different things."""
    if theirs == mine:
        return "same"
    same_scope = set(theirs.conditions) == set(mine.conditions) and theirs.unless == mine.unless
    if same_scope and _are_opposite(theirs, mine):
        return "opposite"
    if theirs.bare != mine.bare:
        return None
    if _limits(theirs) < _limits(mine):
        return "wider"
    return "narrower" if _limits(theirs) > _limits(mine) else None


def _limits(guard: Guard) -> set[tuple[str, object]]:
    """What limits it to some runs."""
    unless = [("unless", guard.exceptions)] if guard.exceptions else []
    return {*(("when", condition) for condition in guard.conditions), *unless}


def _are_opposite(left: Guard, right: Guard) -> bool:
    templates = tuple(sorted((left.template, right.template)))
    if templates == ("precedence", "precedence"):
        return (left.function, left.then) == (right.then, right.function)
    named = {tuple(sorted(pair)) for pair in _OPPOSITES}
    return templates in named and (left.function, left.then) == (right.function, right.then)
