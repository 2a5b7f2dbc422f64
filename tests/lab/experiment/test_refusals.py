"""What cannot be run is refused before anything runs, in words that say what to do."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from tests.lab.experiment.small import SMALL, written
from tests.shipped import complaint, shipped

from contramem.cli import main
from contramem.errors import UsageError
from contramem.traces.write import write_traces
from contramem_lab.config import load_experiment
from contramem_lab.jobs import claim_folder, hold_folder
from contramem_lab.plan import check_sense, missing

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        pytest.param('"ceiling"', '"celing"', "no condition 'celing'; did you mean 'ceiling'?", id="condition"),
        pytest.param('"none", ', "", "'none' is missing; it is what the others are compared with", id="no-none"),
        pytest.param('["careful", "hasty"]', "[]", "there is nothing to learn from", id="no-sources"),
        pytest.param('["careful", "hasty"]', '["carful"]', "no target 'carful'; did you mean 'careful'?", id="target"),
        pytest.param("reference = 3", "reference = 30", "ability execution gives", id="empty-split"),
        pytest.param("reference = 3\nheld_out = 3", 'held_out_tasks = ["*"]', "no reference task is left", id="side"),
        pytest.param("[conditions]", '[conditions]\nprofile = "tiny"', "there is no profile 'tiny'", id="profile"),
        pytest.param(":environment", ":environmnt", "has no 'environmnt'", id="python-name"),
    ],
)  # fmt: skip
def test_a_file_that_makes_no_sense(before, after, said, tmp_path, capsys):
    assert before in SMALL
    file = written(tmp_path, SMALL.replace(before, after, 1))
    assert said in complaint(capsys, "lab", "experiment", "run", file, "--out", tmp_path / "out")
    assert not (tmp_path / "out" / "runs").exists()


def test_everything_that_is_missing_is_reported_at_once(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    text = SMALL.replace('collect = ["careful", "hasty"]', 'paths = ["nowhere/*.json"]')
    text = text.replace("seed = 7", 'seed = 7\nneeds = ["no_such_package"]')
    text += '\n[construction]\nauthor = "model"\nmodel = "openai:gpt-5.5"\nkey = "NO_SUCH_KEY"\n'
    with pytest.raises(SystemExit) as end:
        main(["lab", "experiment", "run", str(written(tmp_path, text)), "--out", str(tmp_path / "out")])
    said = capsys.readouterr().err
    assert end.value.code == 1
    assert "small cannot run here: 3 things are missing:" in said
    for thing in (
        "package no_such_package",
        f"nothing at {tmp_path / 'nowhere'}",
        "key $NO_SUCH_KEY: not set (construction)",
    ):
        assert thing in said


@pytest.mark.parametrize("name", ["gaia2", "appworld", pytest.param("agentdojo-local", marks=pytest.mark.slow)])
def test_the_shipped_experiments_are_sound_and_say_what_they_lack_here(name, tmp_path, monkeypatch):
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "DASHSCOPE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    file = load_experiment(ROOT / "experiments" / f"{name}.toml")
    check_sense(file)
    absent = missing(file)
    if name != "agentdojo-local":
        assert any("environment" in thing for thing in absent)
        assert any("OPENAI_API_KEY" in thing for thing in absent)


def test_the_papers_configuration_is_that_of_its_table_a1():
    config = load_experiment(ROOT / "experiments" / "gaia2.toml").config
    assert (config.seed, config.split.reference, config.split.held_out) == (20260610, 40, 40)
    assert (config.environment.concurrency, config.environment.limits.seconds) == (2, 300)
    assert config.environment.ability_limits["time"].seconds == 900
    assert set(config.conditions.run) >= {"none", "self", "contramem"}
    assert len(config.targets) == 4


def test_a_folder_of_another_experiment_is_left_alone(tmp_path):
    claim_folder(tmp_path / "out", "other")
    with pytest.raises(UsageError, match="holds the experiment 'other', this is 'small'"):
        claim_folder(tmp_path / "out", "small")


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.doc").write_text("mine")
    with pytest.raises(UsageError, match="is not empty, and is not the folder of an experiment"):
        claim_folder(tmp_path, "small")


def test_two_processes_do_not_share_a_folder(tmp_path):
    with (
        hold_folder(tmp_path / "out", "small"),
        pytest.raises(UsageError, match="another process is running this experiment"),
        hold_folder(tmp_path / "out", "small"),
    ):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_disk_is_reported(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match=r"cannot be written \(Permission denied\)"):
        claim_folder(tmp_path / "out", "small")


def test_a_place_under_a_file_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        claim_folder(tmp_path / "file" / "out", "small")


RECORDED = """\
name = "recorded"
[sources]
paths = ["runs.jsonl"]
[split]
by = "task"
[conditions]
run = ["none", "contramem", "raw"]
[targets.somebody]
[environment]
names = ["bfcl/base"]
runs = "there/{condition}/{target}"
"""


def recorded(tmp_path: Path, text: str = RECORDED) -> Path:
    write_traces(shipped("drive", "posts"), tmp_path / "runs.jsonl")
    return written(tmp_path, text)


def test_recorded_runs_alone_are_for_another_command(tmp_path, capsys):
    file = recorded(tmp_path, RECORDED.partition("[targets")[0])
    assert "`contramem lab conditions` compares" in complaint(capsys, "lab", "experiment", "run", file)


def test_leakage_stops_it_before_anything_runs(tmp_path, capsys):
    held_out = shipped("drive")[0].task_id
    runs = list(shipped("drive"))
    copies = [
        msgspec.structs.replace(run, task_id="copy", environment="other") for run in runs if run.task_id == held_out
    ]
    text = RECORDED.replace('by = "task"', f'by = "task"\nheld_out_tasks = ["{held_out}"]')
    file = recorded(tmp_path, text)
    write_traces([*runs, *copies], tmp_path / "runs.jsonl")
    said = complaint(capsys, "lab", "experiment", "run", file, "--out", tmp_path / "out")
    assert "leakage, so nothing was run" in said
    assert "its wording is that of other/copy" in said
    assert not (tmp_path / "out" / "memory").exists()
