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
    from northline.record import record

    with lzma.open(FOLDER / "runs.jsonl.xz", "rt", encoding="utf-8") as lines:
        recorded = [line.rstrip() for line in islice(lines, 72)]
    assert [json.dumps(run) for run in islice(record(60, 1), 72)] == recorded


@pytest.mark.parametrize("rule", [f"S{number:02d}" for number in range(1, 15)])
def test_an_agent_that_keeps_every_rule_but_one_fails_by_that_one(rule: str) -> None:
    from northline.agents import Agent
    from northline.judge import judge
    from northline.scripts import run_script
    from northline.tasks import NorthlineTask

    tasks = [NorthlineTask(f"t{number:03d}", seed=1) for number in range(24)]
    verdicts = [judge(task, run_script(task, Agent("careless", breaks={rule: 1.0}), 1).calls) for task in tasks]
    assert {broken for verdict in verdicts for broken in verdict} == {rule}


def test_a_call_that_nobody_asked_for_misses_the_goal() -> None:
    from northline.environment import Northline

    environment = Northline()
    session = environment.start("h000")
    for call in environment.solution("h000").turns[0]:
        session.call(call.function, call.arguments)
    assert session.verify().passed
    order = next(call.arguments for call in environment.solution("h000").turns[0] if "order_id" in call.arguments)
    assert session.call("northline.hold_order", {"order_id": order["order_id"], "reason": "STOCK"}).error is None
    assert not session.verify().passed


def test_a_refusal_says_what_a_tool_takes() -> None:
    from northline.environment import Northline

    session = Northline().start("h000")
    assert session.call("northline.lookup_code", {"term": "lost"}).error == (
        "Error: no code for 'lost'; terms are late, damaged, short, price, other"
    )
    assert session.call("northline.count_stock", {"sku": "x"}).error == "Error: count_stock needs 'warehouse'"


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
    files = {arm: FOLDER / f"heldout-{arm}.jsonl.xz" for arm in compare.ARMS}
    verdicts = {arm: compare.judge_file(path) for arm, path in files.items()}
    rows = [compare.summarize(arm, verdicts[arm], verdicts["none"]) for arm in compare.ARMS]
    assert [(row["passed"], len(row["gained"]), len(row["harmed"])) for row in rows] == [
        (11, 0, 0),
        (12, 1, 0),
        (31, 20, 0),
    ]
    readme = (FOLDER / "README.md").read_text(encoding="utf-8").replace("**", "")
    recorded = {
        arm: sum(bool(run.outcome.passed) for run in compare.read_traces([path])) for arm, path in files.items()
    }
    assert recorded == {row["arm"]: row["passed"] for row in rows}, "the verdicts in the files are those of the judge"
    for row in rows:
        assert f"| {compare.ARMS[row['arm']]} | {row['passed']} |" in readme
        assert f"| {row['events']} | {row['held']} |" in readme
