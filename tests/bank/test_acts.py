"""People review, edit and revert; each act is a decision, and nothing is undone unseen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bank_examples import DELETE_EMAIL, KEEP_EXCEPTION, add, amend, decide, delta, example_bank, refuse
from bank_strategies import ABILITIES, SUPPORTS, patches
from hypothesis import given
from hypothesis import strategies as st
from tests.made_runs import call, run

from contramem.bank.acts import edit, find_base, hold_to_quorum, import_edits, judge, person, revert, to_review
from contramem.bank.bank import Bank, CardSupport, Change
from contramem.bank.frozen import FrozenBank, freeze, parse_frozen
from contramem.bank.ledger import Decision, LedgerEntry, fold
from contramem.bank.show import sentences_of, trace_sentences
from contramem.bank.store import Store, open_store
from contramem.errors import PatchError, UsageError
from contramem.inject.guidance import text_of
from contramem.pipeline import learn

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


def _runs(*sources: str) -> Iterator[object]:
    for task in ("t1", "t2"):
        for source in sources:
            login = call("Desk.sign_in", {"user": "desk"}, {"session": "open"})
            refused = call("Desk.refund", {"order": f"W{task}"}, None, "PermissionError: session not authenticated")
            paid = call("Desk.refund", {"order": f"W{task}"}, {"refunded": True})
            asked = {"task": f"Refund order W{task}.", "task_id": task}
            yield run(source, True, refused, login, paid, "Done.", trial="0", **asked)
            yield run(source, False, refused, "Could not.", trial="1", **asked)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A bank that one agent has taught."""
    with open_store(tmp_path / "bank.db", create=True) as store:
        learn(_runs("agent-one"), store)  # type: ignore[arg-type]
        yield store


def test_cards_of_one_source_are_muted_until_another_source_supports_them(store: Store) -> None:
    served = {card.card_id for card in store.bank().cards}
    assert served
    assert not hold_to_quorum(store, 2).cards
    assert len(store.ledger()) == len({entry.number for entry in store.ledger()})
    learn(_runs("agent-one", "agent-two"), store)  # type: ignore[arg-type]
    assert {card.card_id for card in hold_to_quorum(store, 2).cards} >= served


def test_a_card_muted_by_a_person_stays_muted(store: Store) -> None:
    card_id = store.bank().cards[0].card_id
    with store.writing("test"):
        store.record(judge(store.bank(), card_id, "MUTE", person("ann")))
    assert card_id not in {card.card_id for card in hold_to_quorum(store, 2).cards}
    learn(_runs("agent-one", "agent-two"), store)  # type: ignore[arg-type]
    assert store.bank().entries[card_id].status == "muted"
    assert hold_to_quorum(store, 2).entries[card_id].status == "muted"


def test_a_frozen_bank_leaves_out_cards_with_too_few_sources_unless_a_person_approved_them(store: Store) -> None:
    card_id = store.bank().cards[0].card_id
    with store.writing("test"):
        store.record(judge(store.bank(), card_id, "ACCEPT", person("ann")))
    assert [card.card_id for card in store.bank().of_sources(2).cards] == [card_id]


def test_agents_are_told_if_only_one_source_supports_a_card(store: Store, tmp_path: Path) -> None:
    alone = parse_frozen(freeze(store.bank()), "bank").cards
    assert all("one agent only" in text_of(card).lines[-1] for card in alone)
    with open_store(tmp_path / "two.db", create=True) as two:
        learn(_runs("agent-one", "agent-two"), two)  # type: ignore[arg-type]
        together = freeze(two.bank())
    assert b"single_source" not in together


def test_every_sentence_of_a_card_names_its_decision_tasks_and_sources(store: Store) -> None:
    for entry in store.bank().entries.values():
        sentences = trace_sentences(entry, store.ledger(entry.card.card_id))
        assert [(sentence.field, sentence.text) for sentence in sentences] == list(sentences_of(entry.card))
        assert all(
            sentence.decision and sentence.tasks and sentence.sources == ("agent-one",) for sentence in sentences
        )
    assert b"agent-one" not in freeze(store.bank())
