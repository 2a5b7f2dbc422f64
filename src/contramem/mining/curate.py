"""Curate: what was mined, compared with what the bank says: ADD, PATCH, MERGE, NARROW, retirement, or nothing at all.

Missing support counts only where the runs behind a card are at hand: new runs alone do not retire what older runs
taught. A contradiction always counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from contramem.bank.bank import Bank, BankEntry, CardSupport, Change
from contramem.bank.card import SkillCard
from contramem.bank.ledger import Attribution, Decision, Operation, PastDecision
from contramem.guards.guard import Guard, guards_of
from contramem.mining.lesson import Lesson
from contramem.mining.replays import MOST_EXCEPTIONS, Replays


@dataclass
class Curator:
    """Decides about the cards of one ability."""

    by: Attribution
    ability: str
    at_hand: frozenset[str]
    """Tasks whose runs are at hand."""
    replays: Replays
    decisions_on: Callable[[str], Sequence[PastDecision]]

    def decide(self, current: Callable[[], Bank], lessons: Sequence[Lesson]) -> Iterator[Decision]:
        """The decisions that make the bank say what was mined. Each is recorded before the next one is taken."""
        mined = {name: entry for name, entry in current().entries.items() if self._is_mined(entry)}
        left = {name: entry for name, entry in mined.items() if entry.status != "retired"}
        new = list[Lesson]()
        for lesson in lessons:
            same = [entry for entry in left.values() if _says_the_same(entry, lesson)]
            for entry in same:
                del left[entry.card.card_id]
            if same:
                yield from self._merge(lesson, same)
            elif not self._is_said_otherwise(current(), lesson):
                new.append(lesson)
        for lesson in new:
            older = next((entry for entry in left.values() if self._may_replace(lesson, entry)), None)
            if older is not None:
                del left[older.card.card_id]
                yield self._rewrite(lesson, older, "NARROW" if _narrows(lesson, older) else "PATCH")
            else:
                yield self._add(current(), lesson)
        for entry in left.values():
            if reason := self._why_not(entry):
                yield self._decide("RETIRE", reason, entry, entry.model_copy(update={"status": "retired"}))

    def _is_mined(self, entry: BankEntry) -> bool:
        card = entry.card
        return isinstance(card, SkillCard) and card.ability == self.ability and entry.rule is not None

    def _is_said_otherwise(self, bank: Bank, lesson: Lesson) -> bool:
        """Does another card, of a person, a model or another miner, have the same guards?"""
        return bool(lesson.text.guards) and any(
            set(lesson.text.guards) <= set(card.guards)
            for card in bank.skills_of(self.ability)
            if not self._is_mined(bank.entries[card.card_id])
        )

    def _merge(self, lesson: Lesson, same: Sequence[BankEntry]) -> Iterator[Decision]:
        first, *others = sorted(same, key=lambda entry: (entry.status != "pinned", entry.card.card_id))
        if others:
            after = first.rewrite(lesson.text, self._support(lesson, *same), lesson.stored)
            changes = [Change(before=first, after=after)]
            changes += [Change(before=each, after=each.model_copy(update={"status": "retired"})) for each in others]
            yield self._decision("MERGE", "Several cards said the same.", tuple(changes), lesson)
        elif first.status != "pinned":
            decision = self._rewrite(lesson, first, "PATCH")
            if decision.changes[0].after != first:
                yield decision

    def _rewrite(self, lesson: Lesson, entry: BankEntry, operation: Operation) -> Decision:
        after = entry.rewrite(lesson.text, self._support(lesson, entry), lesson.stored)
        reason = {
            "PATCH": "The runs at hand say it so.",
            "NARROW": "Passing runs did otherwise where the narrower rule does not hold.",
        }[operation]
        return self._decision(operation, reason, (Change(before=entry, after=after),), lesson)

    def _support(self, lesson: Lesson, *entries: BankEntry) -> CardSupport:
        """What the runs at hand show, and what the card has from others."""
        older = [entry.support for entry in entries if not self.at_hand.issuperset(entry.support.tasks)]
        total = lesson.support
        for support in older:  # runs that are at hand now are counted once
            known = (
                support if self.at_hand.isdisjoint(support.tasks) else support.model_copy(update={"guard_counts": {}})
            )
            total = known + total
        scope = next((entry.support.scope for entry in entries if entry.support.scope), None)
        return total.model_copy(update={"scope": scope, "grade": lesson.grade})

    def _add(self, bank: Bank, lesson: Lesson) -> Decision:
        retired = next(
            (
                e
                for e in bank.entries.values()
                if e.status == "retired" and self._is_mined(e) and _says_the_same(e, lesson)
            ),
            None,
        )
        if retired is None:
            card = SkillCard.of(lesson.text, bank.free_id(self.ability, lesson.kind, lesson.topic), self.ability)
            after = BankEntry(card=card, support=lesson.support, rule=lesson.stored)
            return self._decision("ADD", "All runs together show it.", (Change(before=None, after=after),), lesson)
        last = self.decisions_on(retired.card.card_id)[-1]
        if last.by.kind == "person":
            reason = (
                f"bank: {retired.card.card_id} says the same, and {last.by} took it out of service ({last.reason})."
            )
            return self._decision("ADD", reason, (), lesson).model_copy(update={"accepted": False})
        after = retired.rewrite(lesson.text, lesson.support, lesson.stored).model_copy(update={"status": "active"})
        return self._decision("ADD", "The runs show it again.", (Change(before=retired, after=after),), lesson)

    def _may_replace(self, lesson: Lesson, entry: BankEntry) -> bool:
        """Is it about the same, and not said by the runs any more?"""
        assert entry.rule is not None
        same_topic = entry.rule.facts.get("topic") == lesson.topic
        return same_topic and entry.status != "pinned" and bool(self._why_not(entry))

    def _why_not(self, entry: BankEntry) -> str:
        """Why a card that was not mined again goes. Empty: it stays."""
        if entry.status == "pinned":
            return ""
        if self.at_hand.issuperset(entry.support.tasks):
            return "The runs that taught it no longer show it."
        for guard in guards_of(entry.card.guards if isinstance(entry.card, SkillCard) else ()):
            table = self.replays.table(guard)
            if table.broke_passed > MOST_EXCEPTIONS * table.passed:
                return f"{table.broke_passed} passing runs break it."
        return ""

    def _decide(self, operation: str, reason: str, before: BankEntry, after: BankEntry) -> Decision:
        return self._decision(operation, reason, (Change(before=before, after=after),))

    def _decision(
        self, operation: str, reason: str, changes: tuple[Change, ...], lesson: Lesson | None = None
    ) -> Decision:
        return Decision(
            operation=operation,  # type: ignore[arg-type]
            reason=reason,
            by=self.by,
            ability=self.ability,
            candidate=lesson.text if lesson else None,
            rule=lesson.stored if lesson else None,
            changes=changes,
            runs=lesson.runs if lesson else (),
        )


def _says_the_same(entry: BankEntry, lesson: Lesson) -> bool:
    assert entry.rule is not None
    card = entry.card
    same_guards = bool(lesson.text.guards) and isinstance(card, SkillCard) and card.guards == lesson.text.guards
    return same_guards or entry.rule.facts.get("key") == lesson.key


def _is_about(entry: BankEntry, lesson: Lesson) -> bool:
    assert entry.rule is not None
    facts = entry.rule.facts
    return (entry.rule.kind, facts.get("topic")) == (lesson.kind, lesson.topic) or _says_the_same(entry, lesson)


def _narrows(lesson: Lesson, entry: BankEntry) -> bool:
    """Does the lesson say the same as the card under more conditions?"""
    theirs, own = (
        guards_of(entry.card.guards if isinstance(entry.card, SkillCard) else ()),
        guards_of(lesson.text.guards),
    )
    return any(_is_narrower(guard, other) for guard in own for other in theirs)


def _is_narrower(guard: Guard, other: Guard) -> bool:
    return guard.bare == other.bare and set(map(str, other.conditions)) < set(map(str, guard.conditions))
