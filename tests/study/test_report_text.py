"""What commands print and tools answer: short, the meaning first."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.made_runs import call, run
from tests.study.office import NOTE_RULE, note_office

from contramem.errors import UsageError
from contramem.study.ask import TrialReport, TrialRequest, explain_kind, list_kinds, try_on
from contramem.study.report_json import trial_json
from contramem.study.report_text import write_explanations, write_kinds, write_trial
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


def test_what_was_tried_on_all_tasks_is_proposed_because_nothing_is_left_to_confirm_it_on(
    office: RunSet, tmp_path: Path
) -> None:
    told = write_trial(try_on(office, TrialRequest(NOTE_RULE, on_all=True, log=tmp_path / "trials.jsonl")))
    assert "chance hardly explains it. Propose it." in told
    assert "onfirm" not in told


def close_cases(tasks: int, *, others: int = 0) -> RunSet:
    """Cases of which one of three runs passes, since it looks first; and cases that are only looked at."""
    look, close = call("Office.look", {"id": "7"}, {"id": "7"}), call("Office.close", {"id": "7"})
    steps = {"a": [look, close], "b": [close], "c": [close]}
    closing = [
        run(source, source == "a", *steps[source], task="Close case 7.", task_id=f"close{number}")
        for number in range(tasks)
        for source in steps
    ]
    return RunSet.of(
        closing
        + [
            run(source, True, look, task="Look at case 7 for me.", task_id=f"look{number}")
            for number in range(others)
            for source in steps
        ]
    )


LOOK_FIRST = "precedence(Office.look, Office.close)"


def confirm(runs: RunSet, folder: Path) -> TrialReport:
    return try_on(runs, TrialRequest(LOOK_FIRST, confirm=True, log=folder / "trials.jsonl"))


def test_no_look_is_spent_if_too_few_runs_are_kept_back_to_prove_anything(tmp_path: Path) -> None:
    report = confirm(close_cases(4), tmp_path)  # 2 tasks kept back: chance (1/3) ** 2 at best
    assert report.confirmation is None and report.looks == 0
    assert report.unprovable is not None
    assert report.unprovable[:3] == (6, 2, pytest.approx(1 / 9))
    assert (
        "the runs there are too few to prove it (6 runs of 2 tasks: chance 0.11 at best; the next look allows 0.038)"
        in write_trial(report)
    )
    assert trial_json(report)["unprovable"]["tasks"] == 2
    proven = confirm(close_cases(8), tmp_path).confirmation  # (1/3) ** 4
    assert proven is not None and proven.is_proven


def test_no_look_is_spent_if_no_run_kept_back_is_concerned(tmp_path: Path) -> None:
    told = write_trial(confirm(close_cases(1, others=4), tmp_path))
    assert "on the half kept back: no look was spent, because no run there does what it speaks about" in told


def test_a_kind_without_a_difference_tells_what_its_runs_changed_and_where_to_look() -> None:
    done, left = call("Office.close", {"id": "7"}), call("Office.look", {"id": "7"}, {"id": "7"})
    runs = [
        run(source, source != "c", left, *([done] if number % 2 else []), task="Close case 7.", task_id=f"t{number}")
        for number in range(4)
        for source in "abc"
    ]
    told = write_explanations(explain_kind(RunSet.of(runs)))
    assert "2 tasks, 2 of 6 runs failed, and no difference holds up" in told
    assert "passed 2, failed 1: changed nothing" in told
    assert "passed 2, failed 1: Office.close" in told
    assert "everything (--all, 2 more tasks)" in told


def test_a_kind_whose_tasks_are_all_kept_back_is_not_called_free_of_failures() -> None:
    run_set = RunSet.of(
        run(source, source == "a", call(function, {"id": "7"}), task=task, task_id=function)
        for function, task in (("Shop.ship", "Ship the parcel."), ("Desk.refund", "Give the money back to Ada."))
        for source in "ab"
    )
    (kept_back,) = [task for task, half in run_set.halves.items() if half == "kept back"]
    told = write_explanations(explain_kind(run_set, kind=run_set.kind_of_task[kept_back]))
    assert told.startswith("No task on the open half, so look with everything (--all): ")


def test_runs_without_outcomes_are_told_so_instead_of_a_misspelt_name(tmp_path: Path) -> None:
    run_set = RunSet.of([run("a", None, call("Shop.ship", {"id": "7"}), task="Ship it.")])
    with pytest.raises(UsageError, match="no run has an outcome"):
        tried(run_set, "existence(Shop.ship)", tmp_path)
    with pytest.raises(UsageError, match="no run has an outcome"):
        explain_kind(run_set)
