"""Reassessing: when all deltas are decided, every card of an ability is held against all runs, not one task's.

A rule that passing runs contradict is narrowed to where it holds, or taken out of service; it is never kept because it
came first. A rule that more tasks bear out knows so. Whoever wrote it, its guards are replayed and counted alike. What
follows differs in one thing: a card of the rules *is* its guards, and goes when they do; own_words.py has the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from contramem.bank.bank import Change
from contramem.bank.ledger import Decision
from contramem.bank.support import GRADES, Grade
from contramem.build.learning import LearningCard, learning_cards
from contramem.build.own_words import reassess_own_words
from contramem.build.reassessment import (
    MAX_CONTRADICTED,
    Reassessment,
    count_again,
    do_without,
    narrow_guard,
    narrow_text,
    no_better,
    say_tasks,
)
from contramem.build.recorder import BuildRecorder, digest_of
from contramem.build.rules.across import MAX_CHANCE_IN_ONE_TASK
from contramem.build.rules.author import RuleAuthor
from contramem.build.rules.curate import is_needless, is_repeated
from contramem.build.rules.mine import count_outcomes, highest_chance, is_enforced
from contramem.build.rules.rule import kind_of, restate
from contramem.build.rules.support import FollowRecord, follow_record, replays, support_from
from contramem.build.triggers import Triggers
from contramem.chance import chance
from contramem.contrast.packet import Packet
from contramem.monitor.guard import Guard, guards_of

DEFAULT_GRADE: Grade = "observed"
"""docs/quality.md says what it was chosen by."""


def reassess(recorder: BuildRecorder, ability: str, packets: Sequence[Packet], grade: Grade = DEFAULT_GRADE) -> None:
    """Count, narrow and retire what does not reach the grade. No packet counts twice, however often it is built."""
    state = digest_of([packet.content_digest for packet in packets])
    progress = {f"settled {packet.task_key}": packet.content_digest for packet in packets}
    fresh = [packet for packet in packets if recorder.look_up(f"settled {packet.task_key}") != packet.content_digest]
    waiting = [
        card
        for card in learning_cards(recorder.bank, ability)
        if card.card.guards and recorder.look_up(f"card {card.card.card_id}") != state
    ]
    ruled = {card.card.card_id for card in waiting if _is_ruled(recorder, card)}
    accepted = highest_chance(packets) if ruled else 0.0
    triggers = Triggers(recorder.bank, ability, packets if len(ruled) < len(waiting) else ())
    for card in waiting:
        evidence = EvidencePool(packets, fresh, accepted if card.card.card_id in ruled else None, grade, triggers)
        reassessment = evidence.reassess(card)
        decisions = [_decide(recorder, card, reassessment)] if reassessment.changes(card) else []
        recorder.record(*decisions, progress={f"card {card.card.card_id}": state})
    _retire_needless(recorder, ability)
    if fresh:
        recorder.record(progress=progress)


def _is_ruled(recorder: BuildRecorder, card: LearningCard) -> bool:
    """Did the rules write what the card says, or somebody in words of their own?"""
    authors = [decision.by.kind for decision in recorder.decisions_on(card.card.card_id) if decision.writes]
    return not authors or authors[-1] == "rules"


def _retire_needless(recorder: BuildRecorder, ability: str) -> None:
    """A way past an error that a card asks for before the call has become superfluous, and so has what another card
    says more of."""
    cards = learning_cards(recorder.bank, ability)
    for card in cards:
        if card.status == "pinned" or not _is_ruled(recorder, card):
            continue  # what is said in other words is not known to say the same
        reason = ""
        if any(is_needless(card.rule, other.card) for other in cards):
            reason = "Another card asks beforehand for what this does after the error."
        elif any(is_repeated(card, other) for other in cards):
            reason = "Another card says the same, and more about where the value comes from."
        if reason:
            retired = Reassessment("RETIRE", reason, card.support, card.card, cause=SAID_ELSEWHERE)
            decision = _decide(recorder, card, retired)
            recorder.record(decision, progress={})


def _decide(recorder: BuildRecorder, card: LearningCard, reassessment: Reassessment) -> Decision:
    """What evidence says about a card, whoever wrote it, is said by the rules."""
    before = recorder.bank.entries[card.card.card_id]
    if reassessment.operation == "RETIRE":
        recorder.report.retired[reassessment.cause or NO_BETTER] += 1
        after = before.model_copy(update={"support": reassessment.support, "status": "retired"})
    else:
        rule = reassessment.rule.store() if reassessment.rule else None
        after = before.rewrite(reassessment.text, reassessment.support, rule)
    return Decision(
        operation=reassessment.operation,
        reason=reassessment.reason,
        by=RuleAuthor.attribution,
        ability=card.card.ability,
        changes=(Change(before=before, after=after),),
    )


class EvidencePool(NamedTuple):
    """What the cards of an ability are held against."""

    packets: Sequence[Packet]
    fresh: Sequence[Packet]
    """Those that no build has counted yet."""
    accepted: float | None
    """How likely by chance a card of the rules may be; None for cards in words."""
    wanted: Grade = DEFAULT_GRADE
    """The lowest grade that stays in service."""
    triggers: Triggers | None = None
    """Where cards in words are judged; None: everywhere."""

    def reassess(self, card: LearningCard) -> Reassessment:
        # With every task at hand that the card rests on, it is counted anew; else only what is new can be added.
        tasks = {*card.support.tasks, *card.support.contradicted_by}
        complete = tasks <= {key for packet in self.packets for key in packet.task_keys}
        card, packets = (_without_counts(card), self.packets) if complete else (card, self.fresh)
        if card.status == "pinned":
            return count_again(card, packets)
        if self.accepted is None:
            concerned = self.triggers.where(card.card.card_id, packets) if self.triggers is not None else packets
            return reassess_own_words(card, concerned)
        return _reassess_rule(card, packets, self.accepted if complete else None, self.wanted)


def _without_counts(card: LearningCard) -> LearningCard:
    """The card without what was counted for and against it, to be counted anew."""
    return card._replace(support=card.support.model_copy(update={"guard_counts": {}, "contradicted_by": ()}))


# Cards of the rules


def _reassess_rule(
    card: LearningCard, packets: Sequence[Packet], accepted: float | None, wanted: Grade
) -> Reassessment:
    """Replay a card's guards on every packet they speak about.

    `accepted` is how likely by chance a rule may be that rests on outcomes alone (rules/mine.py); None: not all runs
    that it rests on are at hand, so that this cannot be asked.
    """
    guards = guards_of(card.card.guards)
    record, enforced = follow_record(guards, packets), is_enforced(guards, packets)
    counted = _state_counts(count_again(card, packets), card, record, packets)
    if why := _why_retire(guards, packets, record, enforced):
        return _retire(counted, *why)
    if accepted is not None:
        if card.rule is not None and card.rule.family:
            accepted = MAX_CHANCE_PROVEN / card.rule.family
        grade, likely = _grade(guards, packets, enforced, accepted, counted, record)
        if why := _why_not_believed(grade, wanted, likely, accepted):
            return _retire(counted, *why)
        counted = _state_grade(counted, grade)
    contradicted = set(counted.support.contradicted_by)
    if not contradicted:
        return counted
    supporting = set(counted.support.tasks) - contradicted
    if narrower := _narrow(card, guards, packets, len(contradicted), len(supporting)):
        return narrower
    if enforced and card.rule is not None and (after_refusal := card.rule.after_refusal()):
        reason, text = _contradict(len(contradicted)), restate(card.card, after_refusal)
        return counted._replace(operation="NARROW", reason=reason, text=text, rule=after_refusal)
    if len(contradicted) > (1 if enforced else MAX_CONTRADICTED) * len(supporting) and not record.makes_a_difference:
        return _retire(counted, DONE_WITHOUT, do_without(len(contradicted)))
    return counted


def _state_counts(
    counted: Reassessment, card: LearningCard, record: FollowRecord, packets: Sequence[Packet]
) -> Reassessment:
    """The card with what all runs show, where more than the task that taught it do."""
    if card.rule is None:
        return counted
    rule = card.rule.look_at(packets)
    if record.tasks >= 2 and record.broke:
        rule = replace(rule, overall=record)
    return counted._replace(rule=rule, text=restate(card.card, rule))


def _state_grade(counted: Reassessment, grade: Grade | None) -> Reassessment:
    support = counted.support.model_copy(update={"grade": grade})
    if counted.rule is None:
        return counted._replace(support=support)
    rule = replace(counted.rule, grade=grade)
    return counted._replace(support=support, rule=rule, text=restate(counted.text, rule))


def _narrow(
    card: LearningCard, guards: Sequence[Guard], packets: Sequence[Packet], contradicted: int, shown: int
) -> Reassessment | None:
    """The card, said of the place where it holds."""
    if len(guards) != 1 or contradicted > shown:
        return None
    guard = narrow_guard(guards[0], replays(guards, packets), card.card.functions_used)
    if guard is None:
        return None
    rule = card.rule.confine(guard) if card.rule is not None else None
    text = restate(card.card, rule) if rule else narrow_text(card.card, (str(guard),), (guard.when,))
    support = card.support + support_from(replays((guard,), packets))
    return Reassessment("NARROW", _contradict(contradicted), support, text, rule)


def _contradict(tasks: int) -> str:
    return f"Passing runs of {say_tasks(tasks)} contradict its wider reach."


def _retire(counted: Reassessment, cause: str, reason: str) -> Reassessment:
    return counted._replace(operation="RETIRE", cause=cause, reason=reason)


NO_BETTER = "runs that follow it pass no more often"
DONE_WITHOUT = "too many passing runs do without it"
FLAWED = "what it asks for is not what made the difference"
BY_CHANCE = "chance alone may show it"
BELOW_GRADE = "it is of a lower grade than this bank takes"
SAID_ELSEWHERE = "another card says it"


def _why_retire(
    guards: Sequence[Guard], packets: Sequence[Packet], record: FollowRecord, enforced: bool
) -> tuple[str, str] | None:
    """Why runs speak against a rule: the cause, and its sentence. What the tools themselves enforce needs no
    outcomes."""
    if record.speaks_against_it:
        return NO_BETTER, no_better(record)
    if record.passes_more_without:
        return NO_BETTER, f"Runs pass more often without it: {record}."
    kinds = [(guard, kind) for guard in guards if (kind := kind_of(guard)) is not None]
    if flaw := next((flaw for guard, kind in kinds if (flaw := kind.find_flaw(guard, packets))), ""):
        return FLAWED, flaw
    if enforced:
        return None
    if record.broke and not record.kept_and_passed:
        return NO_BETTER, f"No run that followed it passed: {record}."
    if record.is_done_without:
        return DONE_WITHOUT, f"Too many passing runs do without it: {record}."
    if any(kind.NEEDS_CLEAR_DIFFERENCE for _, kind in kinds) and not record.makes_a_difference:
        return NO_BETTER, f"Over all runs, those that follow it do not pass clearly more often: {record}."
    return None


# Grades


MAX_CHANCE_PROVEN = 0.05
"""Of a rule across tasks, times the number of rules of its family that could have been found instead."""
MAX_CHANCE_OBSERVED = 0.05
"""Within tasks, of a rule that is only observed: not corrected for what else was tried."""
MAX_CHANCE_UNOPPOSED = 0.1
"""The same where no run at all passed without it."""
MIN_TASKS_OBSERVED = 2
"""Unless one task is as good as proof."""


def _grade(
    guards: Sequence[Guard],
    packets: Sequence[Packet],
    enforced: bool,
    accepted: float,
    counted: Reassessment,
    record: FollowRecord,
) -> tuple[Grade | None, float]:
    """Why the rule may be believed, and how likely it is by chance. None: chance alone may show it."""
    if enforced:
        return "enforced", 0.0
    likely = min(chance(count_outcomes(guard, packets)) for guard in guards)
    if likely <= accepted:
        return "proven", likely
    enough = 1 if likely <= MAX_CHANCE_IN_ONE_TASK else MIN_TASKS_OBSERVED
    unopposed = not counted.support.contradicted_by and len(counted.support.tasks) >= enough
    most = MAX_CHANCE_OBSERVED if record.broke_and_passed else MAX_CHANCE_UNOPPOSED
    return "observed" if likely <= most and unopposed else None, likely


def _why_not_believed(grade: Grade | None, wanted: Grade, likely: float, accepted: float) -> tuple[str, str] | None:
    if grade is not None and GRADES.index(grade) <= GRADES.index(wanted):
        return None
    if grade is not None:
        by_chance = f"probability by chance {likely:.2g}"
        return BELOW_GRADE, f"It is {grade} only ({by_chance}), and this bank takes what is {wanted} or better."
    enough = f"at most {accepted:.2g} would do" if accepted else "none is unlikely enough"
    return BY_CHANCE, f"Chance alone may show this (probability {likely:.2g}): of so many rules tried, {enough}."
