"""A delta that a card says already is found without asking a model."""

from __future__ import annotations

from typing import Any

import pytest
from tests.guard_builds import DELTA as SEARCHED

from contramem.bank.card import SkillCard, SkillDelta
from contramem.build.model.author import find_twin


def reworded(**changes: Any) -> SkillDelta:
    return SkillDelta(**{name: value for name, value in SEARCHED.items() if name != "cites"} | changes)


STATED = SkillCard.of(reworded(), "skill::one", "execution")


@pytest.mark.parametrize(
    ("changes", "is_twin"),
    [
        pytest.param({}, True, id="same"),
        pytest.param({"applies_when": "Something is deleted."}, True, id="other-trigger"),
        pytest.param({"title": "Searching before a delete"}, True, id="other-forms-of-the-words"),
        pytest.param({"functions_used": ["Mail.delete"]}, False, id="other-functions"),
        pytest.param({"title": "Confirm with the owner", "skill": {"core_rule": "Ask the owner.", "completion": ["x"]}},
                     False, id="other-words"),
    ],
)  # fmt: skip
def test_the_same_words_about_the_same_functions_make_a_twin(changes: dict[str, Any], is_twin: bool) -> None:
    assert (find_twin(reworded(**changes), [STATED]) is STATED) == is_twin


def test_the_same_guards_need_fewer_common_words() -> None:
    longer = {"core_rule": "Call search before delete, always.", "completion": ["x"]}
    wording = {"title": "Search before deleting mail", "skill": longer}
    assert find_twin(reworded(**wording), [STATED]) is STATED
    assert find_twin(reworded(**wording, guards=[]), [STATED]) is None
