"""Scenarios as tasks: what is read of them, and what is not."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from tests.lab.bench.are_runs import SCENARIOS

from contramem.errors import UsageError
from contramem_lab.are import read_scenarios, write_task_list


def test_scenarios_in_gaia2_layout_are_tasks_by_ability() -> None:
    tasks = read_scenarios([str(SCENARIOS)], [])
    assert len(tasks) == 15
    assert {task.ability for task in tasks.values()} == {"execution", "search", "ambiguity", "adaptability", "time"}
    assert tasks["made_up_execution_1"].wording.startswith("Email Ann Lee with the subject 'Lunch'")


def test_nothing_of_the_oracle_is_in_a_task() -> None:
    """The right Sam stands only in what the oracle and the later turn say."""
    assert "Hill" not in str(read_scenarios([str(SCENARIOS)], [])["made_up_ambiguity_1"].turns)


def test_a_file_that_does_not_parse_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    shutil.copytree(SCENARIOS / "time", tmp_path / "time")
    (tmp_path / "time" / "validation" / "broken.json").write_text("{")
    (tmp_path / "time" / "validation" / "other.json").write_text("{}")
    problems: list[str] = []
    assert len(read_scenarios([str(tmp_path)], problems)) == 3
    assert [problem.partition(": ")[0].rpartition("/")[2] for problem in problems] == ["broken.json", "other.json"]
    assert all("is not an ARE scenario" in problem for problem in problems)


def test_a_folder_without_a_scenario_is_refused_with_its_first_problem(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(UsageError, match=r"there is no scenario. First problem: .*broken.json"):
        read_scenarios([str(tmp_path)], [])


def test_the_list_of_tasks_is_written_before_any_run(tmp_path: Path) -> None:
    tasks = read_scenarios([str(SCENARIOS)], [])
    write_task_list(tasks.values(), tmp_path / "tasks.csv")
    with (tmp_path / "tasks.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 15
    assert rows[0]["environment"] == "are" and rows[0]["wording"]
