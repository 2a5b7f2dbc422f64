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
from tests.lab.bench.appworld_server import serve, write_root
from tests.lab.bench.are_runs import needs_are

ROOT = Path(__file__).parents[3]
BENCH = ROOT / "tests" / "lab" / "bench"


def without_models(name: str, targets: tuple[str, ...], engines: str) -> str:
    """The shipped file with scripted targets in place of models, memories by rules, and small numbers."""
    text = (ROOT / "experiments" / f"{name}.toml").read_text(encoding="utf-8")
    text = re.sub(r'\[targets\."[^\n]*\n.*?(?=\n\[)', "", text, flags=re.DOTALL)
    text = re.sub(r"\[construction\].*", "", text, flags=re.DOTALL)
    text = re.sub(r"collect = .*", 'collect = ["careful", "hasty"]', text)
    tables = (f'[targets.{one}]\nkind = "python"\npython = "{engines}:{one}"\n' for one in targets)
    return text + "\n".join(tables)


def run(file: Path, out: Path, **more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "contramem", "lab", "experiment", "run", str(file), "--out", str(out), "--json"]
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
        time.sleep(0.1)
    assert process.poll() is None, process.communicate()[1]
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
    assert "| Target | Method | TGC test_normal | SGC test_normal | Δ Base test_normal |" in table
    assert "| Target macro | contramem |" in table


@needs_are
@pytest.mark.slow
def test_the_gaia2_experiment_is_killed_goes_on_and_ends_with_tables_1_and_3(tmp_path: Path) -> None:
    """The shipped file with its conditions, its ablations for one target, and two abilities of five."""
    scenarios = tmp_path / "data" / "gaia2"
    for ability in ("execution", "time"):
        shutil.copytree(BENCH / "are_scenarios" / ability, scenarios / ability)
    (scenarios / "execution" / "validation" / "broken.json").write_text("{")
    text = without_models("gaia2", ("careful", "hasty", "follower"), str(BENCH / "are_engine.py"))
    text = text.replace("reference = 40", "reference = 2").replace("held_out = 40", "held_out = 1")
    text = text.replace('judge = "llm"', 'judge = "scripted"').replace('judge_key = "OPENAI_API_KEY"', "")
    text = text.replace('"gpt-5.5", "claude-sonnet-4.6", "deepseek-v4-pro"', '"careful", "hasty"')
    text = text.replace('"gpt-5.5"', '"careful"')
    text = text.replace('"execution", "search", "ambiguity", "adaptability", "time"]', '"execution", "time"]')
    file, out = tmp_path / "gaia2.toml", tmp_path / "out"
    file.write_text(text)
    kill_after_runs(run(file, out), out, 3)
    kept = {path: path.stat().st_mtime_ns for path in out.rglob("*.jsonl") if "reference" in path.parts}
    done = finish(file, out)
    assert len(kept) >= 3
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    assert any("broken.json: is not an ARE scenario" in str(note) for note in done["notes"])
    table = (out / "paper.md").read_text()
    for words in (
        "| Target | Method | Execution | Time | Overall |", "| Source macro | contramem |", "| follower | No memory |",
        "| Pooled flips |", "| careful | Multi-rollout |", "| careful | Function Cards only |", "Table A2",
        "Table A4: the Curator", "| careful | AWM |", "contramem against each other memory", "| contramem Skill bank |",
    ):  # fmt: skip
        assert words in table, words
    page = (out / "report.html").read_text()
    assert all(f"Figure {name}" in page for name in ("1", "3", "A1", "A2", "B1"))
