"""The shipped experiments from their split to the paper's tables, on made-up scenarios and with scripted models."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.bench.appworld_server import serve, write_root

from contramem.bench.are.installation import Installation, default_folder

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "tests" / "bench"


def without_models(name: str, targets: tuple[str, ...], engines: str) -> str:
    """The shipped file with scripted targets in place of models, memories by rules, and small numbers."""
    text = (ROOT / "experiments" / f"{name}.toml").read_text(encoding="utf-8")
    text = re.sub(r'\[targets\."[^\n]*\n.*?(?=\n\[)', "", text, flags=re.DOTALL)
    text = re.sub(r"\[construction\].*", "", text, flags=re.DOTALL)
    text = re.sub(r"collect = .*", 'collect = ["careful", "hasty"]', text)
    tables = (f'[targets.{one}]\nkind = "python"\npython = "{engines}:{one}"\n' for one in targets)
    return text + "\n".join(tables)


def run(file: Path, out: Path, **more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "contramem", "experiment", "run", str(file), "--out", str(out), "--json"]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | more,
        start_new_session=True,
    )


def kill_after_runs(process: subprocess.Popen[str], out: Path, runs: int) -> None:
    """Ends the process without warning when so many runs are there."""
    while len(list(out.rglob("*.jsonl"))) < runs and process.poll() is None:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def finish(file: Path, out: Path) -> dict[str, object]:
    stdout, stderr = (process := run(file, out)).communicate()
    assert process.returncode == 0, stderr
    document: dict[str, object] = json.loads(stdout)
    return document


@pytest.mark.slow
def test_the_appworld_experiment_is_killed_goes_on_and_ends_with_table_2(tmp_path: Path) -> None:
    with serve() as url:
        write_root(tmp_path / "data" / "appworld")
        text = without_models("appworld", ("careful", "hasty", "follower"), str(BENCH / "appworld_target.py"))
        text = text.replace("http://127.0.0.1:8000", url).replace('"test_normal", "test_challenge"]', '"test_normal"]')
        text = text.replace(', "@data/appworld/data/datasets/test_challenge.txt"', "")
        file, out = tmp_path / "appworld.toml", tmp_path / "out"
        file.write_text(text)
        kill_after_runs(run(file, out), out, 3)
        kept = {path: path.stat().st_mtime_ns for path in out.rglob("*.jsonl") if "memory" not in path.parts}
        finish(file, out)
        assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    table = (out / "paper.md").read_text()
    assert "Table 2" in table and "TGC test_normal" in table and "SGC test_normal" in table
    assert "source macro" in table


@pytest.mark.slow
@pytest.mark.skipif(not Installation(default_folder()).is_there, reason="ARE is not installed")
def test_the_gaia2_experiment_is_killed_goes_on_and_ends_with_table_1(tmp_path: Path) -> None:
    shutil.copytree(BENCH / "are_scenarios", tmp_path / "data" / "gaia2")
    text = without_models("gaia2", ("careful", "hasty"), str(BENCH / "are_engine.py"))
    text = text.replace("reference = 40", "reference = 2").replace("held_out = 40", "held_out = 1")
    text = text.replace('judge = "llm"', 'judge = "scripted"')
    text = re.sub(
        r"^run = .*", 'run = ["none", "self", "contramem", "append-only", "awm", "ace"]', text, flags=re.MULTILINE
    )
    text = text.replace('"execution", "search", "ambiguity", "adaptability", "time"]', '"execution", "time"]')
    file, out = tmp_path / "gaia2.toml", tmp_path / "out"
    file.write_text(text)
    kill_after_runs(run(file, out), out, 2)
    kept = len([path for path in out.rglob("*.jsonl") if "reference" in path.parts])
    finish(file, out)
    assert kept >= 1
    table = (out / "paper.md").read_text()
    for words in (
        "Table 1",
        "pooled flips",
        "contramem against each other memory",
        "Skill Cards by ability",
        "Agent events",
    ):
        assert words in table
    assert "Figure A1" in (out / "report.html").read_text()
