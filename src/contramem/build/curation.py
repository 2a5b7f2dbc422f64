"""Curation by evidence: what one delta means for the cards that are there already.

Two deltas are the same rule when they state the same guards; a rule without guards is known by its title and functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from contramem.bank.bank import Bank, Status
from contramem.bank.card import SkillCard, SkillDelta
from contramem.bank.footing import Footing
from contramem.bank.patch import Add, Amend, Merge, Noop, Patch
from contramem.build.mining import replay
from contramem.build.phrases import MAX_TAGS, bare, listed
from contramem.contrast.packet import Packet
from contramem.monitor.guard import guards_of

MAX_RULE_CHARS = 560
"""Of a merged rule. Two that are longer together stay two cards."""


class Known(NamedTuple):
    """A Skill Card that is still learning, with what it rests on."""

    card: SkillCard
    footing: Footing
    status: Status


def known(bank: Bank, ability: str) -> list[Known]:
    """The cards of an ability that were not retired, by id. Muted ones go on learning."""
    found = [
        Known(held.card, held.footing, held.status)
        for held in bank.holdings.values()
        if isinstance(held.card, SkillCard) and held.card.ability == ability and held.status != "retired"
    ]
    return sorted(found, key=lambda one: one.card.card_id)


def curate(index: int, delta: SkillDelta, packet: Packet, bank: Bank) -> Patch:
    """The smallest edit: nothing new, more evidence, two cards that are one, or a new card."""
    cards = known(bank, packet.ability)
    same = next((one for one in cards if same_rule(one.card, delta)), None)
    if same is not None:
        return _more_of(index, same, delta, packet, cards)
    wider = next((one for one in cards if _says_already(one.card, delta)), None)
    if wider is not None:
        return _noop(index, wider, "A card asks for this call already.")
    return Add(delta_index=index, new_or_updated_card=delta, reason="No card of this ability states this rule.")


def _noop(index: int, one: Known, reason: str) -> Noop:
    card_id = one.card.card_id
    return Noop(delta_index=index, target_card_ids=(card_id,), retained_card_id=card_id, reason=reason)


def same_rule(card: SkillCard, delta: SkillDelta) -> bool:
    """Does the card ask for what the delta asks for, perhaps in fewer places?"""
    if card.guards or delta.guards:
        return bool(delta.guards) and set(delta.guards) <= {guard.partition(" when ")[0] for guard in card.guards}
    return (card.title, card.functions_used) == (delta.title, delta.functions_used)


def _says_already(card: SkillCard, delta: SkillDelta) -> bool:
    """`existence(B)` beside `response(A, B)`: both ask for B, and one card that does is enough."""
    asked = {guard.target for guard in guards_of(delta.guards) if guard.template in ("response", "existence")}
    held = {guard.target for guard in guards_of(card.guards) if guard.template in ("response", "existence")}
    bare = any(guard.template == "existence" for guard in guards_of((*delta.guards, *card.guards)))
    return bool(asked) and bare and asked <= held


def _more_of(index: int, same: Known, delta: SkillDelta, packet: Packet, cards: Sequence[Known]) -> Patch:
    if _task(packet.task_key) in {_task(key) for key in same.footing.tasks}:
        return _noop(index, same, "The same task, in other words or with more runs, has taught this rule already.")
    if other := _one_rule_with(same, packet, cards):
        kept, joined = (same, other) if len(same.footing.tasks) >= len(other.footing.tasks) else (other, same)
        return Merge(
            delta_index=index,
            target_card_ids=(kept.card.card_id, joined.card.card_id),
            retained_card_id=kept.card.card_id,
            new_or_updated_card=_joined(kept.card, joined.card),
            reason="The same runs keep or break both rules, which are about one call: they are one rule.",
        )
    tags = tuple(dict.fromkeys([*same.card.tags, *delta.tags]))[:MAX_TAGS]
    return Amend(
        delta_index=index,
        target_card_ids=(same.card.card_id,),
        retained_card_id=same.card.card_id,
        new_or_updated_card=rewritten(same.card, tags=tags),
        reason=f"Another task shows the same rule: {len(same.footing.tasks) + 1} tasks now.",
    )


def _task(key: str) -> str:
    return key.partition("#")[0]


def _one_rule_with(same: Known, packet: Packet, cards: Sequence[Known]) -> Known | None:
    """Another card about the same call, which this packet's runs keep and break together with `same`."""
    family, broken = _family(same.card), _broken_by(same.card, packet)
    for one in cards:
        if one.card is same.card or one.status == "pinned" or family is None or _family(one.card) != family:
            continue
        room = len(same.card.skill.core_rule) + len(one.card.skill.core_rule) <= MAX_RULE_CHARS
        if room and _broken_by(one.card, packet) & broken:
            return one
    return None


def _family(card: SkillCard) -> tuple[str, str] | None:
    """What a card is about: its template, and the call that it asks for or guards."""
    guards = guards_of(card.guards)
    if not guards or any(guard.when for guard in guards):
        return None
    return guards[0].template, guards[0].target


def _broken_by(card: SkillCard, packet: Packet) -> set[str]:
    """Failing runs that break every guard of the card, when no passing run does."""
    replays = [replay(guard, packet) for guard in guards_of(card.guards)]
    if not replays or not all(found.supports for found in replays):
        return set()
    return set.intersection(*(set(found.broken) for found in replays))


def _joined(kept: SkillCard, joined: SkillCard) -> SkillDelta:
    """One card that says what both said, and nothing else."""
    guards = tuple(dict.fromkeys([*kept.guards, *joined.guards]))
    skill = kept.skill.model_copy(
        update={
            "core_rule": _joined_rule(guards) or f"{kept.skill.core_rule} {joined.skill.core_rule}",
            "completion": tuple(dict.fromkeys([*kept.skill.completion, *joined.skill.completion])),
        }
    )
    return rewritten(
        kept,
        skill=skill,
        tags=tuple(dict.fromkeys([*kept.tags, *joined.tags]))[:MAX_TAGS],
        functions_used=tuple(dict.fromkeys([*kept.functions_used, *joined.functions_used])),
        guards=guards,
    )


def _joined_rule(guards: Sequence[str]) -> str:
    """Several places to stop too early, in one sentence; empty for other rules."""
    parsed = guards_of(guards)
    if any(guard.template != "response" for guard in parsed) or len({guard.then for guard in parsed}) > 1:
        return ""
    places = listed([bare(guard.function) for guard in parsed])
    return f"{places} alone do not settle it: call {bare(parsed[0].then)} and use what it returns."


def rewritten(card: SkillCard, **changes: object) -> SkillDelta:
    """The card's text with some fields changed."""
    fields = {name: getattr(card, name) for name in SkillDelta.model_fields}
    return SkillDelta(**(fields | changes))
