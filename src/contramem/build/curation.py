"""Curation by evidence: what one delta means for the cards that are there already.

Two deltas are the same rule when they state the same guards; a rule without guards is known by its title and functions.
Rules about one argument of several functions of an app, about one precondition of several calls, or about several
writes that are due for each of the same things, become one card.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from contramem.bank.bank import Bank, Status
from contramem.bank.card import SkillCard, SkillDelta
from contramem.bank.patch import Add, Amend, Merge, Noop, Patch
from contramem.bank.support import CardSupport
from contramem.build.every_item import completed, says_for_each
from contramem.build.generalizing import asks_for, covers, generalized, is_about_one_call, joined, shortened
from contramem.build.phrases import AT_ONCE, MAX_TAGS, quoted
from contramem.contrast.packet import Packet


class LearningCard(NamedTuple):
    """A Skill Card that is still learning, with what it rests on."""

    card: SkillCard
    footing: CardSupport
    status: Status


def known(bank: Bank, ability: str) -> list[LearningCard]:
    """The cards of an ability that were not retired, by id. Muted ones go on learning."""
    found = [
        LearningCard(held.card, held.footing, held.status)
        for held in bank.entries.values()
        if isinstance(held.card, SkillCard) and held.card.ability == ability and held.status != "retired"
    ]
    return sorted(found, key=lambda one: one.card.card_id)


def curate(index: int, delta: SkillDelta, packet: Packet, bank: Bank) -> Patch:
    """The smallest edit: nothing new, more evidence, several cards that are one, or a new card."""
    cards = known(bank, packet.ability)
    same = next((one for one in cards if same_rule(one.card, delta) or covers(one.card, delta, packet)), None)
    if same is None and (said := next((one for one in cards if asks_for(one.card, delta)), None)):
        return _noop(index, said, "A card asks beforehand for what this does after the error.")
    if wider := _widening(index, same, delta, packet, cards):
        return wider
    if same is None:
        return Add(delta_index=index, new_or_updated_card=delta, reason="No card of this ability states this rule.")
    if _task(packet.task_key) in {_task(key) for key in same.footing.tasks}:
        return _noop(index, same, "The same task, in other words or with more runs, has taught this rule already.")
    return Amend(
        delta_index=index,
        target_card_ids=(same.card.card_id,),
        retained_card_id=same.card.card_id,
        new_or_updated_card=rewritten(same.card, tags=_tags(same.card, delta)),
        reason=f"Another task shows the same rule: {len(same.footing.tasks) + 1} tasks now.",
    )


def same_rule(card: SkillCard, delta: SkillDelta) -> bool:
    """Does the card ask for what the delta asks for, perhaps in fewer places?"""
    if delta.guards and not card.guards:
        return _asks_after_refusal(card, delta)
    if card.guards or delta.guards:
        asked = {*card.guards, *(guard.partition(" when ")[0] for guard in card.guards)}
        return bool(delta.guards) and asked >= set(delta.guards)
    return (card.title, card.functions_used) == (delta.title, delta.functions_used) or says_for_each(card, delta)


def _asks_after_refusal(card: SkillDelta, delta: SkillDelta) -> bool:
    """Was the card narrowed (settling.py) to ask for what the delta asks for only when the tool does?"""
    refusals = quoted(card.skill.core_rule)
    same = bool(refusals) and refusals == quoted(delta.skill.core_rule)
    return same and AT_ONCE in card.skill.core_rule and set(delta.functions_used) <= set(card.functions_used)


def _widening(
    index: int, same: LearningCard | None, delta: SkillDelta, packet: Packet, cards: Sequence[LearningCard]
) -> Amend | Merge | None:
    """The cards that the delta shows to be one rule with it: about a class of calls, or what several calls need."""
    open_to_change = [one for one in cards if one.status != "pinned" and one is not same]
    if same is not None and same.status == "pinned":
        return None
    for widen in (generalized, joined, completed, shortened):
        if widen is generalized and same is None and is_about_one_call(delta):
            continue  # one task for each of two calls is not yet a rule about all of them
        kin = [one for one in open_to_change if widen(one.card, delta, packet) is not None]
        targets = [*([same] if same else []), *kin]
        if not kin:
            continue
        text = widen(kin[0].card, delta, packet)
        assert text is not None
        for other in kin[1:]:
            text = widen(other.card, text, packet) or text
        text = text.model_copy(update={"tags": _tags(kin[0].card, text)})
        retained = max(targets, key=lambda one: (len(one.footing.tasks), one.card.card_id)).card.card_id
        ids = tuple(one.card.card_id for one in targets)
        reason = "What they ask for is one rule about several calls."
        edit = Amend if len(ids) == 1 else Merge
        return edit(
            delta_index=index,
            target_card_ids=ids,
            retained_card_id=retained,
            new_or_updated_card=text,
            reason=reason,
        )
    return None


def _noop(index: int, one: LearningCard, reason: str) -> Noop:
    card_id = one.card.card_id
    return Noop(delta_index=index, target_card_ids=(card_id,), retained_card_id=card_id, reason=reason)


def _task(key: str) -> str:
    return key.partition("#")[0]


def _tags(card: SkillDelta, delta: SkillDelta) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*card.tags, *delta.tags]))[:MAX_TAGS]


def rewritten(card: SkillCard, **changes: object) -> SkillDelta:
    """The card's text with some fields changed."""
    fields = {name: getattr(card, name) for name in SkillDelta.model_fields}
    return SkillDelta(**(fields | changes))
