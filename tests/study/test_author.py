"""A coding agent as author: the tools it is offered, and where it finds the skill."""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.study.office import NOTE_RULE, note_office, write_office

from contramem.bank.store import open_store
from contramem.cli import cli
from contramem.guards.guard import parse_guard
from contramem.study.run_set import RunSet
from contramem.study.tables import open_tables

mcp = pytest.importorskip("mcp", reason="the author's server is an extra: pip install 'contramem[author]'")


def _ask(folder: Path, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """What the tools answer to these calls, one after the other."""
    from contramem.study.mcp_author import author_server, open_instruments

    async def ask() -> list[str]:
        store, log = str(folder / "bank.db"), folder / "trials.jsonl"
        run_set = RunSet.of(note_office())
        with open_tables(run_set) as tables:
            server = author_server(lambda: open_instruments(run_set, tables, store, "coder", log))
            async with mcp.Client(server) as client:
                return [(await client.call_tool(name, given)).content[0].text for name, given in calls]

    return asyncio.run(ask())


def recorded(answer: str) -> str:
    """What runs say, which stands between data marks."""
    opening, text = answer.split("\n", 1)
    assert re.fullmatch(r"<recorded [0-9a-f]{8}>", opening)
    return text.removesuffix(f"\n</{opening[1:]}")


def test_an_agent_looks_tries_confirms_and_proposes(tmp_path: Path) -> None:
    card = {"title": "Assign large notes", "when": "A large note.", "rule": "Assign it.", "guards": [NOTE_RULE]}
    kinds, rows, differences, tried, proposed, cards = _ask(
        tmp_path,
        ("show_kinds", {}),
        ("query_runs", {"sql": "SELECT count(*) AS runs FROM runs"}),
        ("explain_runs", {"function": "Office.create_note"}),
        ("try_guard", {"guard": NOTE_RULE, "confirm": True}),
        ("propose_card", card),
        ("show_cards", {}),
    )
    assert recorded(kinds).startswith("20 tasks of 2 kinds")
    assert recorded(rows) == "runs\n60"
    assert "; explains " in recorded(differences)
    assert "supported, proven." in tried
    assert proposed.startswith("accepted as decision 1 ADD: Assign large notes skill::")
    assert NOTE_RULE in cards
    with open_store(str(tmp_path / "bank.db")) as store:
        assert [str(entry.decision.by) for entry in store.ledger()] == ["coder"]


def test_what_an_agent_did_wrong_is_told_as_an_answer(tmp_path: Path) -> None:
    answers = _ask(
        tmp_path,
        ("query_runs", {"sql": "DROP TABLE runs"}),
        ("try_guard", {"guard": "existence(assign_owner)"}),
        ("explain_runs", {"kind": "nonsense"}),
        ("propose_card", {"title": "No guard", "when": "A note.", "rule": "Assign it.", "guards": []}),
        ("propose_card", {"title": "Only a title"}),
    )
    assert all(answer.startswith("Not done: ") for answer in answers[:3])
    assert "neither a guard nor a check" in answers[3]
    assert "Field required" in answers[4]


REFUSED_SQL = {
    "DELETE FROM runs": "DELETE is refused: only SELECT",
    "COPY runs TO '{file}'": "COPY is refused: only SELECT",
    "SELECT 1; SELECT 2": "one SELECT",
    "SELECT * FROM read_text('{file}')": "disabled",
    "SELECT * FROM '{file}'": "disabled",
    "INSTALL httpfs": "LOAD is refused: only SELECT",
    "SET enable_external_access = true": "SET is refused: only SELECT",
    "SELECT nonsense FROM runs": "nonsense",
}


def test_a_query_of_an_agent_neither_writes_nor_touches_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("salary\n4711\n")
    queries = [*(sql.format(file=secret) for sql in REFUSED_SQL), "SELECT count(*) AS runs FROM runs"]
    *refused, after = _ask(tmp_path, *(("query_runs", {"sql": sql}) for sql in queries))
    for answer, complaint in zip(refused, REFUSED_SQL.values(), strict=True):
        assert answer.startswith("Not done: ")
        assert complaint in answer
        assert "4711" not in answer
    assert recorded(after) == "runs\n60"
    assert secret.read_text() == "salary\n4711\n"


WRONG_GUARDS = {
    "precedense(Office.look, Office.assign_owner)": "Perhaps precedence?",
    "response(Office.create_note": "Write, for example, precedence(App.search, App.delete)",
    "absence(Office.create_note[amount equals the usual])": "is nothing to compare with",
    "absence(Office.create_note[amont > 500])": "It takes amount, invoice. Perhaps amount?",
    "absence(Office.create_nots)": "Perhaps Office.create_note?",
}


def test_a_guard_that_says_nothing_is_answered_with_what_to_write(tmp_path: Path) -> None:
    card = {"title": "Notes", "when": "A note.", "rule": "Assign it."}
    calls: list[tuple[str, dict[str, Any]]] = [("try_guard", {"guard": guard}) for guard in WRONG_GUARDS]
    calls += [("propose_card", {**card, "guards": [guard]}) for guard in WRONG_GUARDS]
    answers = _ask(tmp_path, *calls)
    for tried, proposed, complaint in zip(answers[:5], answers[5:], WRONG_GUARDS.values(), strict=True):
        assert tried.startswith("Not done: ")
        assert complaint in tried
        assert proposed.startswith("refused")
        assert complaint in proposed


def test_a_card_with_the_name_of_somebody_is_refused_and_says_which(tmp_path: Path) -> None:
    card = {"title": "Ask Marta Quill", "when": "A large note.", "rule": "Ask Marta Quill.", "guards": [NOTE_RULE]}
    refused, cards = _ask(tmp_path, ("propose_card", card), ("show_cards", {}))
    assert refused.startswith("refused")
    assert "Marta Quill" in refused
    assert "no Skill Cards" in cards


def test_an_agent_that_proposes_while_somebody_else_writes_is_told_who(tmp_path: Path) -> None:
    card = {"title": "Assign large notes", "when": "A large note.", "rule": "Assign it.", "guards": [NOTE_RULE]}
    with open_store(str(tmp_path / "bank.db"), create=True) as store, store.writing("bank review"):
        (told,) = _ask(tmp_path, ("propose_card", card))
    (accepted,) = _ask(tmp_path, ("propose_card", card))
    assert told.startswith("Not done: ")
    assert "bank review" in told
    assert accepted.startswith("accepted")


def test_an_agent_sees_runs_side_by_side_and_the_values_behind_a_guard(tmp_path: Path) -> None:
    runs, differences, refused = _ask(
        tmp_path,
        ("show_runs", {"task": "note-8"}),
        ("explain_runs", {"function": "Office.create_note", "everything": True}),
        ("try_guard", {"guard": NOTE_RULE, "confirm": True, "everything": True}),
    )
    assert "## 2 passed, 0 failed (careful, eager)" in runs
    assert "- Office.assign_owner(note=N-8, owner=finance-lead)" in runs
    assert "## 0 passed, 1 failed (hasty)" in runs
    values = "passed 80; 90; 120; 260; 300; 410; 450; 480; 520; 590; 610; 640; 700; 880; 950; 1200"
    assert f"Office.create_note[amount]: {values}" in differences
    assert refused.startswith("Not done: what was tried on all tasks cannot be confirmed")


@pytest.mark.parametrize(
    ("client", "skill", "server"),
    [
        ("claude-code", ".claude/skills/learn-from-runs/SKILL.md", ".mcp.json"),
        ("codex", ".agents/skills/learn-from-runs/SKILL.md", ".codex/config.toml"),
        ("cursor", ".cursor/skills/learn-from-runs/SKILL.md", ".cursor/mcp.json"),
    ],
)
def test_the_skill_and_the_server_are_installed_beside_what_is_there(
    tmp_path: Path, client: str, skill: str, server: str
) -> None:
    runs, settings = write_office(tmp_path), tmp_path / server
    settings.parent.mkdir(exist_ok=True)
    is_toml = settings.suffix == ".toml"
    settings.write_text('model = "x"\n' if is_toml else '{"mcpServers": {"other": {"command": "x"}}}')
    arguments = ["author", "install", client, "--runs", runs, "--bank", "bank.db", "--project", str(tmp_path)]
    for _ in range(2):
        assert CliRunner().invoke(cli, arguments).exit_code == 0
    assert (tmp_path / skill).read_text().startswith("---\nname: learn-from-runs\n")
    written = settings.read_text()
    servers = tomllib.loads(written)["mcp_servers"] if is_toml else json.loads(written)["mcpServers"]
    assert "--author" in servers["contramem-author"]["args"]
    assert is_toml or "other" in servers


def test_the_skill_is_a_valid_agent_skill(tmp_path: Path) -> None:
    skills_ref = pytest.importorskip("skills_ref", reason="checks Agent Skills")
    from contramem.study.instruments import read_skill

    folder = tmp_path / "learn-from-runs"
    folder.mkdir()
    (folder / "SKILL.md").write_text(read_skill())
    assert skills_ref.validate(folder) == []


def test_every_guard_and_query_that_the_skill_shows_can_be_used() -> None:
    from contramem.study.instruments import read_skill

    recipes = read_skill().partition("| rule | guard |")[2].partition("\n\n")[0]
    guards = [parse_guard(text.replace("\\|", "|")) for text in re.findall(r"`([^`]+)`", recipes)]
    assert len(guards) > 12
    (sql,) = re.findall(r"SELECT r\.task.*?ORDER BY r\.task, r\.passed", read_skill(), re.DOTALL)
    with open_tables(RunSet.of(note_office())) as tables:
        rows = tables.query(sql.replace("'K'", "'create_note-credit-invoice'")).rows
    assert len(rows) == 8 * 3


def test_a_trial_says_what_it_means_and_what_to_do_next(tmp_path: Path) -> None:
    always = "response(Office.create_note, Office.assign_owner)"
    contradicted, supported, proven, never = _ask(
        tmp_path,
        ("try_guard", {"guard": always}),
        ("try_guard", {"guard": NOTE_RULE}),
        ("try_guard", {"guard": NOTE_RULE, "confirm": True}),
        ("try_guard", {"guard": "existence(Office.look) when Office.create_note and Office.look"}),
    )
    assert "contradicted. Passing runs break it" in contradicted
    assert "Confirm it" in supported
    assert "proven. Proven on the tasks kept back. Propose it." in proven
    assert "No run does what it speaks about" in never
