"""A whole experiment in a small world: collected, split, built, run, compared, and gone on with after any kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from tests.lab.experiment.small import SMALL, run, traces, written
from tests.shipped import complaint, contramem

from contramem.traces.read import read_traces
from contramem_lab import plan
from contramem_lab.config import load_experiment
from contramem_lab.jobs import ResultFolder
from contramem_lab.memory import MemoryBuilder
from contramem_lab.opened import OpenedExperiment

PATIENCE_S = 300
"""Longer than any machine takes."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """The small experiment, run once, left alone."""
    folder = tmp_path_factory.mktemp("calm")
    run(written(folder), folder / "out")
    return folder / "out"


def results(out: Path) -> dict:
    return json.loads((out / "results.json").read_text())


def cell(out: Path, condition: str, target: str) -> dict:
    return next(c for c in results(out)["cells"] if (c["condition"], c["target"]) == (condition, target))


def test_the_ceiling_helps_whoever_forgets_and_nobody_else(finished):
    assert cell(finished, "none", "hasty")["passed"] == 0
    assert cell(finished, "ceiling", "hasty")["passed"] == 6
    assert cell(finished, "none", "careful")["passed"] == cell(finished, "ceiling", "careful")["passed"] == 6
    assert results(finished)["comparisons"]["hasty"]["ceiling"]["gained"] == 6


def test_cards_from_the_reference_tasks_reach_the_held_out_ones(finished):
    found = cell(finished, "contramem", "hasty")
    assert found["passed"] == 6
    assert found["shown_tokens"] > 0
    assert results(finished)["comparisons"]["hasty"]["contramem"]["harmed_tasks"] == []


def test_every_run_is_a_trace_that_the_comparison_reads_by_hand(finished):
    printed = contramem("evaluate", "compare", finished / "runs/none", "--with", finished / "runs/contramem", "--json")
    assert json.loads(printed.stdout)["gained"] == 6
    for trajectory in read_traces([finished / "runs" / "contramem"]):
        assert trajectory.source in ("careful", "hasty")
        assert trajectory.usage.tokens_in


def test_the_manifest_names_versions_seeds_and_hashes(finished):
    manifest = json.loads((finished / "manifest.json").read_text())
    assert manifest["seed"] == 7
    assert {"contramem", "numpy"} <= set(manifest["packages"])
    assert len(manifest["runs"]) == 6 * 2 + 4 * 2 * 6
    assert set(manifest["outputs"]) == {"experiment.toml", "split.json", "results.json", "report.html", "report.md"}
    assert manifest["memories"]["fold-1/contramem"]
    assert manifest["sessions"][-1]["finished"]


def test_running_it_again_repeats_no_run_and_changes_no_result(finished, tmp_path, monkeypatch):
    monkeypatch.setenv("SMALL_WORLD_LOG", str(tmp_path / "log"))
    before, said = traces(finished), results(finished)
    run(finished / "experiment.toml", finished)
    assert not (tmp_path / "log").exists()
    assert traces(finished) == before
    assert results(finished) == said


def test_show_prints_the_state_and_results(finished):
    shown = contramem("lab", "experiment", "show", finished).stdout
    assert shown.startswith("small: finished 20")
    assert "6 reference tasks, 6 held out" in shown
    assert json.loads(contramem("lab", "experiment", "show", finished, "--json").stdout)["runs"][0]["runs"] == 6


def test_the_report_names_who_was_harmed_and_what_it_took(finished):
    page = (finished / "report.html").read_text()
    assert "No task was harmed by contramem, ceiling, wrong-card." in page
    assert "Held-out runtime" in page
    assert (finished / "tables" / "success.csv").read_text().startswith("Condition,Target,Runs,execution,search,")


def test_a_dry_run_counts_and_writes_nothing(tmp_path):
    file = written(tmp_path)
    plan = json.loads(
        contramem("lab", "experiment", "run", file, "--out", tmp_path / "out", "--dry-run", "--json").stdout
    )
    rows = {(row["what"], row["target"]): row for row in plan["rows"]}
    assert rows["reference runs", "hasty"] == {
        "what": "reference runs", "target": "hasty", "runs": 6, "done": 0, "calls": 48, "cost_usd": 0.0,
    }  # fmt: skip
    assert rows["contramem", "careful"]["runs"] == 6
    assert not (tmp_path / "out").exists()
    assert "Nothing was run or written." in contramem("lab", "experiment", "run", file, "--dry-run").stdout


def test_one_more_condition_leaves_finished_runs_alone(finished, tmp_path, monkeypatch):
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    monkeypatch.setenv("SMALL_WORLD_LOG", str(tmp_path / "log"))
    run(written(tmp_path, SMALL.replace('"wrong-card"', '"wrong-card", "raw"')), out)
    assert (tmp_path / "log").read_text().count("run") == 2 * 6
    assert cell(out, "raw", "hasty")["runs"] == 6


def test_another_seed_sets_the_old_runs_aside(finished, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    run(written(tmp_path, SMALL.replace("seed = 7", "seed = 8")), out)
    assert len(list((out / "runs" / "none" / "hasty").iterdir())) == 6
    assert len(list((out / "superseded").rglob("*.jsonl"))) == len(traces(finished)) - 3


def _started(file: Path, out: Path, log: Path, run_s: float = 0.01) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "contramem", "lab", "experiment", "run", str(file), "--out", str(out)]
    environment = os.environ | {"SMALL_WORLD_LOG": str(log), "SMALL_WORLD_SLEEP_S": str(run_s)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _wait_for(log: Path, begun: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < until:
        if log.exists() and log.read_text().count("run") >= begun:
            return
        time.sleep(0.005)


@pytest.mark.slow
def test_an_experiment_killed_at_any_moment_ends_with_the_same_results(finished, tmp_path):
    file, out, log = written(tmp_path), tmp_path / "out", tmp_path / "log"
    rng, kills = Random(20260610), 0
    for begun in sorted(rng.sample(range(1, 60), 5)):
        process = _started(file, out, log)
        _wait_for(log, begun + 2 * kills, process)
        time.sleep(rng.uniform(0, 0.02))
        process.kill()
        process.communicate()
        kills += process.returncode < 0
        assert not [path for path in traces(out) if not list(read_traces([out / path])) and path.startswith("runs")]
    assert kills >= 3
    assert _started(file, out, log).communicate() is not None
    assert traces(out) == traces(finished)
    assert results(out) == results(finished)
    assert log.read_text().count("run") <= 60 + 2 * kills, "only runs that were under way are begun again"


@pytest.mark.slow
def test_ctrl_c_ends_cleanly_and_says_how_to_continue(tmp_path):
    file, out, log = written(tmp_path), tmp_path / "out", tmp_path / "log"
    process = _started(file, out, log, run_s=0.3)  # so that it is far from done when it is told to stop
    _wait_for(log, 3, process)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=PATIENCE_S)[1].decode()
    assert process.returncode == 1
    assert "Traceback" not in said
    assert f"Continue with: contramem lab experiment run {file} --out {out}" in said


def test_a_target_that_does_not_answer_stops_it_and_keeps_what_is_done(tmp_path, capsys):
    text = SMALL.replace(":hasty", ":unreachable")
    said = complaint(capsys, "lab", "experiment", "run", written(tmp_path, text), "--out", tmp_path / "out")
    assert "unreachable does not answer." in said
    assert "Continue with: contramem lab experiment run" in said
    assert list((tmp_path / "out" / "reference" / "careful").glob("*.jsonl"))


def test_folds_hold_every_task_out_once(tmp_path):
    text = SMALL.replace("reference = 3\nheld_out = 3", "folds = 3").replace(', "ceiling", "wrong-card"', "")
    found = run(written(tmp_path, text), tmp_path / "out")
    assert next(c for c in found["cells"] if c["target"] == "hasty" and c["condition"] == "none")["runs"] == 12
    assert {memory["fold"] for memory in found["memories"]} == {0, 1, 2}


def test_cards_in_tool_descriptions_cost_no_step(tmp_path):
    text = SMALL.replace("[conditions]\n", '[conditions]\ncards = "describe"\n')
    run(written(tmp_path, text), tmp_path / "out")

    def steps(out: Path, condition: str) -> int:
        return sum(trajectory.usage.model_calls for trajectory in read_traces([out / "runs" / condition / "careful"]))

    assert steps(tmp_path / "out", "contramem") == steps(tmp_path / "out", "none")


def test_an_interrupted_experiment_has_the_same_tasks_under_all_conditions(tmp_path):
    opened, folder = OpenedExperiment(load_experiment(written(tmp_path))), ResultFolder(tmp_path / "out")
    builder = MemoryBuilder(opened, folder, 0, [], plan.tasks_to_test(opened, opened.folds[0]))
    jobs = plan.jobs_to_test(opened, folder, [builder])
    for position in range(0, len(jobs), 8):
        task = jobs[position : position + 8]
        assert len({job.task_id for job in task}) == 1
        assert len({(job.condition, job.target) for job in task}) == 8


def test_tasks_that_are_not_run_still_teach_by_their_recorded_runs(finished, tmp_path):
    text = SMALL.replace('collect = ["careful", "hasty"]', f'paths = ["{finished / "reference"}"]')
    text = text.replace("reference = 3\nheld_out = 3", "folds = 2").replace(', "ceiling", "wrong-card"', "")
    text = text.replace("limits =", 'tasks = ["boxes/[k-m]*", "bell"]\nlimits =')
    opened = OpenedExperiment(load_experiment(written(tmp_path, text)))
    assert sorted(task.id for fold in opened.folds for task in plan.tasks_to_test(opened, fold)) == [
        "bell",
        "key",
        "lamp",
        "map",
    ]
    taught = {run.task_id for fold in opened.folds for run in opened.runs_that_teach(fold, opened.recorded)}
    assert taught == {run.task_id for run in opened.recorded}


def test_a_missing_task_is_named(tmp_path, capsys):
    text = SMALL.replace("limits =", 'tasks = ["bell", "boxes/trumpet"]\nlimits =')
    said = complaint(capsys, "lab", "experiment", "run", written(tmp_path, text), "--out", tmp_path / "out")
    assert "environment.tasks: no task is called boxes/trumpet." in said
