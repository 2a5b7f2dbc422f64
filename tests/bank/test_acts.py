"""People review, edit and revert; each act is a decision, and nothing is undone unseen."""

from __future__ import annotations

import pytest
from bank_examples import DELETE_EMAIL, KEEP_EXCEPTION, add, amend, decide, delta, example_bank, refuse

from contramem.bank.acts import edit, judge, person, revert, to_review
from contramem.bank.bank import Bank
from contramem.bank.ledger import Decision, LedgerEntry, fold
from contramem.errors import PatchError, UsageError

ANNA = person("anna")


def ledger(*decisions: Decision) -> list[LedgerEntry]:
    return [LedgerEntry(number, "", decision) for number, decision in enumerate(decisions, start=1)]


def test_a_new_card_waits_for_review_until_somebody_accepts_it():
    bank = example_bank()
    for held in to_review(bank):
        bank = bank.with_changes(judge(bank, held.card.card_id, "ACCEPT", ANNA).changes)
    assert to_review(bank) == ()
    after = bank.apply(amend(bank.skills[0].card_id, delta()), "email")
    assert [held.card.title for held in to_review(after)] == ["Log in again"], "new words are to be seen again"


@pytest.mark.parametrize(("verdict", "status"), [("MUTE", "muted"), ("PIN", "pinned"), ("REJECT", "retired")])
def test_a_verdict_sets_the_status_and_keeps_the_text(verdict, status):
    bank = example_bank()
    decision = judge(bank, bank.skills[0].card_id, verdict, ANNA, "too vague")
    after = bank.with_changes(decision.changes).find(bank.skills[0].card_id)
    assert (after.status, after.card) == (status, bank.skills[0])
    assert (decision.operation, decision.reason, str(decision.by)) == (verdict, "too vague", "anna")


def test_an_edit_is_a_new_version_by_a_person():
    bank = example_bank()
    decision = edit(bank, bank.skills[0].card_id, delta("In my words"), ANNA)
    after = bank.with_changes(decision.changes)
    assert (after.skills[0].title, after.skills[0].version) == ("In my words", 2)
    assert after.find(after.skills[0].card_id).reviewed


def test_a_function_card_cannot_be_edited_into_another():
    bank = example_bank()
    with pytest.raises(PatchError, match="cannot be rewritten"):
        edit(bank, DELETE_EMAIL.card_id, delta(), ANNA)


def test_reverting_an_edit_brings_the_words_back_as_a_new_version():
    first = decide(Bank(), add())
    bank = Bank().with_changes(first.changes)
    second = decide(bank, amend(bank.skills[0].card_id, delta()))
    entries = ledger(first, second)
    undone = revert(entries, fold(entries), 2, ANNA)
    after = fold(ledger(first, second, undone))
    assert (after.skills[0].title, after.skills[0].version) == (KEEP_EXCEPTION.title, 3)
    assert undone.reverts == 2


def test_reverting_an_addition_retires_the_card_and_reverting_that_brings_it_back():
    first = decide(Bank(), add())
    gone = revert(ledger(first), Bank().with_changes(first.changes), 1, ANNA)
    entries = ledger(first, gone)
    assert fold(entries).skills == ()
    back = revert(entries, fold(entries), 2, ANNA)
    assert fold(ledger(first, gone, back)).skills[0].title == KEEP_EXCEPTION.title


def test_later_decisions_on_the_same_card_must_be_reverted_first():
    first = decide(Bank(), add())
    bank = Bank().with_changes(first.changes)
    second = decide(bank, amend(bank.skills[0].card_id, delta()))
    entries = ledger(first, second)
    with pytest.raises(UsageError, match=r"changed again by decision 2\. Revert the later"):
        revert(entries, fold(entries), 1, ANNA)


@pytest.mark.parametrize(
    ("number", "complaint"), [(1, "was refused"), (9, r"there is no decision 9 \(the last is 1\)")]
)
def test_a_decision_that_cannot_be_reverted_is_refused_with_the_reason(number, complaint):
    entries = ledger(refuse(Bank()))
    with pytest.raises(UsageError, match=complaint):
        revert(entries, Bank(), number, ANNA)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"operation": "NOOP"}, "NOOP decision changes no card"),
        ({"operation": "ADD", "accepted": False}, "refused decision changes no card"),
        ({"operation": None}, "names its operation"),
        ({"operation": "ADD", "reverts": 1}, "REVERT, and nothing else"),
    ],
)
def test_a_decision_that_contradicts_itself_is_a_bug(fields, complaint):
    with pytest.raises(ValueError, match=complaint):
        Decision.model_validate({**dict(decide(Bank(), add())), **fields})
