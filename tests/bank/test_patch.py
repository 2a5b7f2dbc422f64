"""A patch says one thing, and says it consistently."""

from __future__ import annotations

import json

import pytest
from bank_examples import KEEP_EXCEPTION, add, delta
from pydantic import ValidationError

from contramem.bank.bank import PATCH, Amend, Merge, Noop

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
