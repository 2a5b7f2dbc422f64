"""What people can do to a bank: accept, edit, mute, pin, reject and revert. Each act is a decision in the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from contramem.bank.bank import Bank, BankEntry, Change, Status
from contramem.bank.card import FunctionCard, SkillCard, SkillDelta
from contramem.bank.ledger import Attribution, Decision, LedgerEntry
from contramem.bank.patch import Merge
from contramem.bank.support import GRADES
from contramem.errors import UsageError
from contramem.guards.guard import parse_guard

Verdict: TypeAlias = Literal["ACCEPT", "MUTE", "PIN", "REJECT"]

_STATUS: dict[Verdict, Status] = {"MUTE": "muted", "PIN": "pinned", "REJECT": "retired"}
_PAST_TENSE: dict[Verdict, str] = {"ACCEPT": "accepted", "MUTE": "muted", "PIN": "pinned", "REJECT": "rejected"}


def person(name: str) -> Attribution:
    return Attribution(kind="person", name=name)


def to_review(bank: Bank) -> tuple[BankEntry, ...]:
    """The served cards whose present text no person has reviewed: Skill Cards first, the least certain first."""
    entries = (bank.entries[card.card_id] for card in bank.cards)
    return tuple(sorted((entry for entry in entries if not entry.reviewed), key=_certainty))


def _certainty(entry: BankEntry) -> tuple[bool, int, int, str]:
    grade = entry.support.grade
    known = len(GRADES) - GRADES.index(grade) if grade else 0
    return isinstance(entry.card, FunctionCard), known, len(entry.support.tasks), entry.card.card_id


def judge(bank: Bank, card_id: str, verdict: Verdict, by: Attribution, reason: str = "") -> Decision:
    """A person's verdict on the present text of a card."""
    entry = bank.find(card_id)
    after = entry.model_copy(update={"status": _STATUS.get(verdict, entry.status), "reviewed": True})
    return _act(verdict, entry, after, by, reason or f"{_PAST_TENSE[verdict]} by {by}")


def edit(bank: Bank, card_id: str, text: SkillDelta | FunctionCard, by: Attribution, reason: str = "") -> Decision:
    """Replace the text of a card by a person's. Raises GuardError if a new guard does not parse."""
    entry = bank.find(card_id)
    refuse_unreadable_guards(text, entry)
    # What calls show is not what the person says: freezing compares the facts with guards, and would reword the text.
    support = entry.support.model_copy(update={"arguments": {}})
    after = entry.rewrite(text, support).model_copy(update={"reviewed": True})
    return _act("EDIT", entry, after, by, reason or f"edited by {by}")


def merge(bank: Bank, retained_id: str, other_ids: Iterable[str], by: Attribution, reason: str = "") -> Decision:
    """Merge Skill Cards that a person considers the same rule: one keeps its text, the others are retired."""
    entry = bank.find(retained_id)
    if not isinstance(entry.card, SkillCard):
        raise UsageError(f"{entry.card.card_id} is a Function Card; only Skill Cards can be merged.")
    targets = tuple(dict.fromkeys([entry.card.card_id, *(bank.find(name).card.card_id for name in other_ids)]))
    if len(targets) < 2:
        raise UsageError("a merge needs two different cards.")
    reason = reason or f"merged by {by}"
    patch = Merge(delta_index=0, target_card_ids=targets, retained_card_id=targets[0], reason=reason)
    changes = bank.plan(patch, entry.card.ability)
    return Decision(operation="MERGE", reason=reason, by=by, ability=entry.card.ability, patch=patch, changes=changes)


def refuse_unreadable_guards(text: SkillDelta | FunctionCard, entry: BankEntry | None) -> None:
    """Raise GuardError for a guard that does not parse, because agents would silently ignore it. Guards that the card
    already had are accepted: a later version may have written them."""
    old_guards = entry.card.guards if entry and isinstance(entry.card, SkillCard) else ()
    for guard in text.guards if isinstance(text, SkillDelta) else ():
        if guard not in old_guards:
            parse_guard(guard)


def revert(ledger: Iterable[LedgerEntry], bank: Bank, number: int, by: Attribution, reason: str = "") -> Decision:
    """Undo one decision: text, status and support are restored as a new version. A card that it added is retired.

    Later decisions on the same cards must be reverted first, so that nothing is undone unnoticed.
    """
    entries = {entry.number: entry for entry in ledger}
    if number not in entries:
        raise UsageError(f"there is no decision {number} (the last is {max(entries, default=0)}).")
    undone = entries[number].decision
    if not undone.changes:
        what = f"{undone.operation or 'decision'} {number} {'changed nothing' if undone.accepted else 'was refused'}"
        raise UsageError(f"{what}, so there is nothing to revert.")
    _refuse_if_built_upon(undone, bank, [entry for entry in entries.values() if entry.number > number])
    return Decision(
        operation="REVERT",
        reverts=number,
        reason=reason or f"decision {number} ({undone.operation}) reverted by {by}",
        by=by,
        ability=undone.ability,
        changes=tuple(_undo(change) for change in undone.changes),
    )


def _act(
    operation: Literal["EDIT"] | Verdict, entry: BankEntry, after: BankEntry, by: Attribution, reason: str
) -> Decision:
    ability = entry.card.ability if isinstance(entry.card, SkillCard) else None
    change = Change(before=entry, after=after)
    return Decision(operation=operation, reason=reason, by=by, ability=ability, changes=(change,))


def _undo(change: Change) -> Change:
    if change.before is None:
        return Change(
            before=change.after, after=change.after.model_copy(update={"status": "retired", "reviewed": True})
        )
    back = change.after.rewrite(change.before.card, change.before.support, change.before.rule)
    return Change(before=change.after, after=back.model_copy(update={"status": change.before.status, "reviewed": True}))


def _refuse_if_built_upon(undone: Decision, bank: Bank, later: list[LedgerEntry]) -> None:
    for change in undone.changes:
        if bank.entries[change.card_id] != change.after:
            since = [str(e.number) for e in later if any(c.card_id == change.card_id for c in e.decision.changes)]
            raise UsageError(
                f"{change.card_id} was changed again by decision {', '.join(since)}. Revert the later decisions first."
            )
