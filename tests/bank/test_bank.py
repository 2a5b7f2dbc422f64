"""A bank is a value: a patch gives the next one, and nothing in it is lost."""

from __future__ import annotations

import json

import pytest
from bank_examples import DELETE_EMAIL, KEEP_EXCEPTION, SUPPORT, add, amend, delta, example_bank
from bank_strategies import ABILITIES, SUPPORTS, patches
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contramem.bank.acts import judge, person
from contramem.bank.bank import PATCH, Amend, Bank, CardSupport, Change, GuardSupport, Merge, Noop
from contramem.bank.card import FunctionCard, skill_id
from contramem.errors import PatchError, UsageError


def two_cards() -> tuple[Bank, str, str]:
    bank = Bank().apply(add(delta("One rule")), "email", CardSupport(tasks=("a",), sources=("m",)))
    bank = bank.apply(add(delta("Same rule")), "email", CardSupport(tasks=("b",), sources=("m",)))
    return bank, *(skill_id("email", title, "Log in again before retrying.") for title in ("One rule", "Same rule"))


def merge(*targets: str, card=None) -> Merge:
    return Merge(
        delta_index=0, reason="one", target_card_ids=targets, retained_card_id=targets[0], new_or_updated_card=card
    )


def test_add_makes_a_card_whose_id_does_not_depend_on_the_process():
    bank = Bank().apply(add(), "email")
    assert [card.card_id for card in bank.skills] == ["skill::e6c2a2b23cb6"]
    assert bank.skills[0].version == 1
    assert bank.abilities == ("email",)


def test_applying_a_patch_does_not_change_the_old_bank():
    before = example_bank()
    holdings = dict(before.entries)
    before.apply(add(delta()), "email")
    assert before.entries == holdings


def test_the_same_words_added_twice_make_two_cards():
    bank = Bank().apply(add(), "email").apply(add(), "email")
    assert len(bank.skills) == 2
    assert bank.first_made_from("email", KEEP_EXCEPTION) is not None


def test_patch_keeps_the_id_and_raises_the_version():
    bank, one, _ = two_cards()
    after = bank.apply(amend(one, delta("A better name")), "email")
    held = after.find(one)
    assert (held.card.title, held.card.version) == ("A better name", 2)


def test_a_patch_that_only_adds_evidence_keeps_the_version():
    bank, one, _ = two_cards()
    after = bank.apply(amend(one, delta("One rule")), "email", bank.combine_support([one]) + CardSupport(tasks=("c",)))
    assert after.find(one).card.version == 1
    assert after.find(one).support.tasks == ("a", "c")


def test_merge_retires_all_targets_but_one_and_combines_their_support():
    bank, one, other = two_cards()
    after = bank.apply(merge(one, other), "email")
    assert [card.card_id for card in after.skills] == [one]
    assert after.find(other).status == "retired"
    assert after.find(one).support == CardSupport(tasks=("a", "b"), sources=("m",))


