"""An edit made in a frozen file comes back into the store, attributed, and never over somebody else's."""

from __future__ import annotations

import pytest
from bank_examples import KEEP_EXCEPTION, add, amend, decide, delta

from contramem.bank.acts import find_base, import_edits, judge, person
from contramem.bank.bank import Bank, CardSupport, Change
from contramem.bank.frozen import FrozenBank, freeze, parse_frozen
from contramem.bank.ledger import Decision, LedgerEntry, fold
from contramem.errors import UsageError

ANNA = person("anna")


class Living:
    """A bank with its ledger, as a store keeps them."""

    def __init__(self) -> None:
        self.ledger: list[LedgerEntry] = []
        self.record(decide(self.bank, add()))
        self.record(decide(self.bank, add(delta())))

    @property
    def bank(self) -> Bank:
        return fold(self.ledger)

    def record(self, *decisions: Decision) -> None:
        for decision in decisions:
            self.ledger.append(LedgerEntry(len(self.ledger) + 1, "", decision))

    def id_of(self, text=KEEP_EXCEPTION) -> str:
        return self.bank.first_made_from("email", text).card.card_id

    def import_(self, file: FrozenBank) -> tuple[Decision, ...]:
        base = find_base(self.bank, self.ledger, file.header.content_sha256)
        decisions = import_edits(self.bank, base, file, ANNA, "bank.jsonl")
        self.record(*decisions)
        return decisions


@pytest.fixture
def living() -> Living:
    return Living()


def reword(content: bytes, old: str, new: str) -> FrozenBank:
    assert old.encode() in content
    return parse_frozen(content.replace(old.encode(), new.encode()), "bank.jsonl")


def test_a_reworded_card_is_one_decision_by_the_person(living):
    (decision,) = living.import_(reword(freeze(living.bank), "Partition before writing", "Split before writing"))
    assert (decision.operation, str(decision.by)) == ("IMPORT", "anna")
    assert decision.reason == "edited (skill.core_rule) in bank.jsonl by anna"
    held = living.bank.find(living.id_of())
    assert held.card.skill.core_rule.startswith("Split before")
    assert (held.card.version, held.reviewed) == (2, True)


def test_an_unedited_file_changes_nothing(living):
    assert living.import_(parse_frozen(freeze(living.bank), "bank.jsonl")) == ()


def test_a_dropped_line_retires_its_card(living):
    content = freeze(living.bank)
    lines = [line for line in content.splitlines(keepends=True) if b"Log in again" not in line]
    (decision,) = living.import_(parse_frozen(b"".join(lines), "bank.jsonl"))
    assert decision.reason == "dropped in bank.jsonl by anna"
    assert living.bank.find(living.id_of(delta())).status == "retired"


def test_an_added_line_becomes_a_card(living):
    content = freeze(living.bank)
    line = content.split(b"\n")[1].replace(b"skill::", b"skill::new-")
    (decision,) = living.import_(parse_frozen(content + line + b"\n", "bank.jsonl"))
    assert decision.changes[0].before is None
    assert len(living.bank.skills) == 3


def test_cards_learned_since_the_freeze_stay(living):
    content = freeze(living.bank)
    living.record(decide(living.bank, amend(living.id_of(delta()), delta("Later words"))))
    living.record(decide(living.bank, add(delta("A later card"))))
    more = living.bank.combine_support([living.id_of()]) + CardSupport(tasks=("email/10",), taught_by=("ffff",))
    living.record(decide(living.bank, amend(living.id_of(), KEEP_EXCEPTION), support=more))
    (decision,) = living.import_(reword(content, "Partition before", "Split before"))
    assert [change.card_id for change in decision.changes] == [living.id_of()]
    assert {card.title for card in living.bank.skills} == {KEEP_EXCEPTION.title, "Later words", "A later card"}
    assert living.bank.find(living.id_of()).support.tasks == ("email/10",)


def test_an_edit_on_both_sides_is_a_conflict_and_nothing_is_imported(living):
    content = freeze(living.bank)
    living.record(decide(living.bank, amend(living.id_of(), delta("Here too"))))
    with pytest.raises(UsageError, match=rf"1 card\(s\) were changed both here and in the store: {living.id_of()}"):
        living.import_(reword(content, "Partition before", "Split before"))


def test_the_same_edit_on_both_sides_is_not_a_conflict(living):
    content = freeze(living.bank)
    living.import_(reword(content, "Partition before", "Split before"))
    assert living.import_(reword(content, "Partition before", "Split before")) == ()


def test_an_edit_of_a_card_that_one_source_supports_can_be_imported_again(living):
    """The file says that one source supports it; a card that a person has edited no longer says so."""
    entry = living.bank.find(living.id_of())
    alone = entry.model_copy(update={"support": CardSupport(sources=("model-a",))})
    changes = (Change(before=entry, after=alone),)
    living.record(Decision(operation="PATCH", reason="counted", by=ANNA, ability="email", changes=changes))
    content = freeze(living.bank)
    assert b'"single_source":true' in content
    living.import_(reword(content, "Partition before", "Split before"))
    assert living.import_(reword(content, "Partition before", "Split before")) == ()


def test_a_card_rejected_since_the_freeze_does_not_come_back(living):
    content = freeze(living.bank)
    living.record(judge(living.bank, living.id_of(), "REJECT", ANNA))
    assert living.import_(parse_frozen(content, "bank.jsonl")) == ()


def test_a_bank_from_another_store_adds_its_cards_and_drops_none(living):
    elsewhere = Bank().apply(add(delta("From elsewhere")), "travel")
    living.import_(parse_frozen(freeze(elsewhere), "bank.jsonl"))
    assert len(living.bank.skills) == 3


def test_the_scope_of_a_card_can_be_edited_but_not_its_support(living):
    content = freeze(living.bank).replace(b'"scope":null', b'"scope":"universal"')
    content = content.replace(b'"taught_by":[]', b'"taught_by":["forged"]')
    living.import_(parse_frozen(content, "bank.jsonl"))
    support = living.bank.find(living.id_of()).support
    assert (support.scope, support.taught_by) == ("universal", ())


def test_the_base_of_a_file_is_found_in_its_ledger(living):
    past = [fold(living.ledger[:number]) for number in range(len(living.ledger) + 1)]
    for bank in past:
        sha256 = parse_frozen(freeze(bank), "bank").header.content_sha256
        assert find_base(living.bank, living.ledger, sha256) == bank
    assert find_base(living.bank, living.ledger, "0" * 64) is None
