"""`contramem lab bench are` when something goes wrong: a clear error, nothing lost, and the rest goes on."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.lab.bench.are_runs import SCENARIOS, needs_are

from contramem.cli import main
from contramem.traces.read import read_traces

ENGINE = Path(SCENARIOS).with_name("are_engine.py")
pytestmark = [needs_are, pytest.mark.slow]


def command(folder: Path, engine: str = "careful", *more: str) -> list[str]:
    return ["lab", "bench", "are", str(folder), "--engine", f"{ENGINE}:{engine}", "--judge", "scripted", "--json",
            "--out", str(folder / "out"), *more]  # fmt: skip


def test_a_scenario_that_are_cannot_load_does_not_stop_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(SCENARIOS / "time", tmp_path / "time")
    good = tmp_path / "time" / "validation" / "made_up_time_2.json"
    document = json.loads(good.read_text())
    document["metadata"]["definition"]["scenario_id"] = "no_such_app"
    for event in document["events"]:
        event["action"]["app"] = "NoSuchApp"
    good.with_name("bad.json").write_text(json.dumps(document))
    good.with_name("broken.json").write_text("{")
    with pytest.raises(SystemExit):
        main(command(tmp_path))
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert [row["passed"] for row in document["runs"]] == [True, True, True]
    assert "bad.json: ARE cannot run this scenario" in document["problems"][0]
    assert "broken.json: is not an ARE scenario" in printed.err
    assert len(list(read_traces([tmp_path / "out"]))) == 3


def start(arguments: list[str], largest_file: int | None = None) -> subprocess.Popen[str]:
    limit = None if largest_file is None else (largest_file, resource.RLIM_INFINITY)
    return subprocess.Popen(
        [sys.executable, "-m", "contramem", *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
        start_new_session=True,
    )  # fmt: skip


def test_a_full_disk_stops_the_runs_with_one_line_and_they_resume_later(tmp_path: Path) -> None:
    """No file may grow beyond 20 kB, so that ARE cannot write its traces."""
    shutil.copytree(SCENARIOS / "execution", tmp_path / "execution")
    full = start(command(tmp_path), largest_file=20_000)
    _, problem = full.communicate()
    assert full.returncode == 1
    assert "ARE could not write its trace (is the disk full?). 0 runs were done just now and are kept" in problem
    assert "Traceback" not in problem
    emptied = start(command(tmp_path))
    printed, _ = emptied.communicate()
    assert [row["passed"] for row in json.loads(printed)["runs"]] == [True, True, True]


def test_a_killed_command_keeps_its_runs_and_resumes(tmp_path: Path) -> None:
    shutil.copytree(SCENARIOS / "execution", tmp_path / "execution")
    first = start(command(tmp_path, "careful", "--concurrency", "1"))
    while not (kept := list((tmp_path / "out").rglob("*.jsonl"))):
        time.sleep(0.05)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    before = {path: path.stat().st_mtime_ns for path in kept}
    printed, _ = start(command(tmp_path)).communicate()
    assert len(json.loads(printed)["runs"]) == 3
    assert {path: path.stat().st_mtime_ns for path in kept} == before


def test_an_engine_that_never_acts_is_counted_and_the_others_continue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(SCENARIOS / "search", tmp_path / "search")
    with pytest.raises(SystemExit):
        main(command(tmp_path, "idle", "--steps", "2"))
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert [(row["passed"], row["ended"]) for row in rows] == [(False, "limit")] * 3
