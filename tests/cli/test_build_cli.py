"""`contramem build` as a user meets it: options, what it prints, and what it says when something is wrong."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from tests.shipped import RUNS, bank, build, complaint, contramem, decisions, frozen, shipped, written

from contramem.bank.ledger import fold
from contramem.bank.store import open_store
from contramem.traces.trajectory import Trajectory

KEYS = {
    "packets", "contrastive", "left_out", "unchanged", "deltas", "decisions", "function_decisions", "refused",
    "retired", "functions", "skills", "out",
}  # fmt: skip
FEW = ("drive", "desk")
TASKS = {run.task_key for run in shipped(*FEW)}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of two scenarios."""
    return written(tmp_path_factory.mktemp("runs") / "runs.jsonl", shipped(*FEW))


@pytest.fixture(scope="module")
def whole(runs: Path) -> Path:
    """The bank of these runs."""
    path = runs.with_name("bank.db")
    build(path, runs)
    return path


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A small collection: the runs of the help desk."""
    return written(tmp_path / "desk.jsonl", shipped("desk"))


def test_tasks_beyond_the_limit_are_counted_and_left_out(tmp_path: Path, desk: Path) -> None:
    tasks = {run.task_key: run.ability for run in shipped("desk")}
    said = build(tmp_path / "bank.db", desk, "--max-tasks", "1", "--workers", "1")
    assert said["packets"] == len(tasks)
    assert said["left_out"] == {ability: n - 1 for ability, n in Counter(tasks.values()).items() if n > 1}


def test_the_summary_for_machines_counts_what_is_in_the_store(runs: Path, tmp_path: Path) -> None:
    said = build(tmp_path / "bank.db", runs)
    assert set(said) == KEYS
    assert said["packets"] == len(TASKS) > said["contrastive"] > 0
    held, made = bank(tmp_path / "bank.db"), decisions(tmp_path / "bank.db")
    assert said["functions"] == len(held.functions) > 0
    assert said["skills"] == {ability: len(held.skills_of(ability)) for ability in held.abilities}
    accepted = [decision for decision in made if decision.accepted]
    assert sum(said["decisions"].values()) + sum(said["function_decisions"].values()) == len(accepted)
    assert said["deltas"] == sum(decision.ability is not None and decision.candidate is not None for decision in made)


def test_the_summary_for_people_says_what_was_decided_and_what_to_do_next(desk: Path, tmp_path: Path) -> None:
    said = contramem("build", desk, "--bank", tmp_path / "bank.db").stdout
    assert re.search(r"Function Cards: \d+ added\. Skill Cards: \d+ added", said)
    assert re.search(r"\((enforced|proven|observed), \d tasks?\)", said)
    assert "contramem cards freeze" in said


def test_a_build_without_flags_writes_the_bank_that_agents_load_and_keeps_its_store_beside_it(
    desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = contramem("build", desk).stdout
    assert {path.name for path in tmp_path.iterdir()} >= {"bank.db", "bank.jsonl"}
    assert "Agents load bank.jsonl; bank.db keeps every decision" in said
    assert "guide 'A TASK OF YOURS' --bank bank.jsonl" in said
    contramem("cards", "freeze", "bank.db", "--out", "bank.jsonl", "--profile", "small")
    before = Path("bank.jsonl").read_bytes()
    contramem("build", desk)
    assert Path("bank.jsonl").read_bytes() == before, "the profile that was chosen stays"
    edited = before.replace(b"ticket", b"letter")
    Path("bank.jsonl").write_bytes(edited)
    assert "bring its edits into the store with `contramem bank import`" in complaint(capsys, "build", desk)
    assert Path("bank.jsonl").read_bytes() == edited


def document_with_a_title(run: Trajectory) -> Trajectory:
    """The same run, where the documentation of a tool quotes what one of the runs has written."""
    quoted = "Opens a ticket such as Heating in room 4 is off."
    tools = [
        msgspec.structs.replace(tool, description=quoted) if tool.function.endswith(".create_ticket") else tool
        for tool in run.tools
    ]
    return msgspec.structs.replace(run, tools=tuple(tools))


def test_every_refusal_is_in_the_ledger_with_its_reason(tmp_path: Path) -> None:
    whole = tmp_path / "bank.db"
    build(whole, written(tmp_path / "runs.jsonl", [document_with_a_title(run) for run in shipped("desk")]))
    refused = [decision for decision in decisions(whole) if not decision.accepted]
    assert refused
    for decision in refused:
        assert re.match(r"(schema|evidence|closure|privacy|poison|bank): \S", decision.reason)
        assert decision.candidate is not None
        assert not decision.changes
    again = json.loads(contramem("cards", "history", whole, "--json").stdout)
    assert [entry["reason"] for entry in again if not entry["accepted"]] == [entry.reason for entry in refused]


def test_the_bank_equals_the_replayed_ledger(whole: Path) -> None:
    with open_store(whole) as store:
        assert fold(store.ledger()) == store.bank()


def test_only_functions_and_only_skills_together_give_the_whole_bank(whole: Path, runs: Path, tmp_path: Path) -> None:
    build(tmp_path / "functions.db", runs, "--only", "functions")
    build(tmp_path / "skills.db", runs, "--only", "skills")
    functions, skills, both = bank(tmp_path / "functions.db"), bank(tmp_path / "skills.db"), bank(whole)
    assert (functions.functions, functions.skills) == (both.functions, ())
    assert skills.functions == ()
    assert {card.card_id for card in skills.skills} == {card.card_id for card in both.skills}


def test_only_the_named_sources_are_learned_from(runs: Path, tmp_path: Path) -> None:
    named = ["scripted-careful", "scripted-hasty"]
    said = build(tmp_path / "bank.db", runs, "--sources", " , ".join(named))
    assert said["packets"] == len(TASKS)
    held = bank(tmp_path / "bank.db").entries.values()
    taught = {source for holding in held for source in holding.support.sources}
    assert taught
    assert taught <= set(named)
    only = [run for run in shipped(*FEW) if run.source in named]
    build(tmp_path / "same.db", written(tmp_path / "only.jsonl", only))
    assert frozen(tmp_path / "bank.db") == frozen(tmp_path / "same.db")


@pytest.mark.parametrize("sources", ["scripted-careful,gpt-9", ""])
def test_a_source_that_no_run_has_is_named_with_those_that_exist(
    sources: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = complaint(capsys, "build", RUNS, "--bank", tmp_path / "bank.db", "--sources", sources)
    assert f"there are no runs by {sources.rpartition(',')[2]!r}" in said
    assert "scripted-careful, " in said
    assert not (tmp_path / "bank.db").exists()


def test_append_only_keeps_at_least_as_many_skills(whole: Path, runs: Path, tmp_path: Path) -> None:
    said = build(tmp_path / "bank.db", runs, "--append-only")
    assert set(said["decisions"]) == {"ADD"}
    assert len(bank(tmp_path / "bank.db").skills) == said["decisions"]["ADD"] >= len(bank(whole).skills)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "there is no such file or folder", id="missing"),
        pytest.param("", "no ", id="empty"),
        pytest.param("# Notes\n\nno traces here\n", "no ", id="prose"),
        pytest.param('{"format":"contramem-trace","version":99}\n{}\n', "99", id="newer"),
    ],
)
def test_input_without_runs_is_reported_and_creates_no_store(
    content: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runs.jsonl"
    if content is not None:
        path.write_text(content)
    assert said in complaint(capsys, "build", path, "--bank", tmp_path / "bank.db")
    assert not (tmp_path / "bank.db").exists()


def test_a_damaged_line_is_reported_and_the_other_runs_are_learned_from(desk: Path, tmp_path: Path) -> None:
    whole = desk.read_text()
    desk.write_text(whole + '{"environment": "bfcl/desk", "task_id"\n')
    said = contramem("build", desk, "--bank", tmp_path / "bank.db", "--json")
    assert f"{desk}:{len(whole.splitlines()) + 1}" in said.stderr
    assert json.loads(said.stdout)["packets"] == len({run.task_key for run in shipped("desk")})


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("no/such/folder/bank.db", "does not exist. Create it first"),
        (".", "is a folder. A store is a file."),
        ("desk.jsonl", "is not a store"),
        ("mysql://host/bank", "is not a store"),
    ],
)
def test_a_path_where_no_store_can_be_created_is_reported(
    where: str,
    said: str,
    desk: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    before = desk.read_bytes()
    assert said in complaint(capsys, "build", desk, "--bank", where)
    assert desk.read_bytes() == before


@pytest.mark.slow
def test_a_build_that_kept_its_work_gives_the_bank_and_ledger_of_one_that_kept_nothing(tmp_path: Path) -> None:
    """First one scenario, then both: into a new store, and into the store of the first."""
    folder, cache = tmp_path / "runs", ("--cache", str(tmp_path / "kept.runs"))
    folder.mkdir()
    written(folder / "desk.jsonl", shipped("desk"))
    for store in ("kept.db", "plain.db"):
        build(tmp_path / store, folder, *(cache if store == "kept.db" else ("--no-cache",)))
    written(folder / "drive.jsonl", shipped("drive"))
    for store in ("kept.db", "kept-new.db"):
        build(tmp_path / store, folder, *cache)
    for store in ("plain.db", "plain-new.db"):
        build(tmp_path / store, folder, "--no-cache")
    for kept, plain in (("kept.db", "plain.db"), ("kept-new.db", "plain-new.db")):
        assert frozen(tmp_path / kept) == frozen(tmp_path / plain)
        assert decisions(tmp_path / kept) == decisions(tmp_path / plain)


def test_few_runs_are_not_kept_unless_somebody_says_where(tmp_path: Path, desk: Path) -> None:
    build(tmp_path / "bank.db", desk)
    assert not (tmp_path / "bank.db.runs").exists()
    build(tmp_path / "bank.db", desk, "--cache", str(tmp_path / "kept.runs"))
    assert (tmp_path / "kept.runs").exists()


def test_many_runs_are_kept_beside_their_store_and_forgotten_with_it(
    tmp_path: Path, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contramem.cli.engine_options.MIN_KEPT_BYTES", 1)
    monkeypatch.chdir(tmp_path)
    build(tmp_path / "bank.db", desk)
    assert (tmp_path / "bank.db.runs").stat().st_mode & 0o777 == 0o600
    source = shipped("desk")[0].source
    contramem("bank", "forget", tmp_path / "bank.db", "--source", source, "--yes")
    assert not (tmp_path / "bank.db.runs").exists()
