"""What commands print and tools answer: short, the meaning first."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.study.office import NOTE_RULE, note_office

from contramem.study.ask import TrialReport, TrialRequest, list_kinds, try_on
from contramem.study.report_text import write_kinds, write_trial
from contramem.study.run_set import RunSet


@pytest.fixture(scope="module")
def office() -> RunSet:
    return RunSet.of(note_office())


def tried(office: RunSet, guard: str, folder: Path) -> TrialReport:
    return try_on(office, TrialRequest(guard, log=folder / "trials.jsonl"))


def test_kinds_are_listed_with_open_tasks_pass_rates_functions_and_a_request(office: RunSet) -> None:
    first, kind, uses, example, *_ = write_kinds(list_kinds(office)).splitlines()
    assert first == "20 tasks of 2 kinds, largest first."
    assert kind.startswith("create_note-credit-invoice: 16 tasks (8 open), 32 of 48 runs passed; best careful 16 of 16")
    assert uses == "  uses Office: create_note, assign_owner"
    assert example.startswith("  Write a credit note over")


def test_a_trial_tells_what_to_do_before_its_counts(office: RunSet, tmp_path: Path) -> None:
    guard, meaning, counts, *_ = write_trial(tried(office, NOTE_RULE, tmp_path)).splitlines()
    assert guard == NOTE_RULE
    assert meaning == "supported, observed. No passing run breaks it, and chance hardly explains it. Confirm it."
    assert counts.startswith("on the open half: kept: ")


@pytest.mark.parametrize(
    ("guard", "advice"),
    [
        ("existence(Office.assign_owner)", "`existence` without `when` asks for it in every run"),
        ("absence(Office.create_note[amount > 5000])", "has `amount > 5000`. Mend the condition."),
        ("response(Office.create_note, Office.assign_owner)", "find the condition that is missing"),
    ],
)
def test_a_guard_that_cannot_be_right_is_told_why(office: RunSet, tmp_path: Path, guard: str, advice: str) -> None:
    assert advice in write_trial(tried(office, guard, tmp_path))
