"""Where a benchmark has a runner of its own, an experiment splits, builds, waits for its runs, and compares them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from tests.shipped import build, complaint, contramem, shipped

from contramem.cli import main
from contramem.traces.read import read_traces
from contramem.traces.write import write_traces

HELD_OUT = Path(__file__).parents[3] / "examples" / "heldout"

TEXT = """\
name = "elsewhere"
[sources]
paths = ["reference.jsonl"]
[targets.agent]
[split]
by = "task"
tasks = "tasks.csv"
held_out_tasks = ["drive_cold_morning", "drive_cruise_65"]
[environment]
names = ["appworld"]
runs = "runs/{condition}/{target}"
[conditions]
run = ["none", "contramem", "self"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Runs to learn from, a list of tasks, and no held-out runs yet."""
    held_out = [run for run in read_traces([HELD_OUT]) if run.scenario_id == "drive"]
    write_traces(shipped("drive"), tmp_path / "reference.jsonl")
    ids = sorted({run.task_id for run in (*shipped("drive"), *held_out)})
    lines = ["environment,task_id,ability", *(f"bfcl,{task_id},execution" for task_id in ids)]
    (tmp_path / "tasks.csv").write_text("\n".join(lines))
    (tmp_path / "e.toml").write_text(TEXT)
    return tmp_path / "e.toml"


def runs_of(source: str, path: Path) -> None:
    path.parent.mkdir(parents=True)
    runs = (run for run in read_traces([HELD_OUT]) if run.scenario_id == "drive" and run.source == source)
    write_traces([msgspec.structs.replace(run, source="agent") for run in runs], path)


def test_it_builds_the_memories_then_asks_for_the_runs_and_then_compares_them(file, tmp_path, capsys):
    out = tmp_path / "out"
    with pytest.raises(SystemExit):
        main(["lab", "experiment", "run", str(file), "--out", str(out)])
    said = capsys.readouterr().err
    assert "the memories are built and frozen" in said
    assert str(tmp_path / "runs" / "contramem" / "agent") in said
    assert (out / "memory" / "fold-1" / "contramem" / "bank.jsonl").exists()
    runs_of("scripted-hasty", tmp_path / "runs" / "none" / "agent" / "runs.jsonl")
    runs_of("scripted-careful", tmp_path / "runs" / "contramem" / "agent" / "runs.jsonl")
    found = json.loads(contramem("lab", "experiment", "run", file, "--out", out, "--json").stdout)
    compared = found["comparisons"]["agent"]["contramem"]
    assert compared["tasks"] == 2
    assert compared["lost"] == 0
    assert "no runs of agent with self" in found["not_made"]
    assert "self: none of the runs to learn from are of agent" in found["not_made"]


def test_a_bank_that_is_given_is_used_as_it_is(file, tmp_path):
    build(tmp_path / "cards.db", tmp_path / "reference.jsonl")
    contramem("cards", "freeze", tmp_path / "cards.db", "--out", tmp_path / "bank.jsonl")
    file.write_text(TEXT + '[construction]\nbank = "bank.jsonl"\n')
    runs_of("scripted-hasty", tmp_path / "runs" / "none" / "agent" / "runs.jsonl")
    contramem("lab", "experiment", "run", file, "--out", tmp_path / "out")
    used = (tmp_path / "out" / "memory" / "fold-1" / "contramem" / "bank.jsonl").read_bytes()
    assert used == (tmp_path / "bank.jsonl").read_bytes()


def test_a_given_bank_that_knows_a_held_out_task_is_refused(file, tmp_path, capsys):
    build(tmp_path / "cards.db", tmp_path / "reference.jsonl")
    contramem("cards", "freeze", tmp_path / "cards.db", "--out", tmp_path / "bank.jsonl")
    text = TEXT.replace('"drive_cold_morning", "drive_cruise_65"', '"drive_lights_on"')
    file.write_text(text + '[construction]\nbank = "bank.jsonl"\n')
    said = complaint(capsys, "lab", "experiment", "run", file, "--out", tmp_path / "out")
    assert "leakage, so nothing was run" in said
    assert "bfcl/drive_lights_on (its id is that of" in said


def test_a_memory_that_was_changed_by_hand_is_not_used(file, tmp_path, capsys):
    runs_of("scripted-hasty", tmp_path / "runs" / "none" / "agent" / "runs.jsonl")
    contramem("lab", "experiment", "run", file, "--out", tmp_path / "out")
    bank = tmp_path / "out" / "memory" / "fold-1" / "contramem" / "bank.jsonl"
    bank.write_text(bank.read_text().replace("doors", "windows"))
    said = complaint(capsys, "lab", "experiment", "run", file, "--out", tmp_path / "out")
    assert "changed after it was frozen" in said
