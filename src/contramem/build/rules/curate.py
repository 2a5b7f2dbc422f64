"""Curation by evidence: how a lesson changes the existing cards.

Two lessons are the same rule if they state the same guards or if their rules say so. Rules about one argument of
several functions of an app, about one precondition of several calls, or about several writes required for each of the
same things, become one card.
"""

from __future__ import annotations

from collections.abc import Sequence

from contramem.bank.bank import Add, Amend, Bank, Merge, Noop
from contramem.bank.card import SkillCard, SkillDelta
from contramem.build.author import Candidate, Curation
from contramem.build.evidence import name_tasks
from contramem.build.learning import LearningCard, learning_cards, rewrite
from contramem.build.rules.kinds.convention import Convention
from contramem.build.rules.kinds.precedence import Precedence
from contramem.build.rules.kinds.recovery import Recovery
from contramem.build.rules.kinds.value_source import ValueSource
from contramem.build.rules.phrases import MAX_TAGS
from contramem.build.rules.rule import Lesson, Rule, kind_of, load_rule, restate
from contramem.contrast.packet import Packet
from contramem.guards.conditions import parse_pattern
from contramem.guards.guard import Guard, guards_of
from contramem.guards.values import field_of_place, function_of_place


def curate(index: int, candidate: Candidate, packet: Packet, bank: Bank) -> Curation:
    """The smallest edit: nothing new, more evidence, several cards merged into one, or a new card."""
    delta, rule = candidate.delta, load_rule(candidate.rule)
    cards = learning_cards(bank, packet.ability)
    same = next((card for card in cards if says_the_same(card, delta, rule) or _covers(card.card, delta, packet)), None)
    if same is None and (asking := next((card for card in cards if is_needless(rule, card.card)), None)):
        return _noop(index, asking, "A card asks beforehand for what this does after the error.")
    if same is None and (better := next((card for card in cards if _says_better(card.card, rule)), None)):
        return _noop(index, better, "A card says more about this already.")
    if rule is not None and (wider := _widen(index, same, Lesson(rule, delta), packet, cards)):
        return wider
    if same is None:
        reason = "No card of this ability states this rule."
        return Curation(Add(delta_index=index, new_or_updated_card=delta, reason=reason), candidate.rule)
    shown_by = [packet.task_key, *(shown.packet.task_key for shown in candidate.also)]
    more = name_tasks(shown_by) - name_tasks(same.support.tasks)
    counted = _count_anew(same, rule, shown_by)
    if not more and counted == same.rule:
        return _noop(index, same, "The same task, in other words or with more runs, has taught this rule already.")
    patch = Amend(
        delta_index=index,
        target_card_ids=(same.card.card_id,),
        retained_card_id=same.card.card_id,
        new_or_updated_card=rewrite(_restate(same, counted), tags=_tags(same.card, delta)),
        reason=f"{_count_others(len(more))} the same rule: {len(same.support.tasks) + len(more)} tasks now.",
    )
    return Curation(patch, counted.store() if counted else None)


def says_the_same(card: LearningCard, delta: SkillDelta, rule: Rule | None) -> bool:
    """Does the card demand what the delta demands, perhaps in fewer places? `rule` is the delta's rule."""
    if card.rule is not None and rule is not None and card.rule.says(rule):
        return True
    if card.card.guards or delta.guards:
        guards = guards_of(card.card.guards)
        stated = {*card.card.guards, *(str(guard._replace(when="")) for guard in guards)}
        return bool(delta.guards) and stated >= set(delta.guards)
    # Without guards or rules there is only the text to compare: the same title about the same functions.
    return (card.card.title, card.card.functions_used) == (delta.title, delta.functions_used)


def is_needless(rule: Rule | None, card: SkillDelta) -> bool:
    """Does the card demand before a call what the rule does after the call's error?"""
    return isinstance(rule, Recovery) and rule.is_needless(guards_of(card.guards))


def _says_better(card: SkillDelta, rule: Rule | None) -> bool:
    """Does the card, for example, say where to read a value while the rule only says what comes first?"""
    if not isinstance(rule, Convention):
        return False
    (guard,) = rule.guards
    return kind_of(guard) is Precedence and any(Precedence.yields_to(guard, other) for other in guards_of(card.guards))


