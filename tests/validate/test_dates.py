"""Dates on cards: the form stays, the day of a task does not."""

from __future__ import annotations

import pytest

from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.validate.dates import write_dates_as_forms


def lesson(rule: str, *guards: str) -> SkillDelta:
    skill = Skill(core_rule=rule, completion=("It is done.",))
    evidence = Evidence(good_example="create(start=2024-05-19 12:00)")
    return SkillDelta(
        title="Title", applies_when="A task.", solves="A fault.", skill=skill, evidence=evidence, guards=guards
    )


@pytest.mark.parametrize(
    ("written", "general"),
    [
        ("Give 2024-05-19 12:00 as start.", "Give YYYY-MM-DD HH:MM as start."),
        ("Give 2024-05-19T12:00:30Z.", "Give YYYY-MM-DDTHH:MM:SS."),
        ("Not 14.04.2025 but 2025-W16.", "Not DD.MM.YYYY but YYYY-Www."),
        ("On May 19th, 2024 it closed.", "On Month D, YYYY it closed."),
        ("Not `December 13` but `13 Dec`.", "Not `Month D` but `D Month`."),
        ("Find the 2nd of March at 12:30.", "Find the D Month at HH:MM."),
        ("Separate 2 calls; Mark 3 tasks in December.", "Separate 2 calls; Mark 3 tasks in December."),
        ("Wait 30 minutes, until 12:30.", "Wait 30 minutes, until 12:30."),
        ("Use <ID_1> of version 1.2.2024-05.", "Use <ID_1> of version 1.2.2024-05."),
    ],
)
def test_a_date_becomes_its_form(written: str, general: str) -> None:
    assert write_dates_as_forms(lesson(written)).skill.core_rule == general


def test_examples_lose_their_dates_and_guards_stay() -> None:
    general = write_dates_as_forms(lesson("Check.", "existence(A.f[due = 2025-04-14])"))
    assert general.evidence.good_example == "create(start=YYYY-MM-DD HH:MM)"
    assert general.guards == ("existence(A.f[due = 2025-04-14])",)
