"""Comeback: a lesson that runs, or a person, had taken out of service is proposed again."""

from __future__ import annotations

from contramem.bank.bank import Bank, BankEntry, Change
from contramem.bank.card import SkillCard, SkillDelta
from contramem.bank.support import CardSupport
from contramem.build.curation import same_rule
from contramem.build.recorder import BuildRecorder
from contramem.errors import PatchError


def taken_up_again(books: BuildRecorder, ability: str, text: SkillDelta, footing: CardSupport) -> tuple[Change, ...]:
    """The change that puts the retired card which says what `text` says back into service, if there is one.

    It comes back as the card it was, with all that speaks for and against it, to be settled anew. What a person took
    out stays out: PatchError.
    """
    retired = _retired(books.bank, ability, text)
    for held in retired:
        _respect_people(books, held.card.card_id)
    if not retired:
        return ()
    before = retired[0]
    after = before.rewrite(text, before.footing + footing)
    return (Change(before=before, after=after.model_copy(update={"status": "active", "reviewed": False})),)


def _retired(bank: Bank, ability: str, text: SkillDelta) -> list[BankEntry]:
    """Cards out of service that say what `text` says; the one that began with its very words comes first."""
    first = bank.first_made_from(ability, text)
    found = [
        held
        for held in bank.entries.values()
        if held.status == "retired" and isinstance(held.card, SkillCard) and held.card.ability == ability
        if held is first or same_rule(held.card, text)
    ]
    return sorted(found, key=lambda held: (held is not first, held.card.card_id))


def _respect_people(books: BuildRecorder, card_id: str) -> None:
    changing = [one for one in books.decisions_on(card_id) if any(change.card_id == card_id for change in one.changes)]
    last = changing[-1]
    if last.by.kind == "person":
        raise PatchError(f"{last.by} took {card_id}, which says this, out of service ({last.reason}).")
