"""A card is withheld from the tasks that taught its words, and from no other."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import build_skills
from tests.shipped import shipped

from contramem.collection.runs import Collection
from contramem.contrast.packet import contrast
from contramem.traces.trajectory import digest


def test_a_task_whose_runs_merely_support_a_guard_did_not_teach_the_card(tmp_path: Path) -> None:
    runs = shipped("drive")
    with Collection(runs) as pool:
        built = build_skills(tmp_path, *contrast(pool))
    [brake] = [
        entry for entry in built.entries if getattr(entry.card, "title", "").startswith("pressBrakePedal before")
    ]
    teachers = {run.task_id for run in runs if digest(run.task_id) in brake.support.taught_by}
    assert len(brake.support.tasks) == 3
    assert len(teachers) == 1
