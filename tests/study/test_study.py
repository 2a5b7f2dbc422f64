"""The instruments on small offices: kinds, halves, trials, conditions, explanations, SQL."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tests.study.office import NOTE_RULE, note_office, write_office

from contramem.cli import cli
from contramem.errors import GuardError, UsageError
from contramem.guards.guard import parse_guard
from contramem.study.ask import TrialRequest, explain_kind, list_kinds, try_on
from contramem.study.atoms import collect_atoms, find_boundary, names_an_amount
from contramem.study.masks import GuardMasks, mask_of
from contramem.study.run_masks import RunMasks
from contramem.study.run_set import RunSet
from contramem.study.sharpen import Conditions
from contramem.study.tables import RunTables, open_tables
from contramem.study.trial import try_guard


@pytest.fixture(scope="module")
def office() -> RunSet:
    """Credit notes above 500 must go to the finance lead; smaller ones must not be assigned."""
    return RunSet.of(note_office())


@pytest.fixture(scope="module")
def tables() -> Iterator[RunTables]:
    with open_tables(RunSet.of(note_office())) as opened:
        yield opened


def test_tasks_with_the_same_functions_and_wording_are_one_kind(office: RunSet) -> None:
    kinds = list_kinds(office)
    assert [len(kind.tasks) for kind in kinds] == [16, 4]
    assert kinds[0].by_source.keys() == {"careful", "eager", "hasty"}


@pytest.mark.slow
def test_kinds_have_the_same_names_in_every_process(tmp_path: Path) -> None:
    runs = write_office(tmp_path)
    command = [sys.executable, "-m", "contramem", "kinds", runs, "--json"]
    answers = [
        subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    ]
    assert answers[0] == answers[1]


def test_every_kind_is_divided_into_halves(office: RunSet) -> None:
    for kind in office.kinds:
        kept_back = sum(office.halves[task] == "kept back" for task in kind.tasks)
        assert abs(kept_back * 2 - len(kind.tasks)) <= 1


def test_a_rule_that_decides_is_supported_and_its_opposite_is_contradicted(office: RunSet) -> None:
    rule = try_guard(parse_guard(NOTE_RULE), office.evidence, office)
    assert rule.judgement == "supported"
    assert rule.counts.broke_passed == 0
    opposite = try_guard(parse_guard("absence(Office.assign_owner)"), office.evidence, office)
    assert opposite.judgement == "contradicted"


def test_a_condition_on_the_amount_is_found_for_a_rule_that_needs_one(office: RunSet, tmp_path: Path) -> None:
    request = TrialRequest("response(Office.create_note, Office.assign_owner)", log=tmp_path / "trials.jsonl")
    report = try_on(office, request)
    assert report.trial.judgement == "contradicted"
    conditions = {str(split.guard).partition(" when ")[2] for split in report.splits}
    assert any(condition.startswith("Office.create_note[amount > ") for condition in conditions)
    assert all(split.inside.broke_passed == 0 for split in report.splits[:1])


def test_what_was_tried_on_one_half_is_proven_on_the_other_and_every_look_is_counted(
    office: RunSet, tmp_path: Path
) -> None:
    log = tmp_path / "trials.jsonl"
    report = try_on(office, TrialRequest(NOTE_RULE, confirm=True, log=log, by="ada"))
    assert report.grade == "proven"
    assert (report.tried, report.looks) == (1, 1)
    false = try_on(office, TrialRequest("existence(Office.look)", confirm=True, log=log))
    assert false.grade == ""
    again = try_on(office, TrialRequest(NOTE_RULE, confirm=True, log=log)).confirmation
    assert again is not None
    assert (again.is_repeated, again.looks, again.is_proven) == (True, 1, True)


def test_a_long_fruitless_search_makes_the_next_proof_harder(office: RunSet, tmp_path: Path) -> None:
    log = tmp_path / "trials.jsonl"
    for number in range(8):
        try_on(
            office,
            TrialRequest(
                f"absence(Office.assign_owner) when Office.create_note[amount > {number}]", confirm=True, log=log
            ),
        )
    late = try_on(office, TrialRequest(NOTE_RULE, confirm=True, log=log)).confirmation
    early = try_on(office, TrialRequest(NOTE_RULE, confirm=True, log=tmp_path / "fresh.jsonl")).confirmation
    assert late is not None
    assert early is not None
    assert late.level < early.level


def test_explain_finds_the_rule_with_its_condition_among_the_first(office: RunSet) -> None:
    (report,) = explain_kind(office, function="Office.create_note", on_all=True)
    texts = [str(guard) for found in report.explanation.differences[:3] for guard in (found.guard, *found.same)]
    assert any("Office.assign_owner" in text and "amount" in text for text in texts)
    assert report.explanation.unexplained <= 2


def test_a_condition_that_few_tasks_speak_for_is_doubtful(office: RunSet) -> None:
    """Some amount divides three tasks without an exception by luck; one that divides sixteen tasks so is no luck."""
    runs = office.select()
    masks = RunMasks(runs, office)
    notes = [place for place, run in enumerate(runs) if "note-" in run.task]
    guard = GuardMasks.of_verdicts(
        ["vacuous" if place not in notes else "holds" if "Office.assign_owner" in run.called else "broken"
         for place, run in enumerate(runs)]
    )  # fmt: skip
    conditions = Conditions(masks, collect_atoms(runs))
    (splits,) = conditions.sharpen([guard])
    by_amount = next(split for split in splits if "amount > 500" in split.condition)
    assert by_amount.by_luck < 0.01
    few = mask_of(place for place in notes if runs[place].task.partition("#")[0][-1] in "789")
    (splits,) = conditions.sharpen([guard.within(few)])
    assert min(split.by_luck for split in splits) > 1


@pytest.mark.parametrize(
    ("guard", "complaint"),
    [
        ("existence(assign_owner)", "Write Office.assign_owner"),
        ("existence(Office.asign_owner)", "no run calls Office.asign_owner. Perhaps Office.assign_owner"),
        ("always(Office.assign_owner)", "there is no template 'always'"),
    ],
)
def test_a_guard_that_cannot_be_tried_is_refused_with_what_was_meant(
    office: RunSet, guard: str, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(GuardError, match=complaint):
        try_on(office, TrialRequest(guard, log=tmp_path / "trials.jsonl"))


def test_runs_can_be_asked_in_sql(tables: RunTables) -> None:
    answer = tables.query(
        "SELECT passed, count(*) FROM runs JOIN arguments USING (run_id) WHERE argument = 'amount' AND number > 500 "
        "GROUP BY passed ORDER BY passed"
    )
    assert answer.rows == [(False, 8), (True, 16)]
    assert tables.query("SELECT count(DISTINCT kind) FROM kinds").rows == [(2,)]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM runs",
        "CREATE TABLE mine AS SELECT 1",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "COPY runs TO '/tmp/stolen.csv'",
        "ATTACH '/tmp/other.db'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "SELECT nonsense FROM runs",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/*')",
        "CREATE TEMP TABLE mine AS SELECT 1",
        "EXPORT DATABASE '/tmp/stolen'",
        "PRAGMA database_list",
        "SELECT 1; SELECT 2",
        "",
    ],
)
def test_sql_that_writes_or_touches_the_disk_is_refused(tables: RunTables, sql: str) -> None:
    with pytest.raises(UsageError, match="the database can only be read"):
        tables.query(sql)


def test_a_query_without_end_is_stopped(tables: RunTables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contramem.study.tables.MAX_SECONDS", 0.05)
    with pytest.raises(UsageError, match="was stopped"):
        tables.query("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t")


def test_a_value_that_would_fill_the_memory_is_refused(tables: RunTables) -> None:
    with pytest.raises(UsageError, match="more than 2 GB of memory"):
        tables.query("SELECT repeat('x', 4000000000)")
    assert tables.query("SELECT count(*) FROM runs").rows == [(60,)]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_a_boundary_lies_between_what_was_seen(low: float, width: float) -> None:
    assert low - 1e-6 <= find_boundary(low, low + width) < low + width


def test_a_boundary_is_round() -> None:
    assert find_boundary(480, 512) == 500
    assert find_boundary(40, 60) == 50


def test_the_commands_answer_people_and_machines(tmp_path: Path) -> None:
    runs, log = write_office(tmp_path), str(tmp_path / "trials.jsonl")
    invoke = CliRunner().invoke
    assert "create_note" in invoke(cli, ["author", "kinds", runs]).output
    assert (
        '"grade": "proven"'
        in invoke(cli, ["author", "try", NOTE_RULE, runs, "--confirm", "--json", "--trials", log]).output
    )
    assert (
        "on the half kept back: proven"
        in invoke(cli, ["author", "try", NOTE_RULE, runs, "--confirm", "--trials", log]).output
    )
    assert "Office.assign_owner" in invoke(cli, ["author", "explain", runs]).output
    assert (
        '"passed": 44'
        in invoke(cli, ["author", "query", runs, "SELECT count(*) AS passed FROM runs WHERE passed", "--json"]).output
    )
    assert "arguments(run_id BIGINT" in invoke(cli, ["author", "query", runs, "--schema"]).output


@pytest.mark.parametrize(
    ("name", "is_amount"), [("amount", True), ("order_id", False), ("zip", False), ("total", True)]
)
def test_identifiers_are_not_compared_as_amounts(name: str, is_amount: bool) -> None:
    assert names_an_amount(name) == is_amount
