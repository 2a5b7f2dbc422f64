"""People review, edit and revert; each act is a decision, and nothing is undone unseen."""

from __future__ import annotations

import pytest
from bank_examples import DELETE_EMAIL, KEEP_EXCEPTION, add, amend, decide, delta, example_bank, refuse
from bank_strategies import ABILITIES, SUPPORTS, patches
from hypothesis import given
from hypothesis import strategies as st

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


def test_an_undone_decision_does_not_stand_in_the_way_of_the_one_before_it():
    first = decide(Bank(), add())
    bank = Bank().with_changes(first.changes)
    second = decide(bank, amend(bank.skills[0].card_id, delta()))
    entries = ledger(first, second)
    third = revert(entries, fold(entries), 2, ANNA)
    entries = ledger(first, second, third)
    with pytest.raises(UsageError, match="decision 2 was undone by decision 3 already"):
        revert(entries, fold(entries), 2, ANNA)
    assert fold(ledger(first, second, third, revert(entries, fold(entries), 1, ANNA))).skills == ()


def test_a_reverted_verdict_leaves_the_card_as_unreviewed_as_it_was():
    first = decide(Bank(), add())
    bank = Bank().with_changes(first.changes)
    entries = ledger(first, judge(bank, bank.skills[0].card_id, "ACCEPT", ANNA))
    after = fold([*entries, LedgerEntry(3, "", revert(entries, fold(entries), 2, ANNA))])
    assert after == bank


@given(st.data())
def test_undoing_the_last_decisions_in_any_order_ends_with_the_bank_before_them(data):
    entries: list[LedgerEntry] = []
    for number in range(1, data.draw(st.integers(1, 8)) + 1):
        entries.append(LedgerEntry(number, "", data.draw(next_decisions(entries))))
    first = data.draw(st.integers(1, len(entries)))
    before, members = fold(entries[: first - 1]), range(first, len(entries) + 1)
    waiting = [number for number in members if entries[number - 1].decision.changes]
    for _ in range(2 ** len(waiting)):
        done = [number for number in data.draw(st.permutations(waiting)) if undo(entries, number)]
        if not done:
            break
    assert not done, "it ends"
    assert as_it_is(fold(entries), before) == as_it_is(before, before)


def undo(entries: list[LedgerEntry], number: int) -> bool:
    try:
        decision = revert(entries, fold(entries), number, ANNA)
    except UsageError:
        return False
    entries.append(LedgerEntry(len(entries) + 1, "", decision))
    return True


def as_it_is(bank: Bank, before: Bank) -> dict[str, object]:
    """The cards without their versions; those that were not there before are as good as gone if they are retired."""
    return {
        card_id: entry.model_copy(update={"card": entry.card.model_copy(update={"version": 1})})
        for card_id, entry in bank.entries.items()
        if card_id in before.entries or entry.status != "retired"
    }


@st.composite
def next_decisions(draw: st.DrawFn, entries: list[LedgerEntry]) -> Decision:
    """What an author or a person could decide next."""
    bank = fold(entries)
    kind = draw(st.sampled_from(["patch", "verdict", "revert"] if bank.cards else ["patch"]))
    if kind == "verdict":
        card = draw(st.sampled_from(bank.cards))
        return judge(bank, card.card_id, draw(st.sampled_from(["ACCEPT", "MUTE", "PIN", "REJECT"])), ANNA)
    if kind == "revert":
        try:
            return revert(entries, bank, draw(st.integers(1, len(entries))), ANNA)
        except UsageError:
            return refuse(bank)
    ability = draw(st.sampled_from(ABILITIES))
    try:
        return decide(bank, draw(patches(bank, ability)), ability, draw(SUPPORTS))
    except PatchError:  # a pinned card
        return refuse(bank)


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