def test_noop_changes_nothing():
    bank = example_bank()
    assert bank.apply(Noop(delta_index=0, reason="known"), "email") == bank


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        pytest.param(
            lambda bank, one: bank.plan(amend("skill::nowhere", delta()), "email"), "not a Skill Card", id="absent"
        ),
        pytest.param(
            lambda bank, one: bank.plan(amend(DELETE_EMAIL.card_id, delta()), "email"),
            "not a Skill Card",
            id="function",
        ),
        pytest.param(lambda bank, one: bank.plan(amend(one, delta()), "travel"), "a card of 'email'", id="ability"),
        pytest.param(lambda bank, one: bank.with_changes([_stale(bank, one)]), "has changed since", id="stale"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(change, complaint):
    bank = example_bank()
    with pytest.raises(PatchError, match=complaint):
        change(bank, bank.skills[0].card_id)


def _stale(bank: Bank, card_id: str) -> Change:
    after = bank.find(card_id)
    return Change(before=after.model_copy(update={"status": "muted"}), after=after)


def test_a_retired_card_takes_no_more_patches():
    bank, one, other = two_cards()
    after = bank.apply(merge(one, other), "email")
    with pytest.raises(PatchError, match="was retired"):
        after.apply(amend(other, delta()), "email")


def test_a_build_may_add_evidence_to_a_pinned_card_but_not_rewrite_or_retire_it():
    bank, one, other = two_cards()
    bank = bank.with_changes(judge(bank, one, "PIN", person("anna")).changes)
    assert bank.apply(amend(one, delta("One rule")), "email", CardSupport(tasks=("z",))).find(one).support.tasks == (
        "z",
    )
    for patch in (amend(one, delta("Another name")), merge(other, one)):
        with pytest.raises(PatchError, match="is pinned"):
            bank.apply(patch, "email")


def test_a_rebuilt_function_card_is_a_new_version_only_if_its_text_changed():
    bank = example_bank()
    assert bank.plan_function(DELETE_EMAIL, CardSupport()) == ()
    (change,) = bank.plan_function(DELETE_EMAIL.model_copy(update={"returns": "Nothing."}), CardSupport())
    assert change.after.card.version == 2
    after = bank.with_changes([change])
    assert after.function("EmailClientV2.delete_email") == change.after.card
    assert after.function("EmailClientV2.nothing") is None


def test_a_retired_function_card_is_not_rebuilt_silently():
    bank = example_bank()
    bank = bank.with_changes(judge(bank, DELETE_EMAIL.card_id, "REJECT", person("anna")).changes)
    assert bank.functions == ()
    with pytest.raises(PatchError, match="was retired"):
        bank.plan_function(DELETE_EMAIL, CardSupport())


@pytest.mark.parametrize("name", ["skill::e6c2a2b23cb6", "e6c2a2b23cb6", "e6c", "skill::e6", "skill"])
def test_a_card_is_found_by_any_beginning_of_its_id(name):
    assert example_bank().find(name).card.card_id == "skill::e6c2a2b23cb6"


def test_a_function_card_is_found_by_the_bare_name_of_its_function():
    assert example_bank().find("delete_email").card == DELETE_EMAIL


@pytest.mark.parametrize(("name", "complaint"), [("", "2 cards match"), ("zzz", "there is no card 'zzz'")])
def test_a_name_that_matches_no_card_or_several_is_refused(name, complaint):
    with pytest.raises(UsageError, match=complaint):
        example_bank().find(name)


def test_a_function_card_names_one_function():
    fields = dict(DELETE_EMAIL)
    with pytest.raises(ValidationError, match="app and function say"):
        FunctionCard(**{**fields, "app": "Calendar"})
    with pytest.raises(ValidationError, match="card_id of"):
        FunctionCard(**{**fields, "card_id": "function::Calendar.delete_email"})


def test_support_adds_up_without_counting_a_task_twice():
    total = SUPPORT + SUPPORT
    assert (total.tasks, total.sources) == (SUPPORT.tasks, SUPPORT.sources)
    assert total.guard_counts[KEEP_EXCEPTION.guards[0]] == GuardSupport(held=6, broken=4)
    assert str(SUPPORT + CardSupport(contradicted_by=("email/8",))) == "2 tasks, 2 sources, contradicted by 1 task"


@given(st.data())
def test_any_sequence_of_patches_keeps_the_bank_consistent(data):
    bank = Bank()
    for _ in range(data.draw(st.integers(0, 12))):
        ability = data.draw(st.sampled_from(ABILITIES))
        patch = data.draw(patches(bank, ability))
        after = bank.apply(patch, ability, data.draw(st.none() | SUPPORTS))
        assert set(bank.entries) <= set(after.entries), "no card is ever lost"
        for card_id, held in after.entries.items():
            assert held.card.card_id == card_id
            if before := bank.entries.get(card_id):
                grown = held.card.version - before.card.version
                assert grown == (0 if held.card == before.card else 1)
                assert before.status == held.status or patch.operation == "MERGE"
                assert held == before or card_id in patch.target_card_ids
            else:
                assert patch.operation == "ADD" and held.card.version == 1
        if patch.operation == "MERGE":
            assert len(bank.skills) - len(after.skills) == len(patch.target_card_ids) - 1
        bank = after


CARD = json.loads(delta().model_dump_json())


def reply(**fields: object) -> str:
    return json.dumps({"delta_index": 0, "reason": "because", **fields})


def test_the_operation_determines_the_kind_of_patch():
    text = reply(operation="PATCH", target_card_ids=["skill::a"], retained_card_id="skill::a", new_or_updated_card=CARD)
    assert isinstance(PATCH.validate_json(text), Amend)
    assert isinstance(PATCH.validate_json(reply(operation="NOOP", new_or_updated_card=None)), Noop)


def test_a_patch_survives_json():
    assert PATCH.validate_json(PATCH.dump_json(add())) == add()
    assert add().new_or_updated_card == KEEP_EXCEPTION


def test_a_merge_may_leave_the_retained_card_as_it_is():
    text = reply(operation="MERGE", target_card_ids=["skill::a", "skill::b"], retained_card_id="skill::b")
    patch = PATCH.validate_json(text)
    assert isinstance(patch, Merge)
    assert patch.new_or_updated_card is None


TWO, ONE = ["skill::a", "skill::b"], ["skill::a"]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param({"operation": "RENAME"}, "Input tag 'RENAME'", id="unknown-operation"),
        pytest.param({"operation": "ADD"}, "Field required", id="add-without-card"),
        pytest.param({"operation": "ADD", "new_or_updated_card": None}, "ADD.new_or_updated_card", id="add-null"),
        pytest.param(
            {"operation": "ADD", "new_or_updated_card": CARD, "target_card_ids": ONE}, "at most 0", id="add-with-target"
        ),
        pytest.param(
            {"operation": "PATCH", "new_or_updated_card": CARD, "target_card_ids": TWO, "retained_card_id": "skill::a"},
            "at most 1",
            id="patch-of-two",
        ),
        pytest.param(
            {
                "operation": "NARROW",
                "new_or_updated_card": CARD,
                "target_card_ids": ONE,
                "retained_card_id": "skill::x",
            },
            "has to be the target",
            id="narrow-keeps-another",
        ),
        pytest.param(
            {"operation": "MERGE", "target_card_ids": ONE, "retained_card_id": "skill::a"},
            "at least 2",
            id="merge-of-one",
        ),
        pytest.param(
            {"operation": "MERGE", "target_card_ids": TWO, "retained_card_id": "skill::x"},
            "one of the targets",
            id="merge",
        ),
        pytest.param(
            {"operation": "MERGE", "target_card_ids": ONE * 2, "retained_card_id": "skill::a"},
            "twice",
            id="merge-twice",
        ),
        pytest.param(
            {"operation": "NOOP", "new_or_updated_card": CARD}, "NOOP.new_or_updated_card", id="noop-with-card"
        ),
        pytest.param({"operation": "NOOP", "retained_card_id": "skill::x"}, "or null", id="noop-keeps-another"),
        pytest.param({"operation": "NOOP", "reason": ""}, "at least 1 character", id="no-reason"),
        pytest.param({"operation": "NOOP", "confidence": 1}, "not permitted", id="unknown-field"),
    ],
)
def test_an_inconsistent_patch_is_refused(fields, complaint):
    with pytest.raises(ValidationError, match=complaint):
        PATCH.validate_json(reply(**fields))
