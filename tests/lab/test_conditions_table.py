"""The table of conditions on recorded runs: one command, no key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.shipped import complaint, contramem, shipped, written

from contramem.collection.runs import Collection
from contramem_lab.conditions import CONDITIONS, pick_conditions
from contramem_lab.foresight import share
from contramem_lab.measure import CONTROLS, MeasurementPlan, Measurements, as_json, compare_foresight, measure
from contramem_lab.measure import write_tables as tables_of

pytestmark = pytest.mark.slow  # every condition is built and measured on two splits


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Measurements:
    """All conditions on two splits of the shipped runs."""
    with Collection(shipped()) as pool:
        tasks = list(pool)
    return measure(tasks, MeasurementPlan(list(CONDITIONS.values()), tmp_path_factory.mktemp("stores"), splits=2))


def test_every_condition_has_a_row_in_every_table(table: Measurements) -> None:
    assert [row.name for row in table.rows] == list(CONDITIONS)
    foresight, runtime, construction = tables_of(table)
    for written_table in (runtime, construction):
        assert [str(row[0]) for row in written_table.rows] == list(CONDITIONS)
    assert {str(row[0]) for row in foresight.rows} >= {*CONDITIONS, *CONTROLS}


def test_conditions_without_an_order_or_a_memory_are_not_a_number(table: Measurements) -> None:
    scores = {one.name: one.score for one in compare_foresight(table)}
    without = [name for name in CONDITIONS if scores[name] is None]
    assert without == ["none", "multi-rollout", "function-only", "agent"]
    row = table.row("multi-rollout")
    assert row is not None
    assert row.mean_tokens is None
    assert "ran each task once" in row.not_applicable
    assert "multi-rollout is n/a" in tables_of(table)[0].as_markdown()


def test_every_memory_is_measured_on_the_same_pairs(table: Measurements) -> None:
    asked = {
        row.name: {key: order.pairs for key, order in row.orders.items()} for row in (*table.rows, *table.controls)
    }
    (same,) = {tuple(sorted(pairs.items())) for pairs in asked.values() if pairs}
    assert len(same) == table.tasks


def test_a_score_is_a_share_of_pairs_and_contramem_is_compared_with_the_best_other(table: Measurements) -> None:
    found = {one.name: one for one in compare_foresight(table)}
    for row in table.rows:
        assert found[row.name].score == share(list(row.orders.values()))
    against = found["contramem"].difference
    assert against is not None
    ours = table.row("contramem")
    assert ours is not None
    others = [row.score or 0 for row in table.rows if row.orders and row.orders != ours.orders]
    assert found[against.to].score == max(others)
    assert against.value == pytest.approx((ours.score or 0) - max(others))
    assert found["raw"].difference is not None
    assert found["raw"].difference.to == "contramem"


def test_json_has_the_numbers_of_the_tables(table: Measurements) -> None:
    told = as_json(table)
    assert set(told["conditions"]) == set(CONDITIONS)
    assert told["conditions"]["none"]["memory_tokens"]["mean"] == 0
    assert told["conditions"]["contramem"]["construction"]["by"] == "rules"
    assert json.dumps(told)


def test_one_command_prints_the_table_and_writes_the_report(tmp_path: Path) -> None:
    runs = written(tmp_path / "runs.jsonl", shipped())
    files = {kind: tmp_path / f"report.{kind}" for kind in ("html", "markdown", "latex")}
    asked = [part for kind, path in files.items() for part in (f"--{kind}", path)]
    told = contramem("lab", "conditions", runs, "--conditions", "none,contramem,awm", *asked)
    assert told.exit_code == 0
    for words in ("Foresight", "Memory tokens", "Construction", "contramem", "awm"):
        assert words in told.stdout
    assert "raw" not in told.stdout
    assert files["html"].read_text().startswith("<!doctype html>")
    assert "| contramem |" in files["markdown"].read_text().replace("**", "")
    assert r"\begin{table}" in files["latex"].read_text()


def test_a_usage_error_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = written(tmp_path / "runs.jsonl", shipped("drive"))
    asked = ("lab", "conditions", runs)
    assert "cannot be split in two" in complaint(capsys, *asked)
    assert "no condition 'cram'" in complaint(capsys, *asked, "--conditions", "cram")
    assert "no runs of 'nobody'" in complaint(capsys, *asked, "--target", "nobody")
    assert "--work DIR" in complaint(capsys, *asked, "--model", "openai:gpt-5.5")


def test_a_plan_of_one_condition_compares_nothing(tmp_path: Path) -> None:
    with Collection(shipped()) as pool:
        found = measure(list(pool), MeasurementPlan(pick_conditions("none"), tmp_path))
    assert all(one.difference is None for one in compare_foresight(found))
