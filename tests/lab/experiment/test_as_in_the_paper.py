"""What the paper's experiment needs beside its conditions: matched numbers of runs, and a profile for each ability."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.lab.experiment.small import SMALL, run, written

CONDITIONS = 'run = ["none", "contramem", "ceiling", "wrong-card"]'


def changed(*changes: tuple[str, str]) -> str:
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def test_multi_rollout_and_contramem_learn_from_the_same_number_of_runs_in_one_experiment(tmp_path: Path) -> None:
    """Two runs of each task: one by each source for contramem, two by the target for multi-rollout."""
    collected = 'collect = ["careful", "hasty"]'
    text = changed(
        (collected, f"{collected}\ntarget_trials = {{ hasty = 2 }}"),
        (CONDITIONS, 'run = ["none", "multi-rollout", "contramem"]'),
    )
    run(written(tmp_path, f"{text}\n[construction]\nrollouts = 1\n"), tmp_path / "out")
    memories = tmp_path / "out" / "memory" / "fold-1"
    learned = {
        name: json.loads((memories / name / "memory.json").read_text())["construction"]["trajectories"]
        for name in ("contramem", "multi-rollout@hasty")
    }
    assert learned["contramem"] == learned["multi-rollout@hasty"] == 2 * 6


@pytest.mark.parametrize("spelled", ["execution", "Execution"])
def test_runs_of_an_ability_get_its_own_profile_and_time_s_shows_no_card_before_a_call(
    tmp_path: Path, spelled: str
) -> None:
    profiles = f'profile = "gaia2"\nability_profiles = {{ {spelled} = "time" }}'
    text = changed((CONDITIONS, f'run = ["none", "contramem"]\n{profiles}'))
    run(written(tmp_path, text), tmp_path / "out")
    shown = _shown_before_calls(tmp_path / "out" / "runs" / "contramem")
    assert shown == {"search": {"Box.take_thing"}, "execution": set()}


def _shown_before_calls(folder: Path) -> dict[str, set[str]]:
    """By ability: the functions whose cards were shown before a call."""
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*.jsonl"):
        trace: dict[str, Any] = json.loads(path.read_text().splitlines()[1])
        functions = {guidance["function"] for guidance in trace["guidance"] if guidance.get("function")}
        found.setdefault(trace["ability"], set()).update(functions)
    return found