def _covers(card: SkillCard, delta: SkillDelta, packet: Packet) -> bool:
    """Does the card say about a class of calls what the delta says about one of them?"""
    wide, narrow = guards_of(card.guards), guards_of(delta.guards)
    if len(wide) != 1 or len(narrow) != 1 or (kind := kind_of(wide[0])) is None:
        return False
    return kind.covers(wide[0], narrow[0], packet)


def _widen(
    index: int, same: LearningCard | None, lesson: Lesson, packet: Packet, cards: Sequence[LearningCard]
) -> Curation | None:
    """Merge the lesson with the cards that turn out to be the same rule."""
    if (same is not None and same.status == "pinned") or (same is None and lesson.rule.waits_for_more()):
        return None
    others = [card for card in cards if card.status != "pinned" and card is not same]
    kin = [card for card in others if _merge(card, lesson, packet) is not None]
    if not kin:
        return None
    merged = lesson
    for card in kin:
        merged = _merge(card, merged, packet) or merged
    targets = [*([same] if same else []), *kin]
    retained = max(targets, key=lambda card: (len(card.support.tasks), card.card.card_id)).card.card_id
    edit = Amend if len(targets) == 1 else Merge
    patch = edit(
        delta_index=index,
        target_card_ids=tuple(card.card.card_id for card in targets),
        retained_card_id=retained,
        new_or_updated_card=merged.text.model_copy(update={"tags": _tags(kin[0].card, merged.text)}),
        reason="What they ask for is one rule about several calls.",
    )
    return Curation(patch, merged.rule.store())


def _merge(card: LearningCard, lesson: Lesson, packet: Packet) -> Lesson | None:
    return card.rule.merge(card.card, lesson, packet) if card.rule is not None else None


def _noop(index: int, card: LearningCard, reason: str) -> Curation:
    card_id = card.card.card_id
    return Curation(Noop(delta_index=index, target_card_ids=(card_id,), retained_card_id=card_id, reason=reason))


def _count_others(tasks: int) -> str:
    if not tasks:
        return "More runs show"
    return "Another task shows" if tasks == 1 else f"{tasks} other tasks show"


def _count_anew(same: LearningCard, rule: Rule | None, shown_by: Sequence[str]) -> Rule | None:
    """The rule of the card, with the new counts if they are over all tasks that have taught it."""
    if rule is None or same.rule is None or not (rule.COUNTS_ALL_TASKS and rule.says(same.rule)):
        return same.rule
    return rule if name_tasks(same.support.tasks) <= name_tasks(shown_by) else same.rule


def _restate(same: LearningCard, rule: Rule | None) -> SkillDelta:
    return same.card if rule is None or rule == same.rule else restate(same.card, rule)


def _tags(card: SkillDelta, delta: SkillDelta) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*card.tags, *delta.tags]))[:MAX_TAGS]


def is_repeated(card: LearningCard, other: LearningCard) -> bool:
    """Does the other card say the same about the same call, and more? The field a value comes from says more than the
    function it comes from, and that says more than which call comes first. Where it is read says more than how it looks
    like."""
    mine, others = guards_of(card.card.guards), guards_of(other.card.guards)
    if len(mine) != 1 or len(others) != 1 or card.card.card_id == other.card.card_id:
        return False
    (guard,), (better,) = mine, others
    if _is_form_of_known(guard, better):
        return True
    sources = _sources(better)
    if guard.template == "precedence" and not guard.when:
        return any(function == guard.target and source == guard.function for function, _, source, _ in sources)
    return any(
        (function, argument, source) == (mine_of, own, place) and field and not own_field
        for function, argument, source, field in sources
        for mine_of, own, place, own_field in _sources(guard)
    )


def _is_form_of_known(guard: Guard, better: Guard) -> bool:
    """Is it about the form of an argument whose values are read somewhere, according to the other guard?"""
    pattern = parse_pattern(guard.function)
    if guard.template != "existence" or [test.test for test in pattern.conditions] != ["like"]:
        return False
    return ValueSource.is_about(better, pattern.function) and better.argument == pattern.conditions[0].argument


def _sources(guard: Guard) -> list[tuple[str, str, str, str]]:
    """Where the guard says values come from: function, argument, the function that returned them, and its field."""
    if guard.template != "existence":
        return []
    pattern = parse_pattern(guard.function)
    return [
        (pattern.function, test.argument, function_of_place(test.value), field_of_place(test.value))
        for test in pattern.conditions
        if test.test == "from" and "." in test.value
    ]
