"""Settling: after the deltas, every rule is held against all runs of its ability, not only those that taught it.

A rule that passing runs contradict is narrowed to where it holds, or taken out of service; it is never kept because it
came first. A rule that more tasks bear out knows so. Whoever wrote it, its guards are replayed and counted alike. What
follows differs in one thing: a card of the rules *is* its guards, and goes when they do. One in an author's own words
says more than they check, so that a guard which does not hold is taken from it, and the words go only when enough runs
speak against them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from contramem.bank.card import Skill, SkillDelta
from contramem.bank.support import CardSupport
from contramem.build.curation import LearningCard, rewritten
from contramem.build.enforcing import is_enforced
from contramem.build.mining import tables
from contramem.build.narrowing import after_refusal, narrowed, narrower
from contramem.build.record import FollowRecord, Replays, footing_of, record, replays
from contramem.build.significance import chance
from contramem.build.sources import places, sources_in
from contramem.contrast.packet import Packet
from contramem.monitor.guard import Guard, guards_of


class Reassessment(NamedTuple):
    """How a card fares over all packets of its ability, and what that means for it."""

    operation: Literal["PATCH", "NARROW", "RETIRE"]
    """PATCH: it stays, perhaps with fewer guards, and its counts are new."""
    reason: str
    footing: CardSupport
    """All it rests on now, what it rested on before included."""
    text: SkillDelta
    """What it says from now on."""

    def changes(self, one: LearningCard) -> bool:
        """Is there anything to record? Words alone do not change: they follow the counts."""
        return self.operation != "PATCH" or self.footing != one.footing or self.text.guards != one.card.guards


class EvidencePool(NamedTuple):
    """What the cards of an ability are held against."""

    packets: Sequence[Packet]
    fresh: Sequence[Packet]
    """Those that no build has counted yet."""
    accepted: float | None
    """How likely by chance a card of the rules may be; None for cards in words."""

    def standing(self, one: LearningCard) -> Reassessment:
        # With every task at hand that the card rests on, it is counted anew; else only what is new can be added.
        tasks = {*one.footing.tasks, *one.footing.contradicted_by}
        complete = tasks <= {packet.task_key for packet in self.packets}
        one, packets = (_uncounted(one), self.packets) if complete else (one, self.fresh)
        if one.status == "pinned":
            return _counted(one, packets)
        if self.accepted is None:
            return _stand_in_words(one, packets)
        return _stand_as_rule(one, packets, self.accepted if complete else None)


MAX_CONTRADICTED = 1 / 3
"""Of the tasks that show a rule. With fewer against it and no narrower place, or when those that keep it pass clearly
more often all the same, it stays, and its counts say so."""


def _uncounted(one: LearningCard) -> LearningCard:
    """The card without what was counted for and against it, to be counted anew."""
    return one._replace(footing=one.footing.model_copy(update={"support": {}, "contradicted_by": ()}))


def _counted(one: LearningCard, packets: Sequence[Packet]) -> Reassessment:
    """Only count: what a person has pinned stays as it is."""
    footing = one.footing + footing_of(replays(guards_of(one.card.guards), packets))
    return Reassessment("PATCH", f"Held against all runs: {footing}.", footing, rewritten(one.card))


# Cards of the rules


def _stand_as_rule(one: LearningCard, packets: Sequence[Packet], accepted: float | None = None) -> Reassessment:
    """Replay a card's guards on every packet they speak about.

    `accepted` is how likely by chance a rule may be that rests on outcomes alone (mining.py); None: not all runs that
    it rests on are at hand, so that this cannot be asked.
    """
    guards = guards_of(one.card.guards)
    found = replays(guards, packets)
    fared, enforced = record(guards, packets), is_enforced(guards, packets)
    standing = _counted(one, packets)._replace(text=_stated(one, fared, packets))
    if reason := _failing(guards, packets, fared, enforced, accepted):
        return standing._replace(operation="RETIRE", reason=reason)
    contradicted = set(standing.footing.contradicted_by)
    shown = set(standing.footing.tasks) - contradicted
    if not contradicted:
        return standing
    narrow = narrower(guards[0], found, one.card.functions_used) if len(guards) == 1 else None
    contradict = f"Passing runs of {_tasks_of(contradicted)} contradict its wider reach."
    if narrow is not None and len(contradicted) <= len(shown):
        text = narrowed(one.card, (str(narrow),), (narrow.when,))
        return Reassessment("NARROW", contradict, one.footing + footing_of(replays((narrow,), packets)), text)
    if enforced and (text_after := after_refusal(one.card)):
        return standing._replace(operation="NARROW", reason=contradict, text=text_after)
    if len(contradicted) > (1 if enforced else MAX_CONTRADICTED) * len(shown) and not fared.makes_a_difference:
        return standing._replace(operation="RETIRE", reason=_do_without(contradicted))
    return standing


def _failing(
    guards: Sequence[Guard], packets: Sequence[Packet], fared: FollowRecord, enforced: bool, accepted: float | None
) -> str:
    """Why a rule should not stay in service. What the tools themselves enforce needs no outcomes."""
    if fared.speaks_against_it:
        return _no_better(fared)
    if fared.broke_and_passed > fared.kept_and_passed:
        return f"More runs pass without it than with it: {fared}."
    if _has_no_one_source(guards, packets):
        return "Over all runs, its values have no one form, or stand in the request."
    if enforced:
        return ""
    if any(guard.template == "response" for guard in guards) and not fared.makes_a_difference:
        return f"Over all runs, those that keep it do not pass clearly more often: {fared}."
    if accepted is None:
        return ""
    likely = min(chance(tables(guard, packets)) for guard in guards)
    if likely > accepted:
        enough = f"at most {accepted:.2g} would do" if accepted else "none is unlikely enough"
        return f"Chance alone may show this (probability {likely:.2g}): of so many rules tried, {enough}."
    return ""


def _no_better(fared: FollowRecord) -> str:
    return f"Runs that keep it pass no more often than runs that do not: {fared}."


def _do_without(contradicted: set[str]) -> str:
    return f"Passing runs of {_tasks_of(contradicted)} do without it."


def _tasks_of(keys: set[str]) -> str:
    return "1 task" if len(keys) == 1 else f"{len(keys)} tasks"


def _has_no_one_source(guards: Sequence[Guard], packets: Sequence[Packet]) -> bool:
    about_values = [guard for guard in guards if guard.template == "known_value"]
    return any(not sources_in(packets, guard).are_mostly_looked_up for guard in about_values)


def _stated(one: LearningCard, fared: FollowRecord, packets: Sequence[Packet]) -> SkillDelta:
    """The contrast of the task that taught it, and how all runs fared that it speaks about, where there are more."""
    skill = _with_all_sources(one, packets)
    if fared.tasks >= 2 and fared.broke:
        first = skill.success_failure_contrast.partition(_OVERALL)[0].rstrip()
        overall = f"{_OVERALL} {fared.tasks} tasks it speaks about, {fared}."
        skill = skill.model_copy(update={"success_failure_contrast": f"{first} {overall}"})
    return rewritten(one.card, skill=skill)


def _with_all_sources(one: LearningCard, packets: Sequence[Packet]) -> Skill:
    """The rule with every place that passing runs took the values from: one task may have shown an odd one."""
    skill, guards = one.card.skill, guards_of(one.card.guards)
    said = [item.partition(_SEEN_IN)[2] for item in skill.completion if _SEEN_IN in item]
    if len(guards) != 1 or guards[0].template != "known_value" or len(said) != 1:
        return skill
    where = places(sources_in(packets, guards[0]))
    return skill.model_copy(
        update={
            "core_rule": skill.core_rule.replace(said[0], where),
            "completion": tuple(item.replace(said[0], where) for item in skill.completion),
        }
    )


_SEEN_IN = " had been seen in "
_OVERALL = "Over all"


# Cards in an author's own words


class GuardOutcome(NamedTuple):
    """What becomes of one guard of such a card."""

    guard: Guard | None
    """None: it is taken from the card."""
    reason: str = ""
    """Why it is taken away or narrowed."""
    against: bool = False
    """Enough runs speak against what it says, and so against the card that says it."""


def _stand_in_words(one: LearningCard, packets: Sequence[Packet]) -> Reassessment:
    """Replay each guard of a card that a model or a person wrote. The words stay what they are, but for the trigger
    that says where a narrower guard holds."""
    unreadable = [f"{text} cannot be read." for text in one.card.guards if not guards_of((text,))]
    guards = guards_of(one.card.guards)
    fates = [_fate(guard, one, packets) for guard in guards]
    left = [fate.guard for fate in fates if fate.guard is not None]
    conditions = [fate.guard.when for fate in fates if fate.guard is not None and fate.reason]
    footing = _without(one.footing, left) + footing_of(replays(left, packets))
    reasons = [*unreadable, *(fate.reason for fate in fates if fate.reason)]
    text = rewritten(one.card, guards=tuple(map(str, left)))
    if guards and not left and all(fate.against for fate in fates):
        return Reassessment("RETIRE", " ".join(reasons), footing, rewritten(one.card))
    if conditions:
        return Reassessment("NARROW", " ".join(reasons), footing, narrowed(one.card, text.guards, conditions))
    if reasons:
        return Reassessment(
            "PATCH", f"{' '.join(reasons)} The card stays, and this is no longer checked.", footing, text
        )
    return Reassessment("PATCH", f"Held against all runs: {footing}.", footing, rewritten(one.card))


def _fate(guard: Guard, one: LearningCard, packets: Sequence[Packet]) -> GuardOutcome:
    found, fared = replays((guard,), packets), record((guard,), packets)
    if fared.speaks_against_it:
        return GuardOutcome(None, f"{guard}: {_no_better(fared)}", against=True)
    shown, contradicted = _tasks(one, found, packets)
    if not contradicted:
        return GuardOutcome(guard)
    narrow = narrower(guard, found, one.card.functions_used)
    if narrow is not None and len(contradicted) <= len(shown):
        return GuardOutcome(narrow, f"{guard}: {_do_without(contradicted)} It holds where {narrow.when} is called.")
    if len(contradicted) > MAX_CONTRADICTED * len(shown) and not fared.makes_a_difference:
        return GuardOutcome(None, f"{guard}: {_do_without(contradicted)}")
    return GuardOutcome(guard)


def _tasks(one: LearningCard, found: Replays, packets: Sequence[Packet]) -> tuple[set[str], set[str]]:
    """Tasks for a guard and tasks against it: those at hand, and those that were counted when their runs were."""
    at_hand = {packet.task_key for packet in packets}
    against = {packet.task_key for packet, fared in found if fared.speaks_against}
    against |= set(one.footing.contradicted_by) - at_hand
    shown = {packet.task_key for packet, fared in found if fared.supports}
    return (shown | set(one.footing.tasks) - at_hand) - against, against


def _without(footing: CardSupport, left: Sequence[Guard]) -> CardSupport:
    """What a card rested on, but for the counts of guards that it no longer has."""
    kept = {str(guard) for guard in left}
    return footing.model_copy(update={"support": {text: n for text, n in footing.support.items() if text in kept}})
