"""Guards that ask for what no run has: the slip is named, with what there is."""

from __future__ import annotations

import re

import pytest
from tests.study.office import note_office

from contramem.errors import GuardError
from contramem.guards.guard import parse_guard
from contramem.study.guard_check import check_names, find_unmet
from contramem.study.run_set import RunSet


@pytest.fixture(scope="module")
def office() -> RunSet:
    return RunSet.of(note_office())


@pytest.mark.parametrize(
    ("guard", "complaint"),
    [
        (
            "existence(Office.create_note[sum > 5])",
            "no call of Office.create_note gives `sum`. It takes amount, invoice",
        ),
        ("at_most_once(Office.create_note by nota)", "gives `nota`"),
        (
            "existence(Office.look) when Office.look.stat = open",
            "has `stat`. It returns contact, order, status. Perhaps",
        ),
        ("existence(Office.assign_owner[note from Office.create_note.number])", "no result of Office.create_note has"),
        ("existence(Office.assign_owner[note picks lowest due of Office.look])", "has `due`"),
        ("existence(Office.assign_owner) when Office.look has one where state = open", "has `state`"),
        ("covers(Office.look.orders, Office.create_note.invoice)", "has `orders`"),
        ("existence(Office.look[status = open])", "It returns `status`: write `when Office.look.status = ...`."),
        (
            "existence(Office.look) when Office.create_note.amount > 5",
            "It takes `amount`: write `Office.create_note[amount",
        ),
        (
            "absence(Office.assign_owner[note != Office.create_note.note])",
            "Write `note from Office.create_note.note`.",
        ),
        ("absence(Office.assign_owner[note lacks Office.look.order])", "Write `note omits Office.look.order`."),
    ],
)
def test_a_name_that_is_not_there_is_told_with_those_that_are(office: RunSet, guard: str, complaint: str) -> None:
    with pytest.raises(GuardError, match=re.escape(complaint)):
        check_names(parse_guard(guard), office.runs)


@pytest.mark.parametrize(
    ("guard", "unmet"),
    [
        ("existence(Office.create_note[invoice like AA-99])", "Values are written like A-9."),
        ("absence(Office.create_note[amount > 5000])", "No call of Office.create_note has `amount > 5000`."),
        ("existence(Office.look) when Office.look.status = closed", "No result fits `Office.look.status = closed`."),
        ("existence(Office.look) when task contains urgent", "No request fits `task contains urgent`."),
    ],
)
def test_a_condition_that_comes_true_nowhere_is_told(office: RunSet, guard: str, unmet: str) -> None:
    check_names(parse_guard(guard), office.runs)
    assert unmet in " ".join(find_unmet(parse_guard(guard), office.runs))


def test_a_guard_whose_conditions_come_true_somewhere_is_left_alone(office: RunSet) -> None:
    guard = parse_guard("existence(Office.create_note[invoice like AAA-9999]) when Office.create_note[amount > 500]")
    assert not find_unmet(guard, office.runs)
