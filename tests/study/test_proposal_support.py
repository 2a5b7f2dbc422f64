"""What a proposed card rests on, and the requests that it is found by."""

from __future__ import annotations

from pathlib import Path

from tests.study.office import note_office

from contramem.monitor.guard import parse_guard
from contramem.study.proposal_support import gather_support
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
