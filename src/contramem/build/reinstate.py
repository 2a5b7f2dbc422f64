"""Reinstate: a lesson that runs or a person had taken out of service is proposed again."""

from __future__ import annotations

from contramem.bank.bank import Bank, BankEntry, CardSupport, Change
from contramem.bank.card import SkillCard
from contramem.build.author import Candidate
from contramem.build.learning import learning_card
from contramem.build.recorder import BuildRecorder
from contramem.build.rules.curate import says_the_same
from contramem.build.rules.rule import load_rule
from contramem.errors import PatchError


def reinstate(recorder: BuildRecorder, ability: str, candidate: Candidate, support: CardSupport) -> tuple[Change, ...]:
    """The change that puts the retired card with the candidate's rule back into service, if there is one.

    It comes back as it was, with all evidence for and against it, to be reassessed. A card that a person took out stays
    out: PatchError.
    """
    retired = _find_retired(recorder.bank, ability, candidate)
    for entry in retired:
        _respect_people(recorder, entry.card.card_id)
    if not retired:
        return ()
    before = retired[0]
    after = before.rewrite(candidate.delta, before.support + support, candidate.rule)
    return (Change(before=before, after=after.model_copy(update={"status": "active", "reviewed": False})),)


def _find_retired(bank: Bank, ability: str, candidate: Candidate) -> list[BankEntry]:
    """Retired cards that state the candidate's rule; the one that began with exactly its words comes first."""
    first, rule = bank.first_made_from(ability, candidate.delta), load_rule(candidate.rule)
    entries = [
        entry
        for entry in bank.entries.values()
        if entry.status == "retired" and isinstance(entry.card, SkillCard) and entry.card.ability == ability
        if entry is first or says_the_same(learning_card(entry), candidate.delta, rule)
    ]
    return sorted(entries, key=lambda entry: (entry is not first, entry.card.card_id))


def _respect_people(recorder: BuildRecorder, card_id: str) -> None:
    last = [past for past in recorder.decisions_on(card_id) if card_id in past.scopes][-1]
    if last.by.kind == "person":
        raise PatchError(f"{card_id} says the same, and {last.by} took it out of service ({last.reason}).")
