"""Feedback: what a judge says, never what it expected."""

from __future__ import annotations

import pytest

from contramem.contrast.feedback import UNKNOWN, normalize_feedback


def test_feedback_without_a_reference_stays() -> None:
    assert normalize_feedback("The refund was sent twice.") == "The refund was sent twice."


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        pytest.param(
            "Failure: Agent did not perform the following oracle tool call:\ntool name: Bank__pay\n-to: Zoe",
            "a call that was needed is missing",
            id="missing call",
        ),
        pytest.param(
            "Agent and oracle counters do not match: Bank__pay 2, oracle 1",
            "functions were called more or less often than needed",
            id="counts",
        ),
        pytest.param("Wrong. Expected answer: 42 lamps.", UNKNOWN, id="answer"),
        pytest.param("The ground truth has Zoe as the payee.", UNKNOWN, id="ground truth"),
    ],
)
def test_what_the_reference_holds_is_not_shown(text: str, normalized: str) -> None:
    assert normalize_feedback(text) == normalized
