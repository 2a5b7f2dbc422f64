"""What a proposed card rests on, and the requests that it is found by."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.study.office import NOTE_RULE, note_office

from contramem.bank.bank import CardSupport, GuardSupport
from contramem.guards.guard import parse_guard
from contramem.study.ask import TrialRequest, try_on
from contramem.study.proposal_support import add_support, gather_support, grade_trials
from contramem.study.run_set import RunSet
from contramem.study.trial import try_guard
from contramem.study.trial_log import TrialLog


def test_a_card_is_for_tasks_in_which_its_function_is_called(tmp_path: Path) -> None:
    """Look-ups write no note, and so keep any rule about what a note must not be; the card is not for them."""
    office = RunSet.of(note_office())
    trial = try_guard(parse_guard("absence(Office.create_note[amount > 1000])"), office.evidence, office)
    assert any("look" in run.task for run in trial.telling)
    support = gather_support([trial], office, TrialLog(tmp_path / "trials.jsonl", office.digest))
    assert support.tasks
    assert all("note" in task for task in support.tasks)


@pytest.mark.parametrize(
    ("side", "grade"),
    [
        ("absence(Office.assign_owner) when Office.create_note[amount > 1000]", None),
        ("absence(Office.assign_owner) when Office.create_note[amount <= 500]", "observed"),
        ("absence(Office.look) when Office.create_note[amount > 1000]", "observed"),
    ],
    ids=["broken by a passing run", "holds", "nobody breaks it"],
)
def test_a_second_guard_lowers_the_grade_only_if_passing_runs_break_it(
    tmp_path: Path, side: str, grade: str | None
) -> None:
    office, log = RunSet.of(note_office()), tmp_path / "trials.jsonl"
    trials = [try_guard(parse_guard(text), office.evidence, office) for text in (NOTE_RULE, side)]
    assert grade_trials(trials, TrialLog(log, office.digest)) == grade


def test_a_proven_rule_stays_proven_beside_a_case_that_few_runs_show(tmp_path: Path) -> None:
    office, log = RunSet.of(note_office()), tmp_path / "trials.jsonl"
    try_on(office, TrialRequest(NOTE_RULE, confirm=True, log=log))
    side = "absence(Office.look) when Office.create_note[amount > 1000]"
    trials = [try_guard(parse_guard(text), office.evidence, office) for text in (NOTE_RULE, side)]
    assert grade_trials(trials, TrialLog(log, office.digest)) == "proven"


def test_what_a_build_proved_stays_proven_if_an_author_states_the_same_guard() -> None:
    counts = {NOTE_RULE: GuardSupport()}
    built = CardSupport(grade="proven", guard_counts=counts)
    authored = CardSupport(grade="observed", guard_counts=counts)
    assert add_support(built, authored).grade == "proven"
    assert add_support(built, authored.model_copy(update={"guard_counts": {"last(A.b)": GuardSupport()}})).grade == (
        "observed"
    )
