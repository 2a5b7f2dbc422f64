"""The flagship example: its runs can be made again, its tasks solved, its comparison comes out as the README says."""

from __future__ import annotations

import importlib.util
import json
import lzma
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples" / "northline"


@pytest.fixture(autouse=True)
def examples_on_the_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(FOLDER.parent))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "northline"]:
        del sys.modules[name]


def test_the_scripted_agents_make_the_recorded_runs_again() -> None:
    from northline.agents import record

    with lzma.open(FOLDER / "runs.jsonl.xz", "rt", encoding="utf-8") as lines:
        recorded = [line.rstrip() for line in islice(lines, 72)]
    assert [json.dumps(run) for run in islice(record(60, 1), 72)] == recorded


def test_every_held_out_task_has_a_solution_that_passes() -> None:
    from northline.environment import Northline

    environment = Northline()
    for task_id in environment.tasks():
        session = environment.start(task_id)
        assert not session.verify().passed, f"{task_id} passes without a call"
        for turn in environment.solution(task_id).turns:
            for call in turn:
                session.call(call.function, call.arguments)
        assert session.verify().passed, task_id


def test_the_readme_gives_the_comparison_that_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("compare", FOLDER / "compare.py")
    assert spec is not None and spec.loader is not None
    compare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compare)
    verdicts = {arm: compare.judge_file(FOLDER / f"heldout-{arm}.jsonl.xz") for arm in compare.ARMS}
    rows = [compare.summarize(arm, verdicts[arm], verdicts["none"]) for arm in compare.ARMS]
    assert [(row["passed"], len(row["gained"]), len(row["harmed"])) for row in rows] == [
        (11, 0, 0),
        (12, 1, 0),
        (31, 20, 0),
    ]
    readme = (FOLDER / "README.md").read_text(encoding="utf-8").replace("**", "")
    for row in rows:
        assert f"| {compare.ARMS[row['arm']]} | {row['passed']} |" in readme
        assert f"| {row['events']} | {row['held']} |" in readme
